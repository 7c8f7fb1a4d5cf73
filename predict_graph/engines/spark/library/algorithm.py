"""Algorithms that Spark runs by a call: of a library, which has a local replay, or of a user.

The run of a library's algorithm loads its graph, calls it, and finds its supersteps in its log.
GraphX names the stages in which messages are made and combined: each job with such a stage is a
superstep. Loops over tables end a round with a sum
that the driver collects: the one kind of job that shuffles records without being a query.

GraphX loads edges in the order of their files, and GraphFrames in that of their table. We write one
gzip file per partition, which Spark does not split, so the partition of each edge is known. The
hash corresponds to ``PartitionStrategy.RandomVertexCut``.
"""

from __future__ import annotations

import gzip
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv

from predict_graph.algorithms import Algorithm
from predict_graph.arrays import IntArray
from predict_graph.engines.base import Follower
from predict_graph.engines.profile import RunProfile
from predict_graph.engines.spark.log.eventlog import EventLog
from predict_graph.engines.spark.log.features import observed_phases, observed_table
from predict_graph.engines.spark.log.growing import GrowingLog, followed_call
from predict_graph.engines.spark.recognition import supersteps as recognition
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.session.settings import SparkSettings
from predict_graph.engines.spark.tables.checkpoints import release
from predict_graph.errors import JobError
from predict_graph.graph import Graph
from predict_graph.table import Table
from samplers.splitmix import mixed


@dataclass(frozen=True)
class EdgeLayout:
    """The edges of a graph, partition by partition, in processing order.

    The library's graph has vertices with edges only, or, with `everyone`, all of them.
    """

    vertices: int
    starts: IntArray
    sources: IntArray
    targets: IntArray
    everyone: bool = False

    @property
    def partitions(self) -> int:
        """The number of partitions."""
        return len(self.starts) - 1

    @property
    def parts(self) -> IntArray:
        """The partition of each edge."""
        return np.repeat(np.arange(self.partitions), np.diff(self.starts))


def layout_of(graph: Graph, partitions: int) -> EdgeLayout:
    """Assign the stored edges of a graph to partitions.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> layout = layout_of(check_graph("path:n=4"), 2)  # each edge both ways
    >>> layout.partitions, sorted(layout.sources.tolist())
    (2, [0, 1, 1, 2, 2, 3])
    """
    sources = np.repeat(np.arange(graph.vertices, dtype=np.int64), graph.out_degrees)
    targets = np.asarray(graph.indices, dtype=np.int64)
    with np.errstate(over="ignore"):  # a hash that mixes both ends: splitmix64's finaliser
        ends = sources.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio
        ends += targets.astype(np.uint64)
        home = (mixed.py_func(ends) % np.uint64(partitions)).astype(np.int64)
    order = np.argsort(home, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(home, minlength=partitions))))
    return EdgeLayout(graph.vertices, starts.astype(np.int64), sources[order], targets[order])


def write_layout(layout: EdgeLayout, folder: Path) -> Path:
    """Write a file of lines ``source target`` for each partition to a new folder; return it."""
    folder.mkdir()
    options = pa.csv.WriteOptions(include_header=False, delimiter=" ")
    for number in range(layout.partitions):
        rows = slice(layout.starts[number], layout.starts[number + 1])
        table = pa.table({"source": layout.sources[rows], "target": layout.targets[rows]})
        # The fastest level: files are read once
        with gzip.open(folder / f"part-{number:05d}.txt.gz", "wb", compresslevel=1) as file:
            pa.csv.write_csv(table, file, options)
    return folder


RECORDS, ENTRIES = "twin_records", "twin_entries"
"""Columns of a run's table: records and entries counted by the local replay."""

REPLAY_COLUMNS = ("active_vertices", "messages", "records", "entries", "received")
"""Counters of each superstep of a local replay: sending vertices, their messages, records after
combining in the partitions, entries in those records (one each, or those of maps, lists or sets),
and receiving vertices.

In loops over tables, messages are rows before combining, entries are numbers beyond the first of a
row, and received vertices have a changed result."""


class CalledAlgorithm(Algorithm):
    """An algorithm that Spark runs unchanged; its supersteps are found in the event log."""

    java_works = True

    @property
    def max_iterations(self) -> int:
        """The limit of iterations: none."""
        return 2**31

    def threshold(self, vertices: int) -> float:
        """Return 0: the call has its own stopping rule."""
        return 0.0

    def check(self, settings: SparkSettings) -> None:
        """Check what a session of ours needs, before it is opened."""

    @abstractmethod
    def run_in(self, session: OpenSession, graph: Graph, follower: Follower) -> RunProfile:
        """Run it on a graph; notify a follower of supersteps as they end."""

    @abstractmethod
    def supersteps(self, log: EventLog, began: float) -> recognition.Recognised:
        """Return the supersteps in the log of a call that began then."""

    def profiled(
        self,
        call: Callable[[], None],
        session: OpenSession,
        logged: GrowingLog,
        graph: Mapping[str, Any],
        follower: Follower,
    ) -> tuple[RunProfile, recognition.Recognised]:
        """Make a call on a graph as described; return its profile and its supersteps.

        The log begins before the call.
        """
        began, library = time.time(), self.name if isinstance(self, LibraryAlgorithm) else None
        with followed_call(session.for_functions, logged, follower, library):
            call()
        ended, stored = time.time(), session.storage_bytes()
        session.flush()
        log = logged.read()
        log = replace(log, application={**log.application, "started": began, "finished": ended})
        found = self.supersteps(log, began)
        rows = observed_table(log, found, int(graph["vertices"])).assign(storage_bytes=stored)
        profile = RunProfile(
            algorithm=self.name,
            parameters=self.to_dict(),
            named=dict(self.named),
            graph=dict(graph),
            engine=session.settings.describe(log),
            phases=observed_phases(log, found),
            rows=Table(rows),
            convergence=np.full(found.iterations, np.nan),
            converged=None,
        )
        return profile, found


class LibraryAlgorithm(CalledAlgorithm):
    """A library algorithm that Spark runs unchanged; a local replay counts its supersteps.

    The local replay uses the same stopping rule. A GraphX superstep makes messages; the last one
    may find none.
    """

    library: ClassVar[str]
    """The name of the library."""
    convergence = "fixed-point"
    weighted = False

    @property
    def at(self) -> tuple[int, ...]:
        """The vertices that a parameter names, or those that represent them in a sample."""
        known = getattr(self, "known", None)
        return () if known is None else tuple(known.tolist())

    def run_in(self, session: OpenSession, graph: Graph, follower: Follower) -> RunProfile:
        """Run it on a graph; notify a follower of supersteps as they end.

        The read phase loads the edges; the setup phase builds the library's structures before the
        call. The local replay counts what vertices send; times, bytes and records come from Spark.
        """
        partitions, algorithm = session.settings.partitions, self.within(graph)
        rounds = rounds_of(algorithm, graph, partitions)
        spark: Any = session.for_functions
        logged = session.log_from_now()

        def call() -> None:
            result = algorithm.call(spark._jvm, loaded)
            session.group("write")
            self.compute(result)

        with spark_failures(f"{self.name} on Spark"), ExitStack() as held:
            files = write_layout(layout_of(graph, partitions), session.new_path())
            source = held.enter_context(session.sent(files))
            # What GraphX caches; in a user's session, only what this run cached.
            context: Any = session.spark.sparkContext
            held.callback(release, context, session.site, set(context._jsc.getPersistentRDDs()))
            session.group("read")
            started = time.perf_counter()
            edges = self.read(session, source)
            held.callback(edges.unpersist, False)
            read = time.perf_counter() - started
            session.group("setup")
            loaded = self.graph(session, edges, graph.vertices)
            setup = time.perf_counter() - started - read
            session.group(self.name)
            if follower is not None:
                follower.begins(algorithm, graph, 0.0, len(rounds))
            profile, _ = self.profiled(call, session, logged, graph.describe(), follower)
        if profile.iterations != len(rounds):
            raise JobError(
                f"{self.name} took {profile.iterations} supersteps on {graph.name}, and its replay "
                f"{len(rounds)}: this version of {self.library} differs; please report it"
            )
        phases = {**profile.phases, "setup": setup, "read": read}
        rows = Table(_counted(profile.table, rounds))
        converged = bool(rounds["received"].iloc[-1] == 0)
        return replace(profile, phases=phases, rows=rows, converged=converged)

    def supersteps(self, log: EventLog, began: float) -> recognition.Recognised:
        """Return the supersteps in a log that starts with the call.

        A superstep ends with the last job before the next messages are made, or else with its sum;
        it includes the driver's work in between. The first starts with the call.
        """
        found = recognition.by_messages(log, self.name, began)
        if (found := found or recognition.by_sums(log, self.name, began)) is None:
            raise JobError(f"{self.name} made no messages that its log shows")
        return found

    @abstractmethod
    def read(self, session: OpenSession, source: str) -> Any:
        """Read and keep the edges from a folder with a file for each partition."""

    @abstractmethod
    def graph(self, session: OpenSession, edges: Any, vertices: int) -> Any:
        """Return the library's graph of the edges that were read."""

    @abstractmethod
    def call(self, java: Any, graph: Any) -> Any:
        """Call the library by its classes in Java; return the object of the result."""

    @abstractmethod
    def compute(self, result: Any) -> None:
        """Compute a result in full and discard it."""

    def replay(self, layout: EdgeLayout) -> pd.DataFrame:
        """Return a row of ``REPLAY_COLUMNS`` for each superstep."""
        found: pd.DataFrame = self.part_of("replay")(self, layout)
        return found


_last: dict[tuple[Any, ...], pd.DataFrame] = {}


def rounds_of(algorithm: LibraryAlgorithm, graph: Graph, partitions: int) -> pd.DataFrame:
    """Return exact counters of each superstep for a graph with so many edge partitions.

    The last result is cached, since several stages of a prediction need it.
    """
    algorithm = algorithm.within(graph)
    key = (algorithm.name, str(algorithm.to_dict()), algorithm.at, graph.fingerprint, partitions)
    if key not in _last:
        _last.clear()
        _last[key] = algorithm.replay(layout_of(graph, partitions))
    return _last[key]


def _counted(table: pd.DataFrame, rounds: pd.DataFrame) -> pd.DataFrame:
    """Return the table of Spark's metrics; counters of the replay are shared out by records."""
    wrote = table.groupby("worker")["shuffle_write_records"].sum()
    share = table["worker"].map(wrote / max(wrote.sum(), 1)).to_numpy()
    at = table["iteration"].to_numpy() - 1
    size = table["local_message_bytes"] + table["remote_message_bytes"]
    remote: Any = (table["remote_message_bytes"] / np.maximum(size, 1)).to_numpy()

    def shared(name: str) -> Any:
        return rounds[name].to_numpy(np.float64)[at] * share

    messages = shared("messages")
    table["active_vertices"] = np.rint(shared("active_vertices")).astype(np.int64)
    table["remote_messages"] = np.rint(messages * remote).astype(np.int64)
    table["local_messages"] = np.rint(messages).astype(np.int64) - table["remote_messages"]
    table["average_message_bytes"] = size / np.maximum(messages, 1.0)
    for column, name in ((RECORDS, "records"), (ENTRIES, "entries")):
        table[column] = np.rint(shared(name)).astype(np.int64)
    return table
