"""Requirements of the Spark engine: pyspark and Java."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

from predict_graph.errors import JobError, check_installed

_OLDEST_JAVA = 17  # required by Spark 4, by definition


def require_spark() -> None:
    """Check that pyspark can be imported and that Java is installed."""
    check_installed("pyspark", "the spark engine", extra="spark")
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if java is None and home:
        raise JobError(f"JAVA_HOME is {home}, but there is no bin/java in it")
    if java is None:
        raise JobError(
            "the spark engine needs Java 17 or 21, but there is no java on the PATH and "
            "JAVA_HOME is not set"
        )
    with suppress(OSError):  # without the file, the version is unknown
        release = (Path(java).resolve().parents[1] / "release").read_text()
        named = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release, re.MULTILINE)
        if named and int(named[1]) < _OLDEST_JAVA:
            raise JobError(f"the spark engine needs Java 17 or 21, but {java} is Java {named[1]}")
