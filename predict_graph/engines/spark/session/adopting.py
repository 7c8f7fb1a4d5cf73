"""Using a session that the user has opened: measured by a listener, and left unchanged.

Spark's listeners receive all executor events, whether or not the session writes an event log or
serves a UI. A second event log writer on its own queue records them during our runs, in a temporary
folder. Settings for supersteps are set in a sister session (``newSession``), which shares only the
executors.
"""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predict_graph.engines.spark.session import opening
from predict_graph.engines.spark.session.failures import reason, spark_failures
from predict_graph.engines.spark.session.settings import SparkSettings, is_local
from predict_graph.engines.spark.tables.checkpoints import release
from predict_graph.errors import JobError, RequestError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OURS = ("spark.jobGroup.id", "spark.job.description", "callSite.short", "callSite.long")
_ACCEPTED = "a SparkSession of pyspark that is open"

_RAN: dict[str, set[str]] = {}  # by application: algorithms that its JVMs have compiled


def warm_for(spark: SparkSession) -> set[str]:
    """Return the mutable set of algorithms that ran in a session before."""
    return _RAN.setdefault(str(spark.sparkContext.applicationId), set())


def settings_of(spark: Any, **ours: Any) -> SparkSettings:
    """Return the settings of a user's session, once it has all the executors that it requested."""
    opening.require_spark()
    _check_open(spark)
    with spark_failures("asking the session for its executors"):
        conf = dict(spark.sparkContext.getConf().getAll())
        local = is_local(str(spark.sparkContext.master))
        master = "local" if local else str(spark.sparkContext.master)
        wanted = int(conf.get("spark.executor.instances", 0))
        cores = 0 if wanted else int(conf.get("spark.cores.max", 0))
        cores -= cores % int(conf.get("spark.executor.cores", 1))
        executors = opening.awaited_executors(spark, max(wanted, 1), cores)
        java: Any = spark.sparkContext._jsc.sc().conf()
        memory = java.getSizeAsMb(f"spark.{'driver' if local else 'executor'}.memory", "1g")
    if not executors:
        raise JobError(
            f"the session on {master} has no executors; run a job in it first, or give it some "
            "(spark.executor.instances, or spark.dynamicAllocation.minExecutors)"
        )
    cores = min(int(each["cores"]) for each in executors)
    machines, cores = (cores, 1) if local else (len(executors), cores)
    return SparkSettings(master, machines, cores, f"{memory}m", in_open_session=True, **ours)


def doubts_of(spark: SparkSession, settings: SparkSettings) -> Iterator[str]:
    """Yield the limits of measurements in a user's session, one sentence each."""
    if settings.local:
        return
    conf = dict(spark.sparkContext.getConf().getAll())
    yield (
        "all was measured in the session that is open: it shows nothing about machine counts "
        f"other than its {settings.machines}"
    )
    if conf.get("spark.dynamicAllocation.enabled", "false").lower() == "true":
        yield (
            "the session lets executors come and go (spark.dynamicAllocation.enabled): this holds "
            f"for {settings.machines}"
        )
    if conf.get("spark.shuffle.reduceLocality.enabled", "true").lower() == "true":
        yield (
            "the session may give most of the work to one executor "
            "(spark.shuffle.reduceLocality.enabled), and one time more than the next"
        )


@contextmanager
def adopted_session(spark: Any, settings: SparkSettings) -> Iterator[opening.OpenSession]:
    """Use an open session, and restore its settings, names, listeners and memory."""
    _check_open(spark)
    context = spark.sparkContext
    site = f"predict-graph {uuid.uuid4().hex}"
    before = {name: context.getLocalProperty(name) for name in _OURS}
    with (
        opening.temporary_folder(None) as own,
        opening.temporary_folder(None if settings.address else settings.folder) as shared,
        opening.temporary_address(spark, settings.address) as address,
        _listening(spark, own),
    ):
        sister = spark.newSession()
        for name, value in settings.sql_conf.items():
            sister.conf.set(name, value)
        adopted = sister, settings, shared, own, 0.0, spark, site
        session = opening.OpenSession(*adopted, address=address).from_now()
        python, checkpoints = context.pythonExec, context._jsc.sc().getCheckpointDir()
        if settings.local and "PYSPARK_PYTHON" not in os.environ:
            context.pythonExec = sys.executable  # else the python3 of the path, whatever it has
        try:
            yield session
        finally:
            with suppress(Exception):  # a stopped session has nothing left to restore
                context.pythonExec = python
                getattr(context._jsc.sc(), "checkpointDir_$eq")(checkpoints)
                for name, value in before.items():
                    context.setLocalProperty(name, value)
                release(context, site)


def _check_open(spark: Any) -> None:
    """Reject objects that are not a usable session."""
    kind = type(spark)
    if kind.__module__.startswith("pyspark.sql.connect"):
        raise RequestError(
            "spark is a session of Spark Connect, whose driver and executors are not "
            f"accessible from here; accepted: {_ACCEPTED}"
        )
    from pyspark.sql import SparkSession

    if not isinstance(spark, SparkSession):
        raise RequestError(f"spark is a {kind.__name__}; accepted: {_ACCEPTED}")
    context: Any = spark.sparkContext._jsc
    if context is None or context.sc().isStopped():
        raise RequestError(f"the session spark was stopped; accepted: {_ACCEPTED}")


@contextmanager
def _listening(spark: Any, folder: Path) -> Iterator[None]:
    """Write an event log of the session to a folder, in addition to its own."""
    from py4j.protocol import Py4JError

    jvm, context = spark.sparkContext._jvm, spark.sparkContext._jsc.sc()
    try:
        conf = context.conf().clone()
        for name in ("compress", "rolling.enabled"):
            conf.set(f"spark.eventLog.{name}", "false")
        attempt, place = jvm.scala.Option.empty(), jvm.java.net.URI(folder.as_uri())
        about = (context.applicationId(), attempt, place, conf, context.hadoopConfiguration())
        listener = jvm.org.apache.spark.scheduler.EventLoggingListener(*about)
        listener.start()
        context.listenerBus().addToQueue(listener, "predict-graph")
    except (Py4JError, TypeError) as error:
        raise JobError(
            "the session does not accept a listener for its executors, so that nothing can be "
            f"measured in it: {reason(str(error))}"
        ) from error
    try:
        yield
    finally:
        with suppress(Exception):  # a stopped session has detached it already
            context.listenerBus().waitUntilEmpty(10_000)  # milliseconds
        with suppress(Exception):
            context.listenerBus().removeListener(listener)
            listener.stop()
