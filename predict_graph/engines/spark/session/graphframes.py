"""Locating the JVM half of GraphFrames: a jar, Maven coordinates, or a matching local jar.

graphframes-py is pure Python. The code that runs on Spark is a jar for one line of Spark and one of
Scala: ``graphframes-spark4_2.13-0.12.1.jar`` as Maven names it, and
``graphframes-0.8.2-spark3.1-s_2.12.jar`` before version 0.9.
"""

from __future__ import annotations

import os
import re
import sysconfig
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
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
_JAR = re.compile(
    r"(?P<artifact>graphframes(?:-graphx)?)(?:-(?P<early>[\d.]+))?-spark(?P<spark>\d+)"
    r"(?:[\d.]*-s)?_(?P<scala>[\d.]+?)(?:-(?P<version>[\d.]+))?\.jar$"
)


def graphframes_conf(named: str | Path | None) -> dict[str, str]:
    """Return the Spark settings that load GraphFrames: a jar, Maven coordinates, or local jars.

    Examples
    --------
    >>> graphframes_conf("io.graphframes:graphframes-spark4_2.13:0.12.1")
    {'spark.jars.packages': 'io.graphframes:graphframes-spark4_2.13:0.12.1'}
    """
    if named is None:
        jars = ",".join(map(str, graphframes_jars()))
        return {"spark.jars": jars} if jars else {}
    path = Path(os.path.expanduser(named))
    if os.path.isfile(path) and path.suffix == ".jar":
        return {"spark.jars": str(path.resolve())}
    if _COORDINATES.fullmatch(str(named)):
        return {"spark.jars.packages": str(named)}
    raise RequestError(f"no GraphFrames jar at {named}; accepted: {_ACCEPTED}")


def graphframes_jars() -> list[Path]:
    """Return the newest local GraphFrames jars that fit the installed pyspark.

    Searches the caches of Ivy and Maven, and the folder ``jars`` next to the Python packages, where
    some packages install them.
    """
    jars: dict[str, list[tuple[list[int], Path]]] = {}
    for folder in [*_CACHES, str(Path(sysconfig.get_path("purelib")) / "jars")]:
        for jar in sorted(Path(os.path.expanduser(folder)).rglob("*graphframes*.jar")):
            name = _JAR.search(jar.name)
            if name and (name["spark"], name["scala"]) == _spark_lines():
                number = (name["early"] or name["version"] or "0").split(".")
                jars.setdefault(name["artifact"], []).append(([*map(int, number)], jar))
    return [max(found, key=lambda each: each[0])[1] for found in jars.values()]


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
            "the JVM half of GraphFrames is not in this session; name its jar (--graphframes-jar), "
            "or open your session with it (spark.jars, or spark.jars.packages)"
        )


def python_half(jars: str) -> Path | None:
    """Return the jar among those of a session that contains its own Python half, or None.

    Jars before version 0.9 do, and graphframes-py does not fit them.
    """
    for jar in filter(None, jars.split(",")):
        with suppress(OSError, BadZipFile), ZipFile(jar) as archive:
            if "graphframes/__init__.py" in archive.namelist():
                return Path(jar)
    return None


def _spark_lines() -> tuple[str, str]:
    """Return the lines of Spark and Scala of the installed pyspark."""
    spark = "4"
    with suppress(PackageNotFoundError):
        spark = version("pyspark").partition(".")[0]
    return spark, "2.12" if spark == "3" else "2.13"  # as published on PyPI
