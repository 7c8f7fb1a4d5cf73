"""What a run is expected to take before it starts: where its remaining time starts from.

A prediction that the user made before; else earlier runs of the same graph; else a baseline
estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from predict_graph.algorithms import Algorithm
from predict_graph.clock import Expected, read_expected
from predict_graph.clock.expected import expected_of
from predict_graph.engines import Engine, EstimationContext, FixedSpending
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.functions.algorithm import FunctionAlgorithm
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.history import History, RunRecord
from predict_graph.iterations import IterationEstimate
from predict_graph.iterations.replay import replay_estimate
from predict_graph.iterations.whole_run import recalled_estimate
from predict_graph.prediction.baseline import (
    Baseline,
    baseline_iterations,
    baseline_runtimes,
    baselines_of,
)
from predict_graph.prediction.evidence_plan import Spending
from predict_graph.prediction.outcome import Prediction, assembled
from predict_graph.prediction.recalled import from_earlier_runs, known_runs, workloads_on
from predict_graph.prediction.request import Request
from predict_graph.prediction.seconds.cluster.runtime_model import ClusterRuntimeModel
from predict_graph.prediction.seconds.earlier_runs import of_this_engine

Expect = Prediction | Mapping[str, Any] | str | PathLike[str]
"""A prediction, its JSON as a mapping, or a file of that."""


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


def baseline_prediction(graph: AnyGraph, request: Request, history: History | None) -> Prediction:
    """Return the prediction of a run without measuring anything of it.

    Earlier runs of the same job on this graph, or else a baseline estimate; supersteps of a library
    are counted by its replay, which the run needs in any case.
    """
    request = replace(request, algorithm=request.algorithm.on(graph))
    chain, engine = request.chain, request.engine
    algorithms = [part.algorithm for part in chain]
    spending = Spending(request.budget, 0.0)
    records = known_runs(graph, algorithms, history)
    own = [of_this_engine(part, engine) for part in records]
    if records and all(own):
        return from_earlier_runs(graph, chain, own, spending)
    baselines = baselines_of(graph, algorithms, history)
    estimates = [
        _iterations(graph, baseline, engine, part)
        for baseline, part in zip(baselines, records or [[]] * len(baselines), strict=True)
    ]
    workloads = workloads_on(graph, chain, estimates)
    # The work of a user's function on Spark is known from runs of it alone.
    modelled = not isinstance(request.algorithm, FunctionAlgorithm) and isinstance(graph, Graph)
    if isinstance(engine, SparkEngine) and modelled:
        context = EstimationContext(
            seed=request.seed,
            history=history,
            progress=request.progress,
            spending=FixedSpending(full=False),
        )
        model = ClusterRuntimeModel(engine, graph, algorithms, context)
        runtimes = model.estimate(workloads)
    else:
        runtimes = baseline_runtimes(graph, baselines, workloads, engine, history)
    return assembled(graph, chain, estimates, workloads, runtimes, spending, measured=False)


def _iterations(
    graph: AnyGraph, baseline: Baseline, engine: Engine, records: Sequence[RunRecord]
) -> IterationEstimate:
    """Return iterations and counters: replayed, of a run on another engine, or a baseline."""
    algorithm = baseline.algorithm
    if isinstance(engine, SparkEngine) and isinstance(algorithm, LibraryAlgorithm):
        if isinstance(graph, Graph):
            return replay_estimate(algorithm, graph, engine.workers, engine.settings.partitions)
    elif records:
        return recalled_estimate(records[0], engine.workers)
    return baseline_iterations(graph, baseline, engine.workers)
