"""Graphs that only Spark reads: fetched where they fit, else the run is begun where they are.

A graph within the limit ``driver_bytes`` is packed and fetched, and takes the usual sources. Of a
larger one the executors keep the blocks; its evidence are earlier runs, and the first supersteps of
the run itself, which the budget ends.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from predict_graph.algorithms import Algorithm
from predict_graph.deadline import deadline
from predict_graph.engines import Engine, RunProfile
from predict_graph.engines.spark import SparkEngine, is_table
from predict_graph.engines.spark.blocks import packing
from predict_graph.engines.spark.blocks.running import StoredGraph, stored_on
from predict_graph.engines.spark.tables.reading import check_source
from predict_graph.errors import RequestError
from predict_graph.evidence import Source
from predict_graph.history import History
from predict_graph.prediction.case import Case
from predict_graph.prediction.request import Request
from predict_graph.prediction.sources import BaselineEstimate, EarlierRuns, Estimates, FullRun


@contextmanager
def case_on_cluster(
    source: Any,
    request: Request,
    history: History | None,
    *,
    directed: bool | None,
    ids: str | None = None,
) -> Iterator[tuple[Case, tuple[Source, ...] | None]]:
    """Provide the case of a graph that only Spark reads, and its sources unless they are the usual.

    The executors keep a graph that does not fit here until the end.
    """
    engine = reader = check_reader(request.engine, source, ids)
    started = time.perf_counter()
    request.progress("packing the graph on the cluster", 0.0)
    if is_table(source) and not engine.settings.in_open_session:
        reader = SparkEngine(spark=source.sparkSession)
    with ExitStack() as held:
        session = held.enter_context(reader.session(java_works=True))
        session.group("predict")
        packed = held.enter_context(packing.packed_graph(session, source, directed=directed))
        graph: Any = packed
        sources: tuple[Source, ...] | None = None
        if packing.fits_here(packed):
            graph = packing.whole_graph(packed)
            there = reader.settings.partitions / engine.settings.partitions
            vars(graph)["packing_seconds"] *= there
            held.close()
        elif reader is not engine:
            raise RequestError(
                f"{packed.source} has {packed.edges:,} edges, which stay in the session of the "
                "table; accepted: spark=session, that session"
            )
        else:
            _refuse_unread(request, packed, engine)
            stored = held.enter_context(stored_on(session, packed))
            sources = (EarlierRuns(), RunOnCluster(engine, stored), BaselineEstimate())
        reading = time.perf_counter() - started
        yield Case.of(graph, request, history, reading), sources


def check_reader(engine: Engine, source: Any, ids: str | None) -> SparkEngine:
    """Return the engine as one that reads a graph."""
    if not isinstance(engine, SparkEngine):
        raise RequestError(
            f"the engine is {engine.name}, but a graph that Spark reads needs the engine spark; "
            "accepted: --engine spark, engine='spark'"
        )
    if ids not in (None, "integer"):
        raise RequestError(f"ids are {ids!r}; accepted for a graph that Spark reads: 'integer'")
    check_source(source)
    return engine


def _refuse_unread(request: Request, packed: packing.PackedGraph, engine: SparkEngine) -> None:
    """Refuse what cannot be begun where the graph is, and options that nothing reads there."""
    for part in request.chain:
        engine.check_reads(part.algorithm)
    for name in sorted(request.named):
        raise RequestError(
            f"{name} is not read for {packed.source}, whose {packed.edges:,} edges stay on the "
            "cluster, where the run is begun; accepted: leave it out, or a limit driver_bytes "
            "that the graph fits in"
        )


class RunOnCluster(FullRun):
    """The run itself, begun where the graph is: until the budget is spent.

    Parameters
    ----------
    engine : SparkEngine
    stored : StoredGraph
    """

    source = "full run"

    def __init__(self, engine: SparkEngine, stored: StoredGraph) -> None:
        self._engine, self._stored = engine, stored

    def cost(self, case: Case, evidence: Estimates) -> float:
        """Nothing: its budget ends it; infinity where that is 0."""
        return 0.0 if case.request.budget.seconds > 0.0 else math.inf

    def run(self, case: Case) -> RunProfile | None:
        """Run the first supersteps; None if those of a run before it in a chain took too long."""
        request, begun = case.request, _FirstSupersteps(case)
        with deadline(begun.left):
            profile = self._engine.run_stored(request.algorithm, self._stored, progress=begun)
        return profile if profile.algorithm == request.algorithm.name else None


class _FirstSupersteps:
    """Follows a run, which the budget ends, but not before its first supersteps."""

    def __init__(self, case: Case) -> None:
        self._case, self._fewest, self._done = case, math.inf, 0

    def __call__(self, iteration: int, aggregate: float) -> None:
        self._done = iteration
        self._case.request.progress(f"superstep {iteration} on the cluster", 0.0)

    def begins(self, algorithm: Algorithm, graph: Any, threshold: float, limit: int) -> None:
        """Count from 0 again.

        A curve that ends before its drop cannot be continued (docs/studies/spark.md).
        """
        self._done, self._fewest = 0, 10 if algorithm.steady else 30

    def superstep(self, iteration: int, ended: float) -> None:
        """Nothing."""

    def left(self) -> float:
        """Return the seconds until the run stops."""
        return math.inf if self._done < self._fewest else self._case.spending.left
