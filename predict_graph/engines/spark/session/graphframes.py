"""Locating the JVM half of GraphFrames: a jar, Maven coordinates, or a matching local jar.

graphframes-py is pure Python. The code that runs on Spark is a jar for one line of Spark and one of
Scala: ``graphframes-spark4_2.13-0.12.1.jar`` as Maven names it, and
``graphframes-0.8.2-spark3.1-s_2.12.jar`` before version 0.9.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from predict_graph.errors import JobError, RequestError

_CACHES = (
    "~/.ivy2.5.2/jars",
    "~/.ivy2/jars",
    "~/.m2/repository/io/graphframes",
    "~/.m2/repository/graphframes",
)
_ACCEPTED = "a .jar file, or GROUP:ARTIFACT:VERSION of a Maven repository"
_COORDINATES = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+")
_MAVEN_NAME = re.compile(r"(graphframes(?:-graphx)?)-spark(\d+)_([\d.]+)-([\d.]+)\.jar$")
_EARLIER_NAME = re.compile(r"(graphframes)-([\d.]+)-spark(\d+)[\d.]*-s_([\d.]+)\.jar$")


def check_graphframes(named: str | Path) -> str | Path:
    """Validate the path of a jar or Maven coordinates, and return it.

    Examples
    --------
    >>> check_graphframes("io.graphframes:graphframes-spark4_2.13:0.12.1")
    'io.graphframes:graphframes-spark4_2.13:0.12.1'
    """
    path = Path(os.path.expanduser(named))
    if path.is_file() and path.suffix == ".jar":
        return path.resolve()
    if _COORDINATES.fullmatch(str(named)):
        return str(named)
    raise RequestError(f"no GraphFrames jar at {named}; accepted: {_ACCEPTED}")


def graphframes_conf(named: str | Path | None) -> dict[str, str]:
    """Return the Spark settings that load GraphFrames into a session."""
    if named is not None:
        found = check_graphframes(named)
        return {"spark.jars" if isinstance(found, Path) else "spark.jars.packages": str(found)}
    jars = graphframes_jars()
    return {"spark.jars": ",".join(map(str, jars))} if jars else {}


def graphframes_jars() -> list[Path]:
    """Return the newest local GraphFrames jars that fit the installed pyspark.

    Searches the caches of Ivy and Maven, and the folder ``jars`` next to the Python packages, where
    some packages install them.
    """
    lines = _spark_lines()
    newest: dict[str, tuple[tuple[int, ...], Path]] = {}
    for folder in [*_CACHES, str(Path(sysconfig.get_path("purelib")) / "jars")]:
        for jar in sorted(Path(os.path.expanduser(folder)).rglob("*graphframes*.jar")):
            artifact, version, made_for = _read_name(jar.name)
            if made_for == lines and version > newest.get(artifact, ((), jar))[0]:
                newest[artifact] = version, jar
    return [jar for _, jar in newest.values()]


def check_brought(named: str | Path | None, conf: Mapping[str, str]) -> None:
    """Check that the settings load GraphFrames, before a session is opened."""
    if graphframes_conf(named) or any(name.startswith("spark.jars") for name in conf):
        return
    import pyspark

    raise JobError(
        f"no jar of GraphFrames that fits pyspark {pyspark.__version__} is on this machine; name "
        f"one with --graphframes-jar (graphframes_jar=): {_ACCEPTED}"
    )


def check_there(java: Any) -> None:
    """Check that GraphFrames is in a session; `java` is the view of its classes."""
    from py4j.java_gateway import JavaClass

    if not isinstance(java.org.graphframes.GraphFrame, JavaClass):
        raise JobError(
            "the JVM half of GraphFrames is not in this session; open it with the jar (spark.jars, "
            "or spark.jars.packages)"
        )


def python_half(conf: Mapping[str, str]) -> Path | None:
    """Return a jar of a session that contains its own Python half, or None.

    Jars before version 0.9 do, and graphframes-py does not fit them.
    """
    for jar in filter(None, conf.get("spark.jars", "").split(",")):
        try:
            with ZipFile(jar) as archive:
                if "graphframes/__init__.py" in archive.namelist():
                    return Path(jar)
        except (OSError, BadZipFile):
            continue
    return None


def scala_line() -> str:
    """Return the Scala version line of the installed pyspark; that of Spark 4 if there is none."""
    lines = _spark_lines()
    return "2.13" if lines is None else lines[1]


def _read_name(name: str) -> tuple[str, tuple[int, ...], tuple[str, str]]:
    """Return artifact, version, and the lines of Spark and Scala in the name of a jar."""
    if found := _MAVEN_NAME.search(name):
        artifact, spark, scala, version = found.groups()
    elif found := _EARLIER_NAME.search(name):
        artifact, version, spark, scala = found.groups()
    else:
        return name, (), ("", "")
    return artifact, tuple(map(int, version.split("."))), (spark, scala)


def _spark_lines() -> tuple[str, str] | None:
    """Return the lines of Spark and Scala of the installed pyspark; None if there is none."""
    found = importlib.util.find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        return None
    for jar in (Path(found.submodule_search_locations[0]) / "jars").glob("spark-core_*.jar"):
        scala, version = jar.stem.removeprefix("spark-core_").split("-", 1)
        return version.split(".")[0], scala
    return None
