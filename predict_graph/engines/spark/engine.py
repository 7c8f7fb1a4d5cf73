"""The engine that runs algorithms on Apache Spark."""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import base
from predict_graph.engines.profile import RunProfile
from predict_graph.engines.spark.blocks import running
from predict_graph.engines.spark.blocks.packing import packed_graph
from predict_graph.engines.spark.blocks.vertices import VertexJob
from predict_graph.engines.spark.library.algorithm import CalledAlgorithm
from predict_graph.engines.spark.log.features import superstep_table
from predict_graph.engines.spark.session import adopting
from predict_graph.engines.spark.session.failures import UNSEEN, spark_failures
from predict_graph.engines.spark.session.opening import OpenSession, open_session
from predict_graph.engines.spark.session.settings import SparkSettings
from predict_graph.errors import RequestError
from predict_graph.files import check_writable
from predict_graph.graph import Graph
from predict_graph.graph.csr import plain_labels
from predict_graph.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class SparkEngine:
    """Runs algorithms as supersteps over tables on a Spark cluster.

    Parameters
    ----------
    master : str, optional
        See :class:`~predict_graph.engines.spark.session.settings.SparkSettings`; the variable
        ``PREDICT_GRAPH_SPARK_MASTER`` or ``local`` by default.
    workers : int, optional
        Executors of the job; 1 by default.
    cores, memory, conf, graphframes_jar, folder, checkpoint, checkpoint_interval
        As in the settings.
    collect : bool
        Whether to collect the result of each vertex, as ``values`` of the profile; only
        for graphs that fit.
    spark : SparkSession, optional
        An open session to use instead of a new one. It determines master and resources (`folder`
        and `collect` still apply), is left unchanged, and stays open.

    Raises
    ------
    RequestError
        If a setting or the session is not accepted.
    JobError
        If the session has no executors.
    """

    name = "spark"
    virtual_workers = False
    runtime_model = "predict_graph.prediction.seconds.cluster.runtime_model:ClusterRuntimeModel"

    def __init__(
        self,
        master: str | None = None,
        workers: int | None = None,
        *,
        cores: int | None = None,
        memory: str | None = None,
        conf: dict[str, str] | None = None,
        graphframes_jar: str | Path | None = None,
        folder: str | Path | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_interval: int | None = None,
        collect: bool = False,
        spark: SparkSession | None = None,
    ) -> None:
        every: dict[str, Any] = {"master": master or None, "machines": workers, "cores": cores}
        every.update(memory=memory, conf=conf, graphframes_jar=graphframes_jar)
        every.update(folder=folder, checkpoint=checkpoint, checkpoint_interval=checkpoint_interval)
        given = {name: value for name, value in every.items() if value is not None}
        if spark is None:
            self.settings = SparkSettings(**given)
        else:
            for name in given.keys() - {"folder"}:
                called = "workers" if name == "machines" else name  # the name of the parameter
                raise RequestError(
                    f"{called} cannot be set for an open session, which has its own; leave it out"
                )
            self.settings = adopting.settings_of(spark, **given)
        self.workers = self.settings.machines
        self.collect = collect
        self._callers = spark
        self.opened: OpenSession | None = None  # by session(), until its end

    def describe(self) -> dict[str, Any]:
        """Return name and settings."""
        return self.settings.describe()

    @contextmanager
    def session(self, *, java_works: bool = False) -> Iterator[OpenSession]:
        """Keep one session open over several runs; otherwise each run opens its own.

        `java_works` is whether Java does the work of its jobs: of GraphX, or reading graphs. The
        `seconds` of one that was open before are 0, and predictions leave them out.
        """
        if self.opened is not None:
            yield replace(self.opened, seconds=0.0)
            return
        if self._callers is None:
            opened = open_session(self.settings, java_works=java_works)
        else:
            opened = adopting.adopted_session(self._callers, self.settings)
        with opened as session:
            self.opened = session
            try:
                yield session
            finally:
                self.opened = None

    def run(
        self,
        algorithm: Algorithm,
        graph: Graph,
        *,
        threshold: float | None = None,
        max_iterations: int | None = None,
        progress: base.IterationCallback | None = None,
        write_to: Path | None = None,
    ) -> RunProfile:
        """Run an algorithm on a graph; see :class:`~predict_graph.engines.Engine`.

        Raises
        ------
        RequestError
            If the graph has no edges, or an argument is out of range.
        JobError
            If Spark fails: see :func:`~predict_graph.engines.spark.session.opening.open_session`.
        """
        if graph.edges == 0:
            raise RequestError(f"the graph {graph.name!r} has no edges")
        algorithm = algorithm.resolved(graph)
        rule = base.stopping_rule(algorithm, graph.vertices, threshold, max_iterations)
        _check_output(write_to)
        self.check_program(algorithm)
        if isinstance(algorithm, CalledAlgorithm):
            if rule != base.stopping_rule(algorithm, graph.vertices, None, None):
                raise RequestError(
                    f"{algorithm.name} has its own stopping rule; accepted: its parameters, in "
                    "place of threshold and max_iterations"
                )
            if write_to is not None:
                raise RequestError(
                    f"cannot write {write_to}: results of {algorithm.name} stay on Spark; leave it "
                    "out"
                )
            if self._callers is None:
                algorithm.check(self.settings)
            with self.session(java_works=True) as session:
                profile = algorithm.run_in(session, graph, base.follower_of(progress))
                return self._described(profile, algorithm).with_seconds(setup=session.seconds)
        with self.session() as session, running.stored_on(session, graph) as stored:
            return self.run_stored(algorithm, stored, rule, progress, write_to)

    def run_files(
        self,
        algorithm: Algorithm,
        source: str | Path,
        *,
        directed: bool | None = None,
        progress: base.IterationCallback | None = None,
        write_to: Path | None = None,
    ) -> RunProfile:
        """Run an algorithm on a graph that Spark reads itself, without loading it here.

        Parameters
        ----------
        algorithm : Algorithm
        source : str or Path
            A file, a folder or a pattern, with any scheme that Spark supports: Parquet files with
            columns of source, target and perhaps weight, or text (SNAP, CSV, TSV, perhaps
            compressed).
        directed : bool, optional
        progress : callable, optional
        write_to : Path, optional
            The result has the ids of the files.

        Raises
        ------
        RequestError
            If there is no such file, it is not an edge list, or the algorithm is a user's
            function.
        JobError
            If Spark fails.
        """
        self.check_reads(algorithm)
        _check_output(write_to)
        with self.session(java_works=True) as session:
            session.group("read")
            with (
                packed_graph(session, source, directed=directed) as graph,
                running.stored_on(session, graph) as stored,
            ):
                return self.run_stored(algorithm, stored, progress=progress, write_to=write_to)

    def run_stored(
        self,
        algorithm: Algorithm,
        stored: running.StoredGraph,
        rule: tuple[float, int] | None = None,
        progress: base.IterationCallback | None = None,
        write_to: Path | None = None,
    ) -> RunProfile:
        """Run on a graph whose blocks the executors hold, the prior first.

        Until the current deadline, if any: the profile then covers the supersteps before it, and is
        marked ``stopped``.
        """
        session, graph = stored.session, stored.graph
        if write_to is not None and stored.blocks.sent and session.address is None:
            raise RequestError(f"cannot write {write_to}: {UNSEEN}")
        algorithm = algorithm.resolved(graph)
        ran = None
        if algorithm.prior is not None:
            prior, follower = algorithm.prior.resolved(graph), base.follower_of(progress)
            ran = self._supersteps(stored, prior, None, follower)
        if ran is None or not ran[0].stopped:
            ran = self._supersteps(stored, algorithm, rule, progress, ran)
        profile, job = ran
        if write_to is None:
            return profile
        started = time.perf_counter()
        with spark_failures(f"writing {write_to}"):
            session.group("write")
            _write(_named(job), session, write_to)
        return profile.with_seconds(write=time.perf_counter() - started)

    def check_reads(self, algorithm: Algorithm) -> None:
        """Refuse algorithms that cannot run on a graph that only Spark reads."""
        self.check_program(algorithm)
        if isinstance(algorithm, CalledAlgorithm) or running.program_of(algorithm) is VertexJob:
            raise RequestError(
                f"{algorithm.name} takes a graph that this process reads; leave --spark-reads out"
            )

    def session_doubts(self) -> list[str]:
        """Return limits of measurements in a user's session; none for a session of our own."""
        return [] if self._callers is None else [*adopting.doubts_of(self._callers, self.settings)]

    def is_warm(self, name: str) -> bool:
        """Whether an algorithm ran in the user's session before, so that its code is compiled."""
        return self._callers is not None and name in adopting.warm_for(self._callers)

    def check_program(self, algorithm: Algorithm) -> None:
        """Check that Spark can run an algorithm with these settings."""
        called = isinstance(algorithm, CalledAlgorithm)
        own = called or (running.program_of(algorithm) is VertexJob and algorithm.prior is None)
        if own and self.settings.checkpoint is not None:
            raise RequestError(
                f"checkpoint is {self.settings.checkpoint}, but {algorithm.name} keeps its own "
                "state; leave it out"
            )

    def _supersteps(
        self,
        stored: running.StoredGraph,
        algorithm: Algorithm,
        rule: tuple[float, int] | None,
        progress: base.IterationCallback | None,
        prior: tuple[RunProfile, running.SuperstepJob] | None = None,
    ) -> tuple[RunProfile, running.SuperstepJob]:
        """Run one algorithm; return its profile and the job, which has its values."""
        session, graph = stored.session, stored.graph
        rule = rule or base.stopping_rule(algorithm, graph.vertices, None, None)
        run = f"{algorithm.name}-a{uuid.uuid4().hex[:7]}"  # not a date
        logged, began = session.log_from_now(), time.perf_counter()
        earlier, known = (None, None) if prior is None else (prior[0], prior[1].collected())
        here = running.program_of(algorithm) is VertexJob
        kind: type[running.SuperstepJob] = VertexJob if here else running.BlockJob
        job = kind(algorithm, stored, known, run, rule, progress)
        job.set_up()
        setup = time.perf_counter() - began  # with collecting what the prior gave
        if (follower := base.follower_of(progress)) is not None:
            follower.begins(algorithm, graph, *rule)
        job.go_on()
        session.flush()
        events = logged.read()
        table = superstep_table(job, events.tasks, remote=not self.settings.local)
        table = table.assign(storage_bytes=session.storage_bytes())
        session.group(f"{run}/result")
        result = {} if job.stopped else job.summary()
        if job.redone:
            result["supersteps_done_again"] = job.redone
        took = {"setup": setup, "superstep": sum(job.seconds), "write": job.checkpoint_seconds}
        profile = RunProfile(
            algorithm=algorithm.name,
            parameters=algorithm.to_dict(),
            named=dict(algorithm.named),
            graph=graph.describe(),
            engine=self.settings.describe(events),
            phases=stored.phases if earlier is None else earlier.phases,
            rows=Table(table),
            convergence=np.array(job.aggregates),
            converged=job.converged,
            values=job.collected() if self.collect or here else np.empty(0),
            result=result,
            prior=earlier,
            stopped=job.stopped,
        ).with_seconds(**took)
        return self._described(profile, algorithm), job

    def _described(self, profile: RunProfile, algorithm: Algorithm) -> RunProfile:
        """Return a profile that says whether the JVMs were warm."""
        warm = self.is_warm(algorithm.name)
        if self._callers is not None:
            adopting.warm_for(self._callers).add(algorithm.name)
        return replace(profile, engine={**profile.engine, "warm": True}) if warm else profile


def _check_output(path: Path | None) -> None:
    """Reject a path to which the result cannot be written, before a long run."""
    if path is None:
        return
    if path.suffix not in (".csv", ".parquet"):
        raise RequestError(f"cannot write {path}; accepted: a name in .csv or .parquet")
    if os.path.exists(path):  # not of a name that is too long, which is refused next
        raise RequestError(f"cannot write {path}: it exists; accepted: the name of a new folder")
    check_writable(path)


def _write(values: DataFrame, session: OpenSession, path: Path) -> None:
    """Let the executors write the result to a new folder, and move it, all or nothing."""
    address = session.new_address()
    beside = path.with_name(f".{uuid.uuid4().hex[:12]}.part")  # of a name that may be long
    try:
        writer = values.write.option("header", True)
        writer.format(path.suffix.removeprefix(".")).save(address)
        session.fetch(address, beside)
        beside.rename(path)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _named(job: running.SuperstepJob) -> DataFrame:
    """Return results with the original ids, also of vertices in values; null where there is none.

    As :func:`predict_graph.engines.local.engine.write_values` writes them.
    """
    from pyspark.sql import functions as F

    values, graph, labels = job.values(), job.stored.graph, None
    columns = values.columns
    if graph.labels is not None:
        numbers, texts = np.arange(graph.vertices), plain_labels(graph.labels)
        labels = job.stored.table(number=numbers, label=texts)
    all_vertices = getattr(job.algorithm.part_for("local"), "values_are_vertices", False)
    for name in columns if all_vertices else columns[:1]:
        values = values.withColumn(name, F.when(F.col(name) >= 0, F.col(name)))
        if labels is not None:
            ids = labels.withColumnRenamed("number", name)
            values = values.join(ids, name, "left").drop(name).withColumnRenamed("label", name)
    return values.select(*columns).withColumnRenamed("id", "vertex")
