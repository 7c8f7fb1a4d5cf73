"""A Spark session of our own: opened, told apart from others, and closed again."""

from __future__ import annotations

import signal
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predict_graph.engines.spark.log.eventlog import wait_for_listeners
from predict_graph.engines.spark.log.events import LogReader
from predict_graph.engines.spark.log.growing import GrowingLog
from predict_graph.engines.spark.session.driver import driver_process
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.master import check_master
from predict_graph.engines.spark.session.requirements import require_spark
from predict_graph.engines.spark.session.settings import SparkSettings
from predict_graph.engines.spark.tables.checkpoints import Checkpoints
from predict_graph.errors import JobError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["OpenSession", "executors_of", "open_session", "temporary_folder"]


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
    callers : SparkSession, optional
        The session of the person who has it open, if it is not ours: their functions run there.
    stored_before : int
        Bytes of tables that an executor kept before.
    checkpoints : Checkpoints, optional
        Where states are kept now and then.
    """

    spark: SparkSession
    settings: SparkSettings
    conf: Mapping[str, str]
    folder: Path
    event_logs: Path
    seconds: float
    callers: SparkSession | None = None
    stored_before: int = 0
    checkpoints: Checkpoints | None = None

    @property
    def for_functions(self) -> SparkSession:
        """The session in which a person's own functions run."""
        return self.spark if self.callers is None else self.callers

    @property
    def event_log(self) -> Path:
        """The file that Spark writes its events to."""
        application = str(self.spark.sparkContext.applicationId)
        logs = [log for log in self.event_logs.iterdir() if log.name.startswith(application)]
        if not logs:
            raise JobError(f"Spark wrote no event log for {application} in {self.event_logs}")
        return logs[0]

    def storage_bytes(self) -> int:
        """Return the memory in which an executor keeps tables, the mean of all executors.

        What a person's session held before we came is not in it.
        """
        context: Any = self.spark.sparkContext._jsc.sc()
        status = context.getExecutorMemoryStatus().values().toSeq()
        used = [status.apply(n)._1() - status.apply(n)._2() for n in range(status.size())]
        return max(int(sum(used) / self.settings.machines) - self.stored_before, 0)

    def log_from_now(self) -> GrowingLog:
        """Return the log of what Spark does from now on, beside the executors that are there.

        A session logs all that it ever runs: reading all of it takes longer with each run.
        """
        context: Any = self.spark.sparkContext._jsc
        with spark_failures("reading Spark's event log"):
            wait_for_listeners(context.sc())
            there = {each["executor"]: each for each in executors_of(self.spark)}
            kept = set(context.getPersistentRDDs().keys())
        log = self.event_log
        return GrowingLog(log, log.stat().st_size, LogReader(kept=kept, executors=there))

    def group(self, name: str) -> None:
        """Put the jobs that follow under a name, by which the event log tells them apart."""
        self.spark.sparkContext.setLocalProperty("spark.jobGroup.id", name)
        self.spark.sparkContext.setLocalProperty("spark.job.description", name)


def executors_of(spark: Any) -> list[dict[str, Any]]:
    """Return the executors that are there; in one process, the driver is the only one.

    Parameters
    ----------
    spark : SparkSession

    Returns
    -------
    list of mapping
        ``executor, host, cores, added, removed``, as an event log has them.
    """
    context = spark.sparkContext
    listed = context._jsc.sc().statusStore().executorList(True)
    every = [listed.apply(number) for number in range(listed.size())]
    local = SparkSettings(master=str(context.master)).local
    return [
        {
            "executor": str(each.id()),
            "host": str(each.hostPort()).rpartition(":")[0],
            "cores": int(each.totalCores()),
            "added": each.addTime().getTime() / 1e3,
            "removed": float("nan"),
        }
        for each in every
        if local or each.id() != "driver"
    ]


@contextmanager
def open_session(settings: SparkSettings, *, name: str = "predict-graph") -> Iterator[OpenSession]:
    """Open a session, wait for its executors, and close it in the end, whatever happens.

    Raises
    ------
    JobError
        If Spark or Java is missing, another session is open in this process, the master does not
        answer, the executors do not come, or there is no place for temporary files.
    """
    require_spark()
    _check_alone()
    check_master(settings.master, encrypted=settings.encrypted)
    with temporary_folder(None) as own, temporary_folder(settings.folder) as shared:
        event_logs = own / "events"
        event_logs.mkdir()
        started = time.perf_counter()
        conf = settings.session_conf(event_logs)
        with driver_process(conf, own):
            with spark_failures("starting Spark"):
                spark = _session(settings, conf, name)
                _wait_for_executors(spark, settings, _patience(spark, conf))
            with _checkpoints(spark, settings) as checkpoints:
                seconds = time.perf_counter() - started
                yield OpenSession(
                    spark, settings, conf, shared, event_logs, seconds, checkpoints=checkpoints
                )


@contextmanager
def _checkpoints(spark: SparkSession, settings: SparkSettings) -> Iterator[Checkpoints | None]:
    """Give the place where states are kept, and take it away in the end."""
    if settings.checkpoint is None or settings.checkpoint_interval is None:
        yield None
        return
    with spark_failures(f"making a folder for checkpoints in {settings.checkpoint}"):
        kept = Checkpoints(spark, settings.checkpoint, settings.checkpoint_interval)
    try:
        yield kept
    finally:
        kept.close()


def _check_alone() -> None:
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        raise JobError(
            "a Spark session is already open in this process; stop it first, or use it: spark=spark"
        )


@contextmanager
def temporary_folder(parent: Path | None) -> Iterator[Path]:
    """Give a folder that is gone in the end; a shared one can be read by the executors' user."""
    try:
        folder = tempfile.TemporaryDirectory(
            prefix="predict-graph-", dir=parent, ignore_cleanup_errors=True
        )
    except OSError as error:
        place = parent or tempfile.gettempdir()
        raise JobError(f"cannot put temporary files in {place}: {error.strerror}") from error
    with folder as name:
        if parent is not None:
            Path(name).chmod(0o755)
        yield Path(name)


def _session(settings: SparkSettings, conf: Mapping[str, str], name: str) -> SparkSession:
    import pyspark
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.Builder().master(settings.session_master).appName(name)
    for key, value in conf.items():
        builder = builder.config(key, value)
    with _interrupts_as_before():
        spark: SparkSession = builder.getOrCreate()
    if spark.version.split(".")[:2] != pyspark.__version__.split(".")[:2]:
        raise JobError(
            f"pyspark is {pyspark.__version__}, but the Spark that SPARK_HOME names is "
            f"{spark.version}; unset SPARK_HOME, or install the pyspark of that version"
        )
    return spark


@contextmanager
def _interrupts_as_before() -> Iterator[None]:
    """Put back what Ctrl-C does, which a new SparkContext replaces for good.

    Its own way is to cancel all jobs first, which fails with an error of another kind when Ctrl-C
    has reached the driver, too; ours is to end the driver.
    """
    here = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if here else None
    try:
        yield
    except Exception as error:
        frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
        if any(frame.f_code.co_name == "signal_handler" for frame in frames):
            raise KeyboardInterrupt from error
        raise
    finally:
        if here:
            signal.signal(signal.SIGINT, before)


def _patience(spark: SparkSession, conf: Mapping[str, str]) -> float:
    """Return the seconds that executors may take to come."""
    context: Any = spark.sparkContext._jsc.sc()
    limit = "spark.scheduler.maxRegisteredResourcesWaitingTime"
    return float(context.conf().getTimeAsMs(limit, conf[limit])) / 1e3


def _wait_for_executors(spark: SparkSession, settings: SparkSettings, patience: float) -> None:
    """Wait until all executors have registered.

    Raises
    ------
    JobError
        If they do not come: a cluster with too few workers, or too little memory.
    """
    if settings.local:
        return
    context: Any = spark.sparkContext._jsc.sc()
    deadline = time.monotonic() + patience
    there = -1
    while time.monotonic() < deadline and not context.isStopped():
        there = context.getExecutorMemoryStatus().size() - 1  # the driver is in the list
        if there >= settings.machines:
            return
        time.sleep(0.05)
    raise JobError(
        f"{settings.master} gave {max(there, 0)} of the {settings.machines} machines asked for, "
        f"each with {settings.cores} cores and {settings.memory} of memory, within "
        f"{patience:g} s; has it as many workers with so much to spare?"
    )
