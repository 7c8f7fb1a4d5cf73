"""Predicting a run: iterations, counters, seconds, and how sure each is."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines import IterationProbe
from predict_graph.errors import RequestError
from predict_graph.functions import FunctionPrediction, is_function, predict_function
from predict_graph.graph import Graph, check_graph
from predict_graph.history import History, check_history
from predict_graph.iterations import (
    QUANTILE,
    EdgeBudget,
    IterationEstimate,
    estimate_iterations,
)
from predict_graph.prediction.costs import FittedCosts, TrainingSet, fit_costs, proportional_costs
from predict_graph.prediction.doubts import graph_doubts
from predict_graph.prediction.extrapolation import Extrapolator, counted
from predict_graph.prediction.hindsight import unseen_std
from predict_graph.prediction.prediction import Interval, Prediction
from predict_graph.prediction.repeats import with_repeats
from predict_graph.prediction.request import Request, check_options, check_request, direction
from predict_graph.prediction.training import (
    CostSamples,
    add_history,
    add_sample_table,
    run_cost_samples,
)
from predict_graph.prediction.transfer import Transfer, transfer_of, undisturbed_seconds

__all__ = ["predict"]

_MEASURED_STD = 0.18  # of a phase that was measured once: the next time differs so much
_COST_STD = 0.12  # of the cost of an iteration, what the training rows do not show


@overload
def predict(algorithm: str | Algorithm, graph: Any, **options: Any) -> Prediction: ...
@overload
def predict(algorithm: Callable[..., Any], graph: Any, **options: Any) -> FunctionPrediction: ...
def predict(
    algorithm: str | Algorithm | Callable[..., Any],
    graph: Any,
    *,
    directed: bool | None = None,
    ids: str = "integer",
    history: History | str | bool | None = None,
    **options: Any,
) -> Prediction | FunctionPrediction:
    """Predict the run of an algorithm on a graph, without running it.

    A function, or ``"module:function"``, is predicted by
    :func:`~predict_graph.functions.predictor.predict_function`, which says what the options are.

    Parameters
    ----------
    algorithm : str or Algorithm
        Name of a registered algorithm, or one with its parameters.
    graph : Graph, str, Path, networkx graph or scipy sparse array
        See :func:`~predict_graph.graph.check_graph`.
    directed : bool, optional
    ids : {'integer', 'string'}
    history : History, path, 'none' or None
        Where runs of other graphs are, and where the sample runs are kept; None for the default
        place.
    **options
        ``parameters`` (mapping, of the algorithm); ``engine`` (``"local"``), ``workers``,
        ``threads``; ``method`` (``"completion"`` or ``"published"``), ``sampler`` (``"brj"``),
        ``ratio`` (0.1), ``train_ratios`` (0.05, 0.1, 0.15, 0.2), ``transform``, ``cost_model``
        (``"forward-nnls"``), ``max_overhead`` (0.6), ``probe`` (True), ``seed``, ``progress``; with
        the Spark engine ``train_machines``: machine counts of the sample runs on the cluster, and
        ``reuse_samples`` (False): those of an earlier prediction in the history instead.

    Returns
    -------
    Prediction

    Raises
    ------
    RequestError
        If the graph cannot be read or an option is wrong.
    JobError
        If a sample run fails.
    """
    local = options.get("engine", "local") == "local"  # FILE.py:FUNCTION is a job on Spark, too
    if local and not isinstance(algorithm, Algorithm) and is_function(algorithm):
        options.pop("engine", None)
        return predict_function(
            algorithm, graph, directed=directed, ids=ids, history=history, **options
        )
    if not isinstance(algorithm, str | Algorithm):
        raise RequestError(
            f"an algorithm cannot be a {type(algorithm).__name__}; accepted: a name, an Algorithm, "
            "a function"
        )
    check_options(options)
    request = check_request(algorithm, **options)
    kept = check_history(history)
    whole = check_graph(
        graph, directed=direction(request.algorithm, directed), ids=ids, seed=request.seed
    )
    return predict_on(whole, request, kept)


def predict_on(graph: Graph, request: Request, history: History | None) -> Prediction:
    """Predict with everything checked and read, a chain of algorithms one by one.

    An algorithm with a prior (:attr:`Algorithm.prior`) runs after it, so the seconds of both are
    predicted; iterations and counters are those of the algorithm itself.
    """
    if request.engine.name == "spark":
        from predict_graph.prediction.cluster import predict_on_cluster

        return predict_on_cluster(graph, request, request.engine, history)
    prior = request.algorithm.prior
    if prior is None:
        return _predict_alone(graph, request, history)
    before = predict_on(graph, request.for_prior(prior), history)
    return _predict_alone(graph, request, history).after(before)


def _predict_alone(graph: Graph, request: Request, history: History | None) -> Prediction:
    started = time.perf_counter()
    streams = np.random.default_rng(request.seed).spawn(3)
    algorithm, engine = request.algorithm, request.engine
    request.progress("setting up", 0.0)
    setup_seconds = engine.prepare(algorithm, graph)
    probes = _probed(graph, request, streams[2])
    budget = EdgeBudget(graph.edges, request.max_overhead)
    estimate = estimate_iterations(
        graph,
        algorithm,
        engine,
        request.transform,
        method=request.method,
        sampler=request.sampler,
        ratio=request.ratio,
        budget=budget,
        rng=streams[0],
        progress=request.progress,
    )
    probes += _probed(graph, request, streams[2])
    estimate = with_repeats(estimate)
    training = TrainingSet()
    if estimate.timed is not None and engine.virtual_workers:
        samples = add_sample_table(estimate.timed.table, estimate.samples[-1], training)
    else:
        cheap = budget.for_run(estimate.iterations).for_costs
        allowed = None if request.method == "published" else cheap
        samples = run_cost_samples(graph, request, training, allowed, streams[1])
    history_runs = add_history(history, graph, request, training)
    table = _counters(graph, samples, estimate)
    probes += _probed(graph, request, streams[2])
    costs, cost_std, cost_notes = _costs(request, training, table, probes)
    transfer = transfer_of(estimate, len(table), probes)
    if transfer is None:
        table["seconds"] = costs.predict(table)
    else:
        cost_std, cost_notes = math.hypot(transfer.relative_std, _COST_STD), []
        table["seconds"] = transfer.seconds
        if history_runs:
            model_std = unseen_std(training, request.cost_model)
            table["seconds"], cost_std = _weighed(transfer, cost_std, costs, model_std, table)
    table["convergence"] = estimate.curve
    if history is not None:
        history.add_all(samples.records)
    phases = {
        "setup": setup_seconds,
        "read": graph.read_seconds,
        "superstep": float(table["seconds"].sum()),
        "write": 0.0,
    }
    return Prediction(
        algorithm={"name": algorithm.name, "parameters": algorithm.to_dict()},
        graph=graph.describe(),
        engine=engine.describe(),
        seed=request.seed,
        iterations=Interval(estimate.iterations, estimate.low, estimate.high),
        runtime_seconds=_runtime(phases, estimate, cost_std),
        phases=phases,
        per_iteration=table,
        samples=[*estimate.samples, *samples.summaries],
        cost_model={
            "name": costs.name,
            "terms": costs.terms,
            "r2": costs.r2,
            "relative_std": costs.relative_std,
            "rows": costs.rows,
            "runs": costs.runs,
            "history_runs": history_runs,
            "probe_factor": costs.factor,
            "transfer_factor": None if transfer is None else transfer.factor,
        },
        overhead_seconds=time.perf_counter() - started,
        edge_visits=estimate.edge_steps + samples.edge_steps,
        method={
            "name": estimate.method,
            "sampler": request.sampler,
            "ratio": request.ratio,
            "transform": request.transform.name,
            "threshold": algorithm.threshold(graph.vertices),
        },
        warnings=[
            *graph_doubts(graph),
            *estimate.warnings,
            *_empty_samples(samples),
            *cost_notes,
            *_convergence_doubts(estimate, algorithm),
        ],
    )


def _counters(graph: Graph, samples: CostSamples, estimate: IterationEstimate) -> pd.DataFrame:
    """Return the counters of each iteration: as the estimate says, or extrapolated from samples."""
    if estimate.counters is not None:
        return counted(estimate.counters)
    extrapolator = Extrapolator.between(
        graph.vertices, graph.edges, samples.vertices, samples.edges
    )
    return extrapolator.extrapolate(samples.rows, estimate.iterations)


def _probed(graph: Graph, request: Request, rng: np.random.Generator) -> list[IterationProbe]:
    """Measure an iteration on a small part of the graph, if that is asked for and can be.

    Done at several moments of a prediction, because the machine may be busy with something else.
    """
    if not request.probe:
        return []
    request.progress("probing the cost of an edge", 0.0)
    found = request.engine.probe(request.algorithm, graph, rng)
    return [] if found is None else [found]


def _costs(
    request: Request,
    training: TrainingSet,
    table: pd.DataFrame,
    probes: list[IterationProbe],
) -> tuple[FittedCosts, float, list[str]]:
    """Fit the cost model, and hold it against the probes of the whole graph's rows."""
    notes = []
    for probe in probes:
        for part in range(len(probe.rows)):
            training.add(probe.rows.iloc[[part]], own=True)
    costs = fit_costs(training, request.cost_model)
    if costs is None:
        costs = proportional_costs(training)
        notes.append(
            "the sample runs are too small or too alike to fit a cost model: seconds are in "
            "proportion to the work of the sample runs"
        )
    if not probes:
        std = costs.relative_std / math.sqrt(max(costs.runs, 1))
        return costs, math.hypot(std, _COST_STD), notes
    seconds, std = undisturbed_seconds(probes)
    return costs.scaled_to(table.iloc[:1], seconds), math.hypot(std, _COST_STD), notes


def _weighed(
    transfer: Transfer,
    transfer_std: float,
    costs: FittedCosts,
    model_std: float,
    table: pd.DataFrame,
) -> tuple[npt.NDArray[np.float64], float]:
    """Return the seconds of each iteration by two witnesses, and how sure they are together.

    The sample run and the model that has learned from runs of other graphs count by the inverse of
    their squared deviations, in logarithms.
    """
    modelled, total = float(costs.predict(table).sum()), float(transfer.seconds.sum())
    if modelled <= 0.0 or total <= 0.0:
        return transfer.seconds, transfer_std
    trust = transfer_std**2 / (transfer_std**2 + model_std**2)
    std = transfer_std * model_std / math.hypot(transfer_std, model_std)
    return transfer.seconds * (modelled / total) ** trust, max(std, _COST_STD)


def _runtime(phases: dict[str, float], estimate: IterationEstimate, cost_std: float) -> Interval:
    total = sum(phases.values())
    iteration_std = math.log(max(estimate.high, 1) / max(estimate.low, 1)) / 2.0 / QUANTILE
    spread = math.hypot(
        phases["superstep"] * math.hypot(iteration_std, cost_std),
        _MEASURED_STD * (phases["setup"] + phases["read"]),
    )
    factor = math.exp(QUANTILE * _share(spread, total))
    return Interval(total, total / factor, total * factor)


def _empty_samples(samples: CostSamples) -> list[str]:
    if samples.edges:
        return []
    return [
        "the samples that train the cost model have no edges, so messages are not extrapolated: "
        "they count as 0; allow larger train ratios or more overhead"
    ]


def _convergence_doubts(estimate: IterationEstimate, algorithm: Algorithm) -> list[str]:
    if estimate.converged:
        return []
    return [
        f"the run will probably stop at its limit of {algorithm.max_iterations} iterations, "
        "before it has converged"
    ]


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
