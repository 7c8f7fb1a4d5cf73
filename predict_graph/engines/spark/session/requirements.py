"""What the Spark engine needs from the machine: pyspark, Java and, for some jobs, GraphFrames."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from pathlib import Path

from predict_graph.errors import JobError, RequestError

__all__ = ["GRAPHFRAMES", "check_graphframes_jar", "graphframes_jars", "require_spark"]

GRAPHFRAMES = "io.graphframes:graphframes-spark4_2.13:0.12.1"
"""Coordinates of the JVM half of GraphFrames, which graphframes-py does not bring along."""

_CACHES = ("~/.ivy2.5.2/jars", "~/.ivy2/jars", "~/.m2/repository/io/graphframes")
_OLDEST_JAVA = 17


def require_spark() -> None:
    """Check that pyspark can be imported and that there is a Java to run it.

    Raises
    ------
    JobError
        Says what is missing and how to get it.
    """
    if importlib.util.find_spec("pyspark") is None:
        raise JobError(
            "the spark engine needs pyspark, which is not installed; install it with "
            "pip install 'predict-graph[spark]'"
        )
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
    """Return the version that the installation of a Java names; None if it names none."""
    try:
        release = (java.resolve().parent.parent / "release").read_text()
    except OSError:
        return None
    named = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release, re.MULTILINE)
    return int(named.group(1)) if named else None


def check_graphframes_jar(jar: str | Path) -> Path:
    """Return the path of a jar that was named.

    Raises
    ------
    RequestError
        If there is no such file.
    """
    path = Path(jar).expanduser()
    if not path.is_file() or path.suffix != ".jar":
        raise RequestError(f"no GraphFrames jar at {jar}; accepted: a .jar file")
    return path.resolve()


def graphframes_jars() -> list[Path]:
    """Return the GraphFrames jars in the caches of Ivy and Maven; none if there are none."""
    found: dict[str, Path] = {}
    for cache in _CACHES:
        folder = Path(cache).expanduser()
        if folder.is_dir():
            for jar in sorted(folder.rglob("*graphframes*.jar")):
                found.setdefault(jar.name.removeprefix("io.graphframes_"), jar)
    return list(found.values())
