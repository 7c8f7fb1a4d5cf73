"""The best that is known of what an algorithm costs on a cluster, and how sure it is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.prediction.seconds.cluster.cluster_costs import ClusterCosts, fit_cluster_costs
from predict_graph.prediction.seconds.cluster.learning import Learned
from predict_graph.prediction.seconds.cluster.level import (
    UNKNOWN,
    level_of_runs,
    shipped_costs,
    superstep_seconds_of,
)
from predict_graph.prediction.seconds.cluster.real_runs import between_graphs_std
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.session_phases import CommonPhases
from predict_graph.prediction.seconds.cluster.shipped_lessons import shipped_name, shipped_runs

__all__ = ["KnownCosts", "known_costs"]

_OTHER_GRAPH = (
    "the sample runs are of another graph, whose records may be longer or shorter; --budget none "
    "runs samples of this one, which makes the seconds surer"
)
_REAL_RUNS = (
    "the seconds are learned from real runs of other graphs alone; learn, or --budget none, runs "
    "samples on the cluster, which makes them surer"
)
_OTHER_ALGORITHMS = (
    "nothing is known of this algorithm on the cluster with these settings: the seconds are what "
    "other runs took there; learn, or --budget none, runs samples of it, which makes them surer"
)
_ANOTHER_CLUSTER = (
    "nothing ran on this cluster yet: the seconds are what runs took on another, and may be off by "
    "a factor; learn, or --budget none, runs samples on it"
)
_STAND_IN_STD = 0.5  # of an algorithm priced as another (docs/studies/cold-start.md)


@dataclass(frozen=True)
class KnownCosts:
    """What is known of the costs of one algorithm.

    Parameters
    ----------
    costs : ClusterCosts
    runs : list of ClusterRun
        That say how long records are, and what memory holds.
    others : list of ClusterRun
        Real runs.
    source : str
        In a word or two.
    std, common_std : float
        Relative: of supersteps, and of all phases together.
    slower : float
        How much longer tasks take than those of the shipped lessons.
    samples : list of ClusterRun
        Those of the runs that ran on this cluster as samples.
    warnings : list of str
    more : str
        What a larger budget would buy.
    """

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
    """Return what was learned of one algorithm of a chain, or what the package brings of it.

    Parameters
    ----------
    learned : Learned
    number : int
        Of the algorithm in the chain.
    algorithm : Algorithm
    engine : SparkEngine
    cost_model : str, optional
        Of a registered cost model.

    Raises
    ------
    JobError
        If no run is left to learn from.
    """
    runs, others = learned.runs[number], learned.others[number]
    if learned.level is not None and not others:
        return _by_shipped(learned, runs, algorithm, engine, cost_model)
    # A session that a person opened costs nothing to open.
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
    """Return the shipped costs at the level of real runs, and its std; None where a fit is better.

    A few cold runs of whole graphs say how slow the cluster is, and not what costs grow with: the
    way that was less off on runs that it had not seen is taken, and the level if one run is all
    that there is. A log does not know messages, so that no level follows from it.
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
    """Return what the shipped lessons say, at the level of the cluster."""
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
    stand_in = name != algorithm.name  # a superstep may do anything
    if stand_in:
        warnings.append(
            f"no run of {algorithm.name} is known: its supersteps are priced as those of {name}"
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
    return "lessons of the cluster" if again else "sample runs on the cluster"


def _contradicted(costs: ClusterCosts) -> list[str]:
    """Say that the newest real runs are outside of what the lessons before them said."""
    count = costs.contradicted
    if not count:
        return []
    off = math.expm1(float(np.mean(costs.errors[:count])))
    runs = "the newest real run" if count == 1 else f"the {count} newest real runs"
    return [
        f"{runs} on this cluster took {abs(off):.0%} {'longer' if off > 0 else 'less'} than its "
        "lessons say: these are corrected by that; learn makes new ones"
    ]
