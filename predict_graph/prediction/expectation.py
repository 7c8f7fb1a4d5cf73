"""What a run is expected to take, for next to nothing: where the clock of a run starts from.

A prediction that the user made before; else earlier runs of the same graph; else a baseline
estimate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.clock import Expected, ExpectedPart, read_expected
from predict_graph.clock.expected import expected_of
from predict_graph.engines import Engine, EstimationContext, FixedSpending, per_iteration
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.functions.algorithm import FunctionAlgorithm
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.history import History, RunRecord, machine_identity
from predict_graph.intervals import Interval
from predict_graph.iterations.replay import replay_estimate
from predict_graph.iterations.whole_run import recalled_estimate
from predict_graph.prediction.baseline import (
    BASELINE,
    Baseline,
    baseline_iterations,
    baselines_of,
    chain_of,
)
from predict_graph.prediction.evidence_plan import OTHER_ENGINES, known_runs
from predict_graph.prediction.outcome import Prediction
from predict_graph.prediction.request import is_local
from predict_graph.prediction.seconds.cluster import ClusterRuntimeModel
from predict_graph.prediction.seconds.earlier_runs import ONCE_STD, of_this_engine
from predict_graph.prediction.work import workloads_of

__all__ = ["Expect", "cheap_expectation", "check_expect", "check_fits"]

Expect = Prediction | Mapping[str, Any] | str | PathLike[str]
"""A prediction, its JSON as a mapping, or a file of that."""

_KNOWN_STD = 0.1  # of log seconds, by runs elsewhere; judgement (docs/studies/remaining.md)
_OTHER_STD = 1.0  # of log of how much longer another engine takes; judgement, not measured
_NEWEST_RUNS = 20  # a choice
# Seconds on Spark, however small the graph: opening a session, and a superstep once warm:
# judgement, beside docs/studies/spark.md (0.5 s for 128 vertices).
_OPENING, _LEAST_SUPERSTEP = 8.0, 0.3


def check_expect(expect: Expect) -> tuple[Expected, Mapping[str, Any]]:
    """Return what a prediction expects, and its JSON.

    Raises
    ------
    RequestError
        If it is no prediction of an algorithm.
    """
    if isinstance(expect, Prediction):
        document: Mapping[str, Any] = expect.to_dict()
        return expected_of(document, "the prediction"), document
    if isinstance(expect, Mapping):
        return expected_of(expect, "expect"), expect
    return read_expected(expect)


def check_fits(
    document: Mapping[str, Any], algorithm: Algorithm, engine: Engine, graph: Any
) -> None:
    """Check that a prediction is one of the run that begins.

    Parameters
    ----------
    document : mapping
    algorithm : Algorithm
    engine : Engine
    graph : Graph or SparkGraph

    Raises
    ------
    RequestError
        If it is of another algorithm, parameter, graph or engine.
    """
    described = engine.describe()
    predicted = document.get("engine", {})
    pairs: list[tuple[str, Any, Any]] = [
        ("algorithm", document["algorithm"]["name"], algorithm.name),
        ("engine", predicted.get("name"), engine.name),
        ("machines", predicted.get("machines"), described.get("machines")),
        ("threads", predicted.get("threads"), described.get("threads")),
    ]
    given = document["algorithm"].get("parameters", {})
    own = algorithm.to_dict()
    pairs += [
        (f"parameter {name}", given.get(name), own.get(name)) for name in sorted({*given, *own})
    ]
    sizes = document.get("graph", {})
    pairs += [
        ("number of vertices", sizes.get("vertices"), graph.vertices),
        ("number of edges", sizes.get("edges"), graph.edges),
    ]
    for what, expected, actual in pairs:
        if expected != actual:
            raise RequestError(
                f"what is expected is of the {what} {expected}, but the run has {actual}; "
                "accepted: a prediction of this run"
            )


def cheap_expectation(
    algorithm: Algorithm,
    engine: Engine,
    graph: Any,
    history: History | None,
    elapsed: float = 0.0,
) -> Expected:
    """Return what a run is expected to take, without measuring anything.

    Parameters
    ----------
    algorithm : Algorithm
    engine : Engine
    graph : Graph or SparkGraph
        Read already.
    history : History, optional
    elapsed : float
        Seconds since the run began, in which the graph was read.
    """
    algorithms = chain_of(algorithm)
    records = known_runs(graph, algorithms, history)
    told = [of_this_engine(part, engine) for part in records]
    if records and all(told):
        return _from_records(algorithms, told)
    baselines = baselines_of(graph, algorithms, history)
    # What a superstep of a function of one's own does is known from runs of it alone.
    ours = not isinstance(algorithm, FunctionAlgorithm)
    if isinstance(engine, SparkEngine) and isinstance(graph, Graph) and ours:
        return _on_cluster(engine, graph, baselines, records, history, elapsed)
    parts = [
        _from_baseline(graph, baseline, engine, history, record)
        for baseline, record in zip(baselines, records or [[]] * len(baselines), strict=True)
    ]
    setup = sum(baseline.setup_seconds for baseline in baselines)
    setup *= 1.0 if is_local(engine) else OTHER_ENGINES
    setup += _OPENING if engine.name == "spark" else 0.0
    source = "a baseline estimate"
    if any(baseline.runs for baseline in baselines):
        source = "runs of other graphs"
    if records:
        source = "runs of this graph on another engine"
    return _together(parts, setup + max(graph.read_seconds, elapsed), 0.0, source)


def _on_cluster(
    engine: SparkEngine,
    graph: Graph,
    baselines: Sequence[Baseline],
    records: Sequence[Sequence[RunRecord]],
    history: History | None,
    elapsed: float,
) -> Expected:
    """Return the expected run as a prediction without a budget would: baseline supersteps, with
    the seconds of its runtime model.

    Those of a library are counted by the replay, which the run asks in any case: once, at its end.
    """
    algorithms = [baseline.algorithm for baseline in baselines]
    partitions = engine.settings.partitions
    estimates = [
        replay_estimate(baseline.algorithm, graph, engine.workers, partitions)
        if isinstance(baseline.algorithm, LibraryAlgorithm)
        else recalled_estimate(own[0], engine.workers)
        if own
        else baseline_iterations(graph, baseline, engine.workers)
        for baseline, own in zip(baselines, records or [[]] * len(baselines), strict=True)
    ]
    workloads = workloads_of(graph, algorithms, estimates, engine.workers)
    context = EstimationContext(
        seed=0,
        history=history,
        progress=lambda text, fraction: None,
        spending=FixedSpending(full=False),
    )
    runtimes = ClusterRuntimeModel(engine, graph, algorithms, context).estimate(workloads)
    parts = [
        ExpectedPart(
            each.name,
            float(estimate.iterations),
            0.0 if estimate.method != BASELINE else baseline.iterations_std,
            runtime.rows.floats("seconds"),
            math.hypot(runtime.relative_std, runtime.common_std),
            None if estimate.method == BASELINE else estimate.curve,
        )
        for each, baseline, estimate, runtime in zip(
            algorithms, baselines, estimates, runtimes, strict=True
        )
    ]
    setup = sum(runtime.phases["setup"] for runtime in runtimes)
    reading = max(runtimes[0].phases["read"], elapsed)
    common = max(runtime.common_std for runtime in runtimes)
    return _together(parts, setup + reading, 0.0, runtimes[-1].evidence[0].name, common)


def _from_records(
    algorithms: Sequence[Algorithm], records: Sequence[Sequence[RunRecord]]
) -> Expected:
    parts, before = [], 0.0
    for algorithm, own in zip(algorithms, records, strict=True):
        tables = [per_iteration(record.rows) for record in own]
        count = own[0].iterations
        alike = [table["seconds"] for table in tables if len(table) == count]
        std = max(ONCE_STD / math.sqrt(len(alike)), 0.05)  # judgement
        seconds = np.mean(alike, axis=0)
        curve = _curve(own[0])
        parts.append(ExpectedPart(algorithm.name, count, 0.0, seconds, std, curve))
        before += float(np.mean([each.phases["setup"] for each in own]))
    before += float(np.mean([each.phases["read"] for each in records[-1]]))
    runs = len(records[-1])
    source = "an earlier run of this graph" if runs == 1 else f"{runs} earlier runs of this graph"
    return _together(parts, before, 0.0, source)


def _curve(record: RunRecord) -> Any:
    values = per_iteration(record.rows).floats("convergence")
    return values if np.isfinite(values).all() else None


def _from_baseline(
    graph: Any,
    baseline: Baseline,
    engine: Engine,
    history: History | None,
    records: Sequence[RunRecord],
) -> ExpectedPart:
    count, std, curve = baseline.iterations, baseline.iterations_std, None
    if records:  # on another engine: as many supersteps, other seconds
        count, std, curve = float(records[0].iterations), 0.0, _curve(records[0])
    each = baseline.superstep_seconds / max(baseline.iterations, 1.0)
    seconds_std = baseline.relative_std
    if not is_local(engine):
        found = _elsewhere(baseline.algorithm, engine, graph, history)
        least = _LEAST_SUPERSTEP if engine.name == "spark" else 0.0
        rough = max(each * OTHER_ENGINES, least), _OTHER_STD
        each, seconds_std = rough if found is None else found
    seconds = np.full(max(round(count), 1), each)
    return ExpectedPart(baseline.algorithm.name, count, std, seconds, seconds_std, curve)


def _elsewhere(
    algorithm: Algorithm, engine: Engine, graph: Any, history: History | None
) -> tuple[float, float] | None:
    """Return the seconds of a superstep by runs and samples on this engine, and their std.

    The median of seconds that hardly depend on the size, plus those of an edge, is not known from a
    run or two: the run whose edges are nearest says it.
    """
    if history is None:
        return None
    settings = engine.describe()
    found = history.training_runs(
        algorithm.name,
        settings,
        machine_identity(),
        kinds=("run", "sample"),
        limit=_NEWEST_RUNS,
    )
    if not found:
        return None
    near = []
    for run in found:
        each = float(np.median(per_iteration(run.rows)["seconds"]))
        larger = math.log(max(graph.edges, 1) / max(run.edges, 1))
        near.append((abs(larger), larger, each))
    distance, larger, each = min(near)
    # Between not at all and in proportion; wider, the further away.
    return each * math.exp(0.5 * larger), _KNOWN_STD + 0.3 * distance  # judgement


def _together(
    parts: Sequence[ExpectedPart],
    before: float,
    after: float,
    source: str,
    common_std: float = 0.0,
) -> Expected:
    """Put what is expected of the parts of a chain together; all of it may be off together."""
    own = [float(part.seconds.sum()) for part in parts]
    total = before + sum(own) + after
    variance = sum(
        (seconds * math.hypot(part.iterations_std, part.seconds_std)) ** 2
        for seconds, part in zip(own, parts, strict=True)
    )
    relative = math.hypot(math.sqrt(variance) / max(total, 1e-9), common_std)
    figure = Interval.spread(total, math.sqrt(math.log1p(relative**2)))
    return Expected(tuple(parts), before, figure, after, source)
