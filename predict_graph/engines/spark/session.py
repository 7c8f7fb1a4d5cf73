"""A Spark session of our own: opened, told apart from others, and closed again."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predict_graph.engines.spark.failures import spark_failures
from predict_graph.engines.spark.requirements import require_spark
from predict_graph.engines.spark.settings import SparkSettings
from predict_graph.errors import JobError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["OpenSession", "open_session"]

_PATIENCE = 90.0  # seconds that executors may take to come
_CONNECT = 5.0  # seconds that a master may take to answer


@dataclass(frozen=True)
class OpenSession:
    """A session and where it keeps things.

    Parameters
    ----------
    spark : SparkSession
    settings : SparkSettings
    conf : mapping of str to str
        All settings that it was opened with.
    folder : Path
        For graphs and results in passing; gone when the session is.
    event_logs : Path
        Folder of the event log.
    seconds : float
        What opening took.
    """

    spark: SparkSession
    settings: SparkSettings
    conf: Mapping[str, str]
    folder: Path
    event_logs: Path
    seconds: float

    @property
    def event_log(self) -> Path:
        """The file that Spark writes its events to."""
        application = str(self.spark.sparkContext.applicationId)
        logs = [log for log in self.event_logs.iterdir() if log.name.startswith(application)]
        if not logs:
            raise JobError(f"Spark wrote no event log for {application} in {self.event_logs}")
        return logs[0]

    def group(self, name: str) -> None:
        """Put the jobs that follow under a name, by which the event log tells them apart."""
        self.spark.sparkContext.setLocalProperty("spark.jobGroup.id", name)
        self.spark.sparkContext.setLocalProperty("spark.job.description", name)


@contextmanager
def open_session(settings: SparkSettings, *, name: str = "predict-graph") -> Iterator[OpenSession]:
    """Open a session, wait for its executors, and close it in the end, whatever happens.

    Raises
    ------
    JobError
        If Spark or Java is missing, another session is open in this process, the master does not
        answer, or the executors do not come.
    """
    require_spark()
    _check_master(settings)
    with tempfile.TemporaryDirectory(prefix="predict-graph-", dir=settings.folder) as kept:
        folder = Path(kept)
        event_logs = folder / "events"
        event_logs.mkdir()
        started = time.perf_counter()
        conf = settings.session_conf(event_logs)
        spark = _started(settings, conf, name)
        try:
            with spark_failures("starting Spark"):
                _wait_for_executors(spark, settings)
            yield OpenSession(
                spark, settings, conf, folder, event_logs, time.perf_counter() - started
            )
        finally:
            _stopped(spark)
            shutil.rmtree(event_logs, ignore_errors=True)


def _started(settings: SparkSettings, conf: Mapping[str, str], name: str) -> SparkSession:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:
        raise JobError("a Spark session is already open in this process; stop it first")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if "spark.driver.host" in conf:
        os.environ.setdefault("SPARK_LOCAL_IP", conf["spark.driver.host"])
    builder: Any = SparkSession.builder.master(settings.session_master).appName(name)
    for key, value in conf.items():
        builder = builder.config(key, value)
    with spark_failures("starting Spark"):
        try:
            spark: SparkSession = builder.getOrCreate()
        except RuntimeError as error:  # the gateway's JVM did not start
            raise JobError(f"starting Spark failed: {error}") from error
        spark.sparkContext.setLogLevel(conf.get("spark.log.level", "ERROR"))
        return spark


def _stopped(spark: SparkSession) -> None:
    """Stop a session even if its JVM is gone."""
    from pyspark import SparkContext

    try:
        spark.stop()
    except Exception:
        SparkContext._active_spark_context = None


def _check_master(settings: SparkSettings) -> None:
    """Knock at a standalone master: Spark itself would try for a minute and say little."""
    if not settings.master.startswith("spark://"):
        return
    for place in settings.master.removeprefix("spark://").split(","):
        host, _, port = place.partition(":")
        try:
            with socket.create_connection((host, int(port or 7077)), timeout=_CONNECT):
                return
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
    raise JobError(f"no Spark master answers at {settings.master}: {reason}")


def _wait_for_executors(spark: SparkSession, settings: SparkSettings) -> None:
    """Wait until all executors have registered.

    Raises
    ------
    JobError
        If they do not come: a cluster with too few workers, or too little memory.
    """
    if settings.local:
        return
    context: Any = spark.sparkContext._jsc.sc()
    deadline = time.monotonic() + _PATIENCE
    there = 0
    while time.monotonic() < deadline:
        there = context.getExecutorMemoryStatus().size() - 1  # the driver is in the list
        if there >= settings.machines:
            return
        time.sleep(0.1)
    raise JobError(
        f"{settings.master} gave {there} executors of {settings.cores} cores and "
        f"{settings.memory} within {_PATIENCE:.0f} s, but {settings.machines} were asked for"
    )
