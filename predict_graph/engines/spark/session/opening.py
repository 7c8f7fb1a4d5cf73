"""Opening and closing Spark sessions, and the Java process of their drivers."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import uuid
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predict_graph.addresses import host_and_port
from predict_graph.engines.spark.log.eventlog import LogReader, executor_row
from predict_graph.engines.spark.log.growing import GrowingLog
from predict_graph.engines.spark.session.failures import reason, spark_failures
from predict_graph.engines.spark.session.settings import SparkSettings, is_local
from predict_graph.engines.spark.tables.checkpoints import Checkpoints, delete_address, hadoop_path
from predict_graph.errors import JobError, RequestError, check_installed, explained_by_system

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class OpenSession:
    """A session and its folders."""

    spark: SparkSession
    settings: SparkSettings
    folder: Path
    event_logs: Path
    seconds: float
    for_functions: SparkSession
    """The session in which user functions run: the user's own, if it was open."""
    site: str | None = None
    """In a user's session, the call site that marks what our job groups keep in memory."""
    checkpoints: Checkpoints | None = None
    # A folder for the executors, where they need not see that of this process.
    address: str | None = None
    stored_before: int = 0

    @property
    def event_log(self) -> Path:
        """The file to which Spark writes its events."""
        application = self.spark.sparkContext.applicationId
        if found := next(self.event_logs.glob(f"{application}*"), None):
            return found
        raise JobError(f"Spark wrote no event log for {application} in {self.event_logs}")

    def storage_bytes(self) -> int:
        """Return the memory in which an executor caches tables, averaged over executors.

        Data that it cached before :meth:`from_now` is excluded.
        """
        context: Any = self.spark.sparkContext._jsc.sc()
        status = context.getExecutorMemoryStatus().values().toSeq()
        used = [status.apply(n)._1() - status.apply(n)._2() for n in range(status.size())]
        return max(int(sum(used) / self.settings.machines) - self.stored_before, 0)

    def from_now(self) -> OpenSession:
        """Return the session without what its executors cache now."""
        return replace(self, stored_before=self.stored_before + self.storage_bytes())

    def flush(self) -> None:
        """Wait until Spark has written all events to its log."""
        context: Any = self.spark.sparkContext._jsc
        with spark_failures("reading Spark's event log"):
            context.sc().listenerBus().waitUntilEmpty(10_000)  # milliseconds

    def log_from_now(self) -> GrowingLog:
        """Return the log of Spark's events from now on, with the current executors.

        The log of a session grows with each run, so reading all of it would take longer each time.
        """
        self.flush()
        with spark_failures("reading Spark's event log"):
            there = {each["executor"]: each for each in executors_of(self.spark)}
        log = self.event_log
        return GrowingLog(log, log.stat().st_size, LogReader(executors=there, empty=False))

    def new_path(self) -> Path:
        """Return a new path in the folder of this process."""
        return self.folder / uuid.uuid4().hex[:8]

    def new_address(self) -> str:
        """Return a new address to which all executors write."""
        return f"{self.address or f'file://{self.folder.resolve()}'}/{self.new_path().name}"

    @contextmanager
    def sent(self, path: Path) -> Iterator[str]:
        """Provide the address at which all executors read what this process has written.

        At the end it is deleted.
        """
        from predict_graph.engines.spark.tables.reading import literal_path

        here = f"file://{path.resolve()}"
        there = here if self.address is None else f"{self.address}/{path.name}"
        (source, _), (target, files) = (hadoop_path(self.spark, each) for each in (here, there))
        if self.address is not None:
            files.copyFromLocalFile(True, source, target)
        try:
            yield literal_path(there)
        finally:
            delete_address(self.spark, there)

    def fetch(self, address: str, path: Path) -> None:
        """Move to a path what executors have written."""
        source, files = hadoop_path(self.spark, address)
        target, _ = hadoop_path(self.spark, f"file://{path.resolve()}")
        files.copyToLocalFile(True, source, target, True)

    @contextmanager
    def written(self, **columns: Any) -> Iterator[str]:
        """Provide the address of a Parquet file of arrays for the executors."""
        import pyarrow as pa
        import pyarrow.parquet

        file = self.new_path()
        pa.parquet.write_table(pa.table(columns), file)
        with self.sent(file) as address:
            yield address

    def group(self, name: str | None) -> None:
        """Set the job group of the following jobs, by which the event log separates them."""
        context = self.spark.sparkContext
        context.setLocalProperty("spark.jobGroup.id", name)
        context.setLocalProperty("spark.job.description", name)
        if self.site is not None:  # until pyspark collects rows
            context.setLocalProperty("callSite.short", self.site if name else None)


def executors_of(spark: Any) -> list[dict[str, Any]]:
    """Return the current executors; in local mode, the driver is the only one."""
    context = spark.sparkContext
    listed = context._jsc.sc().statusStore().executorList(True)
    local, found = is_local(str(context.master)), []
    for each in map(listed.apply, range(listed.size())):
        if local or each.id() != "driver":
            host, added = str(each.hostPort()).rpartition(":")[0], each.addTime().getTime() / 1e3
            found.append(executor_row(str(each.id()), host, int(each.totalCores()), added))
    return found


@contextmanager
def open_session(settings: SparkSettings, *, java_works: bool = False) -> Iterator[OpenSession]:
    """Open a session, wait for its executors, and always close it at the end.

    `java_works` is whether Java does the work of its jobs, as it does that of GraphX.
    """
    require_spark()
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        raise JobError(
            "a Spark session is already open in this process; stop it first, or use it: spark=spark"
        )
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        raise JobError("begun by spark-submit; accepted: spark=SparkSession.builder.getOrCreate()")
    _check_master(settings.master)
    with ExitStack() as held:
        own = held.enter_context(temporary_folder(None))
        shared = held.enter_context(temporary_folder(None if settings.address else settings.folder))
        event_logs = own / "events"
        event_logs.mkdir()
        started = time.perf_counter()
        conf = settings.session_conf(event_logs, java_works=java_works)
        held.enter_context(_driver_process(conf, own))
        with spark_failures("starting Spark"):
            spark = _session(settings, conf)
            _wait_for_executors(spark, settings)
        checkpoints = None
        if settings.checkpoint is not None and settings.checkpoint_interval is not None:
            with spark_failures(f"making a folder for checkpoints in {settings.checkpoint}"):
                checkpoints = Checkpoints(spark, settings.checkpoint, settings.checkpoint_interval)
            held.enter_context(closing(checkpoints))
        address = held.enter_context(temporary_address(spark, settings.address))
        opened = spark, settings, shared, event_logs, time.perf_counter() - started, spark
        yield OpenSession(*opened, checkpoints=checkpoints, address=address)


@contextmanager
def temporary_folder(parent: str | Path | None) -> Iterator[Path]:
    """Create a temporary folder; the executors' user reads a shared one, and adds files to it."""
    place = parent or tempfile.gettempdir()
    with explained_by_system(f"cannot put temporary files in {place}", JobError):
        folder = tempfile.TemporaryDirectory(
            prefix="predict-graph-", dir=place, ignore_cleanup_errors=True
        )
    with folder as name:
        if parent is not None:
            Path(name).chmod(0o1777)
        yield Path(name).absolute()


@contextmanager
def temporary_address(spark: Any, parent: str | None) -> Iterator[str | None]:
    """Create a temporary folder at an address, if there is one."""
    if parent is None:
        yield None
        return
    with spark_failures(f"making a folder in {parent}"):
        path, files = hadoop_path(spark, f"{parent.rstrip('/')}/predict-graph-{uuid.uuid4().hex}")
        files.mkdirs(path)
    try:
        yield str(path)
    finally:
        delete_address(spark, str(path))


@contextmanager
def _interrupts_as_before() -> Iterator[None]:
    """Restore the handler of Ctrl-C, which a new SparkContext replaces.

    Spark's handler cancels all jobs first, which raises another error if Ctrl-C has also reached
    the driver; ours ends the driver.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    except Exception as error:
        frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
        if any(frame.f_code.co_name == "signal_handler" for frame in frames):
            raise KeyboardInterrupt from error
        raise
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


def _session(settings: SparkSettings, conf: Mapping[str, str]) -> SparkSession:
    import pyspark
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.Builder().master(settings.session_master).appName("predict-graph")
    with _interrupts_as_before():
        spark: SparkSession = builder.config(map=dict(conf)).getOrCreate()
    if spark.version.split(".")[:2] != pyspark.__version__.split(".")[:2]:
        raise JobError(
            f"pyspark is {pyspark.__version__}, but the Spark that SPARK_HOME names is "
            f"{spark.version}; unset SPARK_HOME, or install the pyspark of that version"
        )
    return spark


def awaited_executors(spark: Any, wanted: int, cores: int = 0) -> list[dict[str, Any]]:
    """Return the executors as soon as so many, and so many cores, have registered.

    Or as soon as Spark would wait no longer.
    """
    context = spark.sparkContext._jsc.sc()
    deadline = context.startTime() / 1e3 + _patience(spark)
    while True:
        found = executors_of(spark)
        enough = len(found) >= wanted and sum(each["cores"] for each in found) >= cores
        if enough or time.time() >= deadline or context.isStopped():
            return found
        time.sleep(0.05)


def _patience(spark: Any) -> float:
    """Return the seconds that Spark waits for executors."""
    conf = spark.sparkContext._jsc.sc().conf()
    return float(conf.getTimeAsMs("spark.scheduler.maxRegisteredResourcesWaitingTime", "30s") / 1e3)


def _wait_for_executors(spark: SparkSession, settings: SparkSettings) -> None:
    """Wait until all executors have registered."""
    there = len(awaited_executors(spark, settings.executors))
    if there < settings.executors:
        raise JobError(
            f"{settings.master} gave {there} of the {settings.machines} machines asked for, "
            f"each with {settings.cores} cores and {settings.memory} of memory, within "
            f"{_patience(spark):g} s; does it have enough workers with these resources free?"
        )


def _check_master(master: str, patience: float = 5.0) -> None:
    """Check that something listens at a standalone master; other masters are not checked."""
    if not master.startswith("spark://"):
        return
    reason = ""
    for place in master.removeprefix("spark://").split(","):
        found = host_and_port(place)
        if found is None or not all(found):
            raise RequestError(f"master is {master!r}; accepted: spark://HOST:PORT")
        try:
            socket.create_connection(found, timeout=patience).close()
            return
        except TimeoutError:
            reason = f"no answer within {patience:.0f} s"
        except OSError as error:
            reason = error.strerror or str(error)
    raise JobError(f"no Spark master at {master}: {reason}")


def require_spark() -> None:
    """Check that pyspark can be imported and that Java is installed."""
    check_installed("pyspark", "the spark engine", extra="spark")
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if java is None:
        where = f"in the JAVA_HOME {home}" if home else "on the PATH, and JAVA_HOME is not set"
        raise JobError(f"the spark engine needs Java 17 or 21, but there is no java {where}")
    with suppress(OSError):  # without the file, the version is unknown
        release = (Path(java).resolve().parents[1] / "release").read_text()
        named = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release, re.MULTILINE)
        if named and int(named[1]) < 17:
            raise JobError(f"the spark engine needs Java 17 or 21, but {java} is Java {named[1]}")


@contextmanager
def _driver_process(
    conf: Mapping[str, str], folder: Path, *, seconds_to_end: float = 15.0
) -> Iterator[subprocess.Popen[bytes]]:
    """Start a driver with all settings from the start, and end it; in the end, kill it.

    A driver left over from an earlier session would keep its memory, options and compiled code, so
    that measurements would depend on earlier runs.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    log = folder / "driver.log"
    wanted = SparkConf(loadDefaults=False).setAll([*conf.items()])
    others = SparkContext._gateway, SparkContext._jvm
    with log.open("wb") as said, _environment(conf, folder), _quiet_gateway():
        quiet: dict[str, Any] = {"stdout": said, "stderr": subprocess.STDOUT}
        kept = {} if "spark.log.level" in conf else quiet
        try:
            gateway = launch_gateway(wanted, kept)
        except (OSError, RuntimeError) as error:
            text = re.sub(r"(?m)^WARNING: .*\n", "", log.read_text(errors="replace"))
            raise JobError(f"starting Spark failed: {reason(text or str(error))}") from error
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
    before = dict(os.environ)
    python, place = before.get("PYSPARK_PYTHON", sys.executable), before.get("SPARK_LOCAL_DIRS")
    ours = {
        "PYSPARK_PYTHON": conf.get("spark.pyspark.python", python),
        "SPARK_LOCAL_DIRS": conf.get("spark.local.dir", place or str(folder)),
        "SPARK_LOCAL_IP": before.get("SPARK_LOCAL_IP") or conf.get("spark.driver.host", ""),
    }
    os.environ.update({name: value for name, value in ours.items() if value})
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)
        os.environ.update({name: before[name] for name in ours if name in before})


@contextmanager
def _quiet_gateway() -> Iterator[None]:
    """Keep py4j from logging stack traces of errors that it also raises (Ctrl-C, lost driver)."""

    def of_another(record: logging.LogRecord) -> bool:
        return Path(record.pathname).parent.name != "py4j"

    with ExitStack() as held:
        for name in (None, "py4j.java_gateway", "py4j.clientserver"):
            logger = logging.getLogger(name)
            logger.addFilter(of_another)
            held.callback(logger.removeFilter, of_another)
        yield
