"""Real runs on a cluster as evidence: from `run`, and from event logs of past jobs.

If there are no other runs, predictions use them alone. With training runs, they provide the error
of those: its root mean square, and whether the newest runs still agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.history import History, machine_identity
from predict_graph.intervals import QUANTILE
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.training_runs import (
    cluster_run,
    cluster_settings,
    same_superstep,
)

_NEWEST_RUNS = 20  # limits old data
# Of supersteps predicted from samples of another graph (docs/studies/spark.md)
_OTHER_GRAPH_STD = 0.35
# Weight of the value above in real runs: trades off prior for evidence; not tuned
_PRIOR_RUNS = 3.0


def real_runs(
    history: History | None, algorithm: Algorithm, engine: SparkEngine, graph: AnyGraph
) -> list[ClusterRun]:
    """Return the newest real runs of an algorithm on a cluster, at any machine count.

    Standalone, YARN and Kubernetes clusters are identified by their master, regardless of the
    driver's machine; local Spark is identified by this machine.
    """
    if history is None:
        return []
    here = machine_identity() if engine.settings.local else None
    found = history.training_runs(
        algorithm.name, cluster_settings(engine), here, limit=_NEWEST_RUNS
    )
    runs = []
    for record in found:
        # A log does not contain the parameters.
        if record.parameters and not same_superstep(record.parameters, algorithm.to_dict()):
            continue
        other = record.fingerprint != graph.fingerprint
        runs.append(cluster_run(record, first=True, elsewhere=other))
    return runs


def contradictions(errors: Sequence[float], std: float) -> int:
    """Return how many of the newest real runs, in a row, lie outside the prediction interval.

    Examples
    --------
    >>> contradictions([0.9, -0.8, 0.1, 2.0], 0.2)
    2
    """
    count = 0
    for error in errors:
        if abs(error) <= QUANTILE * std:
            break
        count += 1
    return count


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
