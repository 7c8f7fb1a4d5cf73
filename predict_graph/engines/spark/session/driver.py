"""The Java process of Spark's driver: what it needs, its start and its end with the session."""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from predict_graph.errors import JobError, check_installed


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
        if named and int(named[1]) < 17:
            raise JobError(f"the spark engine needs Java 17 or 21, but {java} is Java {named[1]}")


@contextmanager
def driver_process(
    conf: Mapping[str, str], folder: Path, *, seconds_to_end: float = 15.0
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a driver with all settings from the start, and end it; in the end, kill it.

    A driver left over from an earlier session would keep its memory, options and compiled code, so
    that measurements would depend on earlier runs.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    log = folder / "driver.log"
    wanted = SparkConf(loadDefaults=False)
    for key, value in conf.items():
        wanted.set(key, value)
    others = SparkContext._gateway, SparkContext._jvm
    with log.open("wb") as said, _environment(conf, folder), _quiet_gateway():
        kept: dict[str, Any] = (
            {} if "spark.log.level" in conf else {"stdout": said, "stderr": subprocess.STDOUT}
        )
        try:
            gateway = launch_gateway(wanted, kept)
        except (OSError, RuntimeError) as error:
            raise JobError(f"starting Spark failed: {_log_reason(log, error)}") from error
        process: subprocess.Popen[bytes] = gateway.proc
        SparkContext._gateway, SparkContext._jvm = gateway, gateway.jvm
        try:
            yield process
        finally:
            impatient = threading.Timer(seconds_to_end, process.kill)
            impatient.start()
            _forget_session()
            with suppress(Exception):
                gateway.shutdown()
            with suppress(OSError):
                gateway.proc.stdin.close()  # it exits then
            process.wait()
            impatient.cancel()
            SparkContext._gateway, SparkContext._jvm = others


def _forget_session() -> None:
    """Stop the session in this process, even if its driver is gone."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # stopping fails with a warning if the driver is gone
        if context is not None:
            # a connection that the driver closes first would print a traceback
            context._accumulatorServer.handle_error = lambda *_: None
            context.stop()
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


@contextmanager
def _environment(conf: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Set the environment variables for which pyspark has no settings, during the session."""
    ours = {
        "PYSPARK_PYTHON": conf.get("spark.pyspark.python", sys.executable),
        "SPARK_LOCAL_DIRS": str(folder),
        "SPARK_LOCAL_IP": conf.get("spark.driver.host", ""),
    }
    added = {name: value for name, value in ours.items() if value and name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextmanager
def _quiet_gateway() -> Iterator[None]:
    """Keep py4j from logging stack traces of errors that it also raises (Ctrl-C, lost driver)."""

    def of_another(record: logging.LogRecord) -> bool:
        return Path(record.pathname).parent.name != "py4j"

    loggers = [logging.getLogger(name) for name in (None, "py4j.java_gateway", "py4j.clientserver")]
    for logger in loggers:
        logger.addFilter(of_another)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(of_another)


def _log_reason(log: Path, error: BaseException) -> str:
    """Return the line of a log that explains why a driver did not start."""
    with suppress(OSError):
        lines = [line.strip() for line in log.read_text(errors="replace").splitlines()]
        telling = [line for line in lines if re.search(r"error|exception|invalid", line, re.I)]
        if telling or lines:
            return (telling or lines)[0][:300]
    return str(error)
