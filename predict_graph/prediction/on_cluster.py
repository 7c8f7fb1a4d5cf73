"""The pipeline of a prediction whose graph only Spark reads.

A graph within the limit ``driver_bytes`` is packed, fetched, and takes the usual pipeline. Of a
larger one, only degrees, vertex values and the edges of sample runs are fetched: compiled code
executes the supersteps on the cluster to count them (:mod:`predict_graph.engines.spark.blocks`). If
counting all of them would take too long, the rest is extrapolated along the convergence curve.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import FixedSpending, SampleSummary, evenly
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.blocks.edges import is_table
from predict_graph.engines.spark.blocks.packing import (
    PackedGraph,
    cluster_graph,
    fits_here,
    induced_graph,
    packed_graph,
    whole_graph,
)
from predict_graph.engines.spark.blocks.replica import (
    CountedRun,
    check_replica,
    count_run,
    replica_of,
)
from predict_graph.errors import JobError, RequestError
from predict_graph.graph.on_cluster import ClusterGraph
from predict_graph.history import History
from predict_graph.iterations import IterationEstimate
from predict_graph.iterations.continued import continued_crossing, continued_estimate
from predict_graph.outcome import Prediction
from predict_graph.prediction.assembly import assembled
from predict_graph.prediction.baseline import baselines_of
from predict_graph.prediction.case import Case, Spending
from predict_graph.prediction.request import Request
from predict_graph.prediction.seconds.cluster.sampling import worth_running
from predict_graph.prediction.work import workloads_of
from predict_graph.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Bounds from below the supersteps that are counted, equal ones and spreading ones. The share of
# these stays high and drops at once; a curve that ends before the drop cannot be extrapolated.
_FEWEST, _FEWEST_SPREADING = 10, 30


def predict_on_cluster(
    source: Any,
    request: Request,
    history: History | None,
    predict_here: Callable[[Case], Prediction],
    *,
    directed: bool | None,
    ids: str | None = None,
) -> Prediction:
    """Predict a run on a graph that only Spark reads, by `predict_here` if it can be fetched."""
    engine = request.engine
    if not isinstance(engine, SparkEngine):
        raise RequestError(
            f"the engine is {engine.name}, but a graph that Spark reads needs the engine spark; "
            "accepted: --engine spark, engine='spark'"
        )
    if ids not in (None, "integer"):
        raise RequestError(f"ids are {ids!r}; accepted for a graph that Spark reads: 'integer'")
    started = time.perf_counter()
    request.progress("packing the graph on the cluster", 0.0)
    chain = request.chain
    with _session_of(engine, source) as spark:
        replicas = [replica_of(part.algorithm) for part in chain]
        weights = any(replica is None or replica.weights for replica in replicas)
        with packed_graph(spark, source, directed=directed, weights=weights) as packed:
            if not fits_here(packed):
                counted = _Counted(packed, request, history, started)
            else:
                counted = None
                whole = whole_graph(packed)
    if counted is None:
        reading = time.perf_counter() - started
        return predict_here(Case.of(whole, request, history, reading_seconds=reading))
    return counted.prediction()


@contextmanager
def _session_of(engine: SparkEngine, source: Any) -> Iterator[SparkSession]:
    """Provide the session that reads the graph; a table has its own."""
    if not is_table(source):
        with engine.session() as session:
            session.group("predict")
            yield session.spark
        return
    spark = source.sparkSession
    if not hasattr(spark, "_jvm"):
        raise RequestError(
            "the table is one of Spark Connect, which runs no code of ours; accepted: a table of a "
            "session in this process"
        )
    if spark.sparkContext._jsc is None:
        raise JobError("the session of the table has been stopped")
    yield spark


class _Counted:
    """Counts the supersteps when it is made; then it has all that the prediction needs."""

    def __init__(
        self, packed: PackedGraph, request: Request, history: History | None, started: float
    ) -> None:
        _refuse_samples(request, packed)
        made = [check_replica(part.algorithm, packed) for part in request.chain]
        graph = cluster_graph(packed)
        request = replace(request, algorithm=request.algorithm.on(graph))
        self._chain = request.chain
        algorithms = [part.algorithm for part in self._chain]
        # Packing reads, sorts and moves every edge once, as a superstep of the run does.
        self._superstep = packed.seconds
        usual = [baseline.iterations for baseline in baselines_of(graph, algorithms, history)]
        reading = time.perf_counter() - started
        self._spending = Spending(request.budget, (1.0 + sum(usual)) * self._superstep, reading)
        self._budget = request.budget
        self._history = history
        estimates: list[IterationEstimate] = []
        values = None
        for algorithm, replica in zip(algorithms, made, strict=True):
            begun = time.perf_counter()
            others = sum(each.iterations for each in estimates) + sum(usual[len(estimates) + 1 :])
            run = count_run(
                replica(algorithm, graph, values),
                packed,
                self._goes_on(begun, algorithm, graph, others),
                lambda number: request.progress(f"counting superstep {number}", 0.0),
            )
            values = run.values
            estimates.append(_estimate(run, algorithm, graph, request, begun))
        del values, run  # frees the vertex values
        self._estimates = estimates
        self._workloads = workloads_of(graph, algorithms, estimates, request.engine.workers)
        self._context = request.context(history, graph.edges, self._spending)
        self._graph = self._with_samples(packed, graph)

    def _goes_on(
        self, begun: float, algorithm: Algorithm, graph: ClusterGraph, others: float
    ) -> Callable[[Sequence[float]], bool]:
        """Return a function that decides whether to count another superstep.

        `others` are the iterations of the other algorithms of the chain.
        """
        threshold = algorithm.threshold(graph.vertices)

        def goes_on(curve: Sequence[float]) -> bool:
            if len(curve) < (_FEWEST if algorithm.steady else _FEWEST_SPREADING):
                return True
            each = (time.perf_counter() - begun) / len(curve)
            expected = min(continued_crossing(curve, threshold), float(algorithm.max_iterations))
            allowed = self._budget.allowed((1.0 + others + expected) * self._superstep)
            return self._spending.spent + each <= allowed

        return goes_on

    def _with_samples(self, packed: PackedGraph, graph: ClusterGraph) -> ClusterGraph:
        """Fetch the edges of sample runs, if there will be any."""
        engine = self._chain[-1].engine
        assert isinstance(engine, SparkEngine)
        algorithms = [part.algorithm for part in self._chain]
        points = worth_running(graph, engine, algorithms, self._context, self._workloads)
        if not points:  # no later step may start sample runs: their edges are not fetched
            self._context = replace(self._context, spending=FixedSpending(full=False))
            return graph
        ratio = max(ratio for ratios in points.values() for ratio in ratios)
        core = _core(graph, ratio, np.random.default_rng(self._context.seed).spawn(3)[2])
        return replace(graph, core=induced_graph(packed, core))

    def prediction(self) -> Prediction:
        """Return the prediction; its sample runs use separate sessions."""
        request, graph = self._chain[-1], self._graph
        algorithms = [part.algorithm for part in self._chain]
        runtime_model = request.runtime_model(request.engine, graph, algorithms, self._context)
        runtimes = runtime_model.estimate(self._workloads)
        return assembled(graph, self._chain, self._estimates, runtimes, self._spending)


def _refuse_samples(request: Request, packed: PackedGraph) -> None:
    """Refuse options of sampling, as the supersteps are counted."""
    for name in ("sampler", "transform", "method", "ratio", "max_overhead"):
        if name in request.named:
            raise RequestError(
                f"{name} is not read for {packed.source}, whose {packed.edges:,} edges stay on the "
                "cluster and are counted there; accepted: leave it out, or a limit driver_bytes "
                "that the graph fits in"
            )


def _estimate(
    run: CountedRun, algorithm: Any, graph: ClusterGraph, request: Request, begun: float
) -> IterationEstimate:
    """Return the estimate from counted supersteps, extrapolated where they end early."""
    done = len(run.curve)
    counters = Table(run.counters)
    workers = request.engine.workers
    spread = evenly(counters["messages"], counters["message_bytes"], workers)
    counters = counters.without("messages", "message_bytes").assign(**spread)
    note = "counted where it is" if run.ended else f"the first {done} supersteps counted"
    return continued_estimate(
        algorithm,
        run.curve,
        counters,
        algorithm.threshold(graph.vertices),
        converged=run.converged,
        ended=run.ended,
        summary=SampleSummary(
            "whole graph",
            1.0,
            graph.vertices,
            graph.edges,
            done,
            time.perf_counter() - begun,
            "iterations",
            note,
        ),
    )


def _core(graph: ClusterGraph, ratio: float, rng: np.random.Generator) -> np.ndarray:
    """Draw vertices by degree, as walks visit them, with about `ratio` of the edges.

    A vertex of degree d is drawn with probability min(1, c d). The ends of an edge are assumed to
    be independent, and bisection gives c for the wanted number of edges.
    """
    degrees = graph.out_degrees.astype(np.float64) + graph.in_degrees
    wanted = ratio * graph.edges

    def expected(scale: float) -> float:
        kept = np.minimum(scale * degrees, 1.0)
        return float((kept @ graph.out_degrees) * (kept @ graph.in_degrees)) / graph.edges

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if expected(middle) < wanted else (low, middle)
    return np.flatnonzero(rng.random(graph.vertices) < np.minimum(high * degrees, 1.0))
