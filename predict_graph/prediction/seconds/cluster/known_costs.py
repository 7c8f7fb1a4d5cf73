"""The best available costs of an algorithm on a cluster, with their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.intervals import QUANTILE
from predict_graph.prediction.seconds.cluster.cluster_costs import (
    ClusterCosts,
    costs_on_cluster,
    informative,
    typical_rows,
)
from predict_graph.prediction.seconds.cluster.cluster_speed import FACTORS, reference_costs
from predict_graph.prediction.seconds.cluster.learning import ENOUGH, Learned
from predict_graph.prediction.seconds.cluster.reference_runs import shipped_name, shipped_runs
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun

_OTHER_GRAPH = (
    "the sample runs are of another graph, whose records may be longer or shorter; --budget none "
    "runs samples of this one, which narrows the interval"
)
_REAL_RUNS = (
    "the runtime is estimated from real runs on other graphs only; learn, or --budget none, runs "
    "samples on the cluster, which narrows the interval"
)
_OTHER_ALGORITHMS = (
    "this algorithm has not run on the cluster with these settings: the estimate is from "
    "other algorithms; learn, or --budget none, runs samples of it, which narrows the interval"
)
_ANOTHER_CLUSTER = (
    "no runs on this cluster yet: the estimate is from another cluster, and may be wrong by "
    "a factor; learn, or --budget none, runs samples on it"
)
_STAND_IN_STD = 0.5  # of an algorithm estimated as another one (docs/studies/cold-start.md)
# Of supersteps predicted from samples of another graph (docs/studies/spark.md)
_OTHER_GRAPH_STD = 0.35
# Weight of the value above in real runs: trades off prior for evidence; not tuned
_PRIOR_RUNS = 3.0


@dataclass(frozen=True)
class KnownCosts:
    """The costs of one algorithm."""

    costs: ClusterCosts
    runs: list[ClusterRun]
    source: str
    std: float
    common_std: float
    slower: float
    samples: list[ClusterRun]
    history_runs: int = 0
    warnings: list[str] = field(default_factory=list)


def known_costs(
    learned: Learned,
    number: int,
    algorithm: Algorithm,
    engine: SparkEngine,
    cost_model: str | None,
) -> KnownCosts:
    """Return the costs of one algorithm of a chain: of bundled reference runs, at the speed of the
    cluster, and of its own runs there. Real runs correct those of sample runs.
    """
    samples, real = (
        [run for run in runs if not run.disturbed]
        for runs in (learned.runs[number], learned.others[number])
    )
    own = samples or real
    name = shipped_name(algorithm)
    speed = learned.speed.with_runs(name, own) if own else learned.speed
    factors = speed.factors(name)
    if engine.in_open_session:
        factors["opening"] = 0.0
    costs = costs_on_cluster(reference_costs(name, cost_model), factors, own)
    known = [run for run in own if not run.elsewhere] or own
    source = _source(samples, real)
    warnings: list[str] = []
    std, errors = costs.relative_std, costs.errors if real else []
    if samples and real:
        costs, errors, warnings = _corrected(costs, samples, real)
        std = costs.relative_std
    if not own:
        others = bool(speed.observed)
        source = "runs of other algorithms on the cluster" if others else "runs on another cluster"
        warnings = [_OTHER_ALGORITHMS if others else _ANOTHER_CLUSTER]
    elif all(run.elsewhere for run in known):
        warnings.insert(0, _OTHER_GRAPH if samples else _REAL_RUNS)
    if all(run.elsewhere for run in known):
        std = math.hypot(std, between_graphs_std(errors))
    judged = bool(costs.errors)  # by its own runs
    if name != algorithm.name and not judged:  # the actual superstep is unknown
        std = math.hypot(std, _STAND_IN_STD)
        if not own:
            warnings.append(
                f"no run of {algorithm.name} is known: the estimate uses supersteps of {name}"
            )
    return KnownCosts(
        costs,
        known or shipped_runs(name, first=True),
        source,
        std,
        0.0 if judged else speed.std(name),
        factors["tasks"],
        known,
        len(real),
        warnings,
    )


def _corrected(
    costs: ClusterCosts, samples: Sequence[ClusterRun], real: Sequence[ClusterRun]
) -> tuple[ClusterCosts, list[float], list[str]]:
    """Return the costs scaled to what real runs took after the sample runs; their errors; and a
    warning if they lie outside the interval.

    The factor is the mean of the errors, shrunk to its square root for a single run.
    """
    errors = {id(run): _superstep_error(costs, run) for run in real if not run.seen_by_log}
    times = [run.time for run in samples]
    newer = [
        errors[id(run)]
        for run in real
        if id(run) in errors
        and run.time is not None
        and all(time is not None and time < run.time for time in times)
    ]
    if not newer:
        return costs, [*errors.values()], []
    mean, weight = float(np.mean(newer)), len(newer) / (len(newer) + 1)
    factor = math.exp(weight * mean)
    outside = abs(mean) > QUANTILE * costs.relative_std
    std = math.hypot(costs.relative_std, mean * (1.0 - weight))
    corrected = costs.scaled({**dict.fromkeys(FACTORS, 1.0), "tasks": factor, "driver": factor})
    warnings = []
    if outside:
        off = math.expm1(mean)
        runs = "the newest real run" if len(newer) == 1 else f"the {len(newer)} newest real runs"
        warnings = [
            f"{runs} on this cluster took {abs(off):.0%} {'longer' if off > 0 else 'less'} than "
            "its training runs predict: the estimate is corrected; learn replaces them"
        ]
    return replace(corrected, relative_std=std), [*errors.values()], warnings


def _superstep_error(costs: ClusterCosts, run: ClusterRun) -> float:
    """Return log(measured / predicted) seconds of the supersteps of a run after JVM warm-up."""
    rows = typical_rows(run)
    predicted = costs.supersteps(rows, run.machines, warm=True)
    return math.log(float(rows["seconds"].sum()) / float(predicted.sum()))


def between_graphs_std(errors: Sequence[float]) -> float:
    """Return the error of training runs on another graph: a prior updated with errors seen here.

    This is the mean of an inverse-gamma posterior of the variance, in which the prior counts like a
    few real runs.

    Examples
    --------
    >>> between_graphs_std([]), round(between_graphs_std([0.05] * 9), 3)
    (0.35, 0.18)
    """
    seen = float(np.sum(np.square(errors))) if len(errors) else 0.0
    return math.sqrt((_PRIOR_RUNS * _OTHER_GRAPH_STD**2 + seen) / (_PRIOR_RUNS + len(errors)))


def _source(samples: Sequence[ClusterRun], real: Sequence[ClusterRun]) -> str:
    if not samples:
        return "real runs on the cluster" if real else ""
    again = all(run.again for run in samples)
    source = "training runs of the cluster" if again else "sample runs on the cluster"
    return source if len(informative(samples)) >= ENOUGH else f"{source}, too few for a model"
