"""The best available cost model of an algorithm on a cluster, with its uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.prediction.seconds.cluster.cluster_costs import ClusterCosts, fit_cluster_costs
from predict_graph.prediction.seconds.cluster.cluster_speed import (
    UNKNOWN,
    level_of_runs,
    shipped_costs,
    superstep_seconds_of,
)
from predict_graph.prediction.seconds.cluster.learning import Learned
from predict_graph.prediction.seconds.cluster.real_runs import between_graphs_std
from predict_graph.prediction.seconds.cluster.reference_runs import shipped_name, shipped_runs
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.session_phases import CommonPhases

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


@dataclass(frozen=True)
class KnownCosts:
    """The costs of one algorithm."""

    costs: ClusterCosts
    runs: list[ClusterRun]
    others: list[ClusterRun]
    source: str
    std: float
    common_std: float = 0.0
    slower: float = 1.0
    samples: list[ClusterRun] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    more: str = ""


def known_costs(
    learned: Learned,
    number: int,
    algorithm: Algorithm,
    engine: SparkEngine,
    cost_model: str | None,
) -> KnownCosts:
    """Return the fitted costs of one algorithm of a chain, or those of bundled reference runs."""
    runs, others = learned.runs[number], learned.others[number]
    if learned.level is not None and not others:
        return _by_shipped(learned, runs, algorithm, engine, cost_model)
    # A session of the user is open already.
    common = None if engine.in_open_session else learned.cluster.common
    like = learned.cluster.applied(shipped_costs(shipped_name(algorithm)))
    costs = fit_cluster_costs(runs, others, cost_model, common, like)
    common_std = 0.0
    if not runs and cost_model is None:
        better = _by_level(others, algorithm, costs, engine, common)
        if better is not None:
            costs, common_std = better
    telling = runs or [run for run in others if not run.elsewhere] or others
    elsewhere = all(run.elsewhere for run in telling)
    warnings = _contradicted(costs)
    if elsewhere:
        warnings.insert(0, _OTHER_GRAPH if runs else _REAL_RUNS)
    return KnownCosts(
        costs,
        telling,
        others,
        _source(runs),
        math.hypot(costs.relative_std, between_graphs_std(costs.errors) if elsewhere else 0.0),
        common_std,
        learned.cluster.tasks,
        samples=telling,
        warnings=warnings,
    )


def _by_level(
    others: list[ClusterRun],
    algorithm: Algorithm,
    fitted: ClusterCosts,
    engine: SparkEngine,
    common: CommonPhases | None,
) -> tuple[ClusterCosts, float] | None:
    """Return the reference costs scaled to real runs, and the error; None where a fit is better.

    A few cold runs of whole graphs show the cluster's relative speed, but not how costs grow. The
    method with the lower error in cross-validation is used, and scaling for a single run. Logs
    contain no messages and give no scale.
    """
    name = shipped_name(algorithm)
    if name != algorithm.name or any(run.seen_by_log for run in others):
        return None
    shipped = shipped_costs(name)
    errors = []
    for run in others if len(others) > 1 else ():
        rest = level_of_runs([each for each in others if each is not run], shipped)
        measured, said = superstep_seconds_of(run, rest.applied(shipped))
        errors.append(math.log(measured / said))
    if errors and np.mean(np.square(errors)) > np.mean(np.square(fitted.errors)):
        return None
    level = level_of_runs(others, shipped, common)
    costs = level.applied(shipped, is_open=engine.in_open_session)
    return replace(costs, errors=errors, runs=len(others)), level.std


def _by_shipped(
    learned: Learned,
    runs: list[ClusterRun],
    algorithm: Algorithm,
    engine: SparkEngine,
    cost_model: str | None,
) -> KnownCosts:
    """Return the costs of bundled reference runs, scaled to the speed of the cluster."""
    level = learned.level or UNKNOWN
    name = shipped_name(algorithm)
    costs = level.applied(shipped_costs(name, cost_model), is_open=engine.in_open_session)
    between = 0.0 if any(not run.elsewhere for run in runs) else between_graphs_std([])
    if runs:
        source, warnings = f"{_source(runs)}, too few for a model", []
    elif level.algorithms:
        source, warnings = "runs of other algorithms on the cluster", [_OTHER_ALGORITHMS]
    else:
        source, warnings = "runs on another cluster", [_ANOTHER_CLUSTER]
    stand_in = name != algorithm.name  # the actual superstep is unknown
    if stand_in:
        warnings.append(
            f"no run of {algorithm.name} is known: the estimate uses supersteps of {name}"
        )
    return KnownCosts(
        costs,
        runs or shipped_runs(name, first=True),
        [],
        source,
        math.hypot(costs.relative_std, between, _STAND_IN_STD if stand_in else 0.0),
        level.std,
        level.tasks,
        runs,
        warnings,
        learned.more,
    )


def _source(runs: list[ClusterRun]) -> str:
    if not runs:
        return "real runs on the cluster"
    again = all(run.again for run in runs)
    return "training runs of the cluster" if again else "sample runs on the cluster"


def _contradicted(costs: ClusterCosts) -> list[str]:
    """Warn if the newest real runs lie outside the interval of the earlier training runs."""
    count = costs.contradicted
    if not count:
        return []
    off = math.expm1(float(np.mean(costs.errors[:count])))
    runs = "the newest real run" if count == 1 else f"the {count} newest real runs"
    return [
        f"{runs} on this cluster took {abs(off):.0%} {'longer' if off > 0 else 'less'} than its "
        "training runs predict: the estimate is corrected; learn replaces them"
    ]
