"""Requirements of the Spark engine: pyspark and Java."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from predict_graph.errors import JobError, check_installed

_OLDEST_JAVA = 17  # required by Spark 4, by definition


def require_spark() -> None:
    """Check that pyspark can be imported and that Java is installed."""
    check_installed("pyspark", "the spark engine", extra="spark")
    java = _java()
    version = _version(java)
    if version is not None and version < _OLDEST_JAVA:
        raise JobError(f"the spark engine needs Java 17 or 21, but {java} is Java {version}")


def _java() -> Path:
    """Return the Java that Spark will start."""
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home) / "bin" / "java"
        if not java.is_file():
            raise JobError(f"JAVA_HOME is {home}, but there is no bin/java in it")
        return java
    found = shutil.which("java")
    if found is None:
        raise JobError(
            "the spark engine needs Java 17 or 21, but there is no java on the PATH and "
            "JAVA_HOME is not set"
        )
    return Path(found)


def _version(java: Path) -> int | None:
    """Return the version of a Java installation; None if unknown."""
    try:
        release = (java.resolve().parent.parent / "release").read_text()
    except OSError:
        return None
    named = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release, re.MULTILINE)
    return int(named.group(1)) if named else None
