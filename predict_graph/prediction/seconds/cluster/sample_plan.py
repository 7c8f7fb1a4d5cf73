"""The plan of sample runs on a cluster: sizes and machine counts, cold and warm.

The first supersteps of a new JVM are slow. Each session therefore runs its largest sample at least
twice: the last of these runs shows the cost of the work, and the difference the JVM warm-up. The
largest is used because code that is not yet compiled is slow on every row.

Folded samples have the work of the graph, but mix its neighbours, so that messages differ more and
compress less. One run therefore uses a walk sample, whose records are about as long as those of the
graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import Algorithm
from predict_graph.engines.spark.functions.algorithm import FunctionAlgorithm
from predict_graph.prediction.seconds.sample_runs import STEADY_ITERATIONS

# Limits the cost of sample runs, like the constants below (docs/studies/spark.md): supersteps of an
# algorithm whose supersteps differ.
_SUPERSTEPS = 15
_MOST_WORK = 0.05  # of tasks of sample runs, in runs of the graph: limits the cost
_ENOUGH_EDGES = 1_000_000  # bounds samples from below, so that tasks take longer than the driver
# Bounds samples from below, so that tasks take longer than their fixed costs
_FEWEST_EDGES = 300_000
_LARGEST_RATIO = 0.5  # limits a sample


def training_points(ratios: tuple[float, ...], machines: tuple[int, ...]) -> dict[int, list[float]]:
    """Return the ratios to run at each machine count: the smallest and the largest.

    Examples
    --------
    >>> training_points((0.05, 0.1, 0.2), (1, 2))
    {1: [0.05, 0.2], 2: [0.05, 0.2]}
    """
    return {count: sorted({min(ratios), max(ratios)}) for count in machines}


def supersteps_run(algorithm: Algorithm) -> int:
    """Return the limit of supersteps of a sample run; library algorithms cannot be stopped."""
    if "replay" in algorithm.sampled_by:
        return algorithm.max_iterations
    return STEADY_ITERATIONS if algorithm.steady else _SUPERSTEPS


def affordable_points(
    points: dict[int, list[float]],
    target: int,
    edges: int,
    algorithm: Algorithm,
    work: npt.NDArray[np.float64] | None = None,
) -> dict[int, list[float]]:
    """Return smaller ratios for large graphs, and larger ones for small graphs.

    All ratios shrink alike until the tasks of all sample runs take a twentieth of the time of the
    real run, but not below a million edges in the largest sample, which costs can be measured on.

    Samples of less than 300,000 edges are dominated by constant costs and noise. Ratios grow until
    the largest has so many edges, or half of the graph, which takes seconds.

    Examples
    --------
    >>> from predict_graph.algorithms import check_algorithm
    >>> job, even = check_algorithm("pagerank"), np.ones(24)
    >>> affordable_points({1: [0.1, 0.2]}, 1, 2_000_000, job, even)
    {1: [0.1, 0.2]}
    >>> affordable_points({1: [0.1, 0.2]}, 1, 20_000_000, job, even)
    {1: [0.04, 0.08]}
    >>> affordable_points({1: [0.1, 0.2]}, 1, 100_000, job, even)
    {1: [0.25, 0.5]}
    """
    share = 1.0
    if work is not None and work.sum() > 0:
        share = float(work[: supersteps_run(algorithm)].sum() / work.sum())
    runs = [size / machines for machines, own in points.items() for size in _in_session(own)]
    largest = max(size for own in points.values() for size in own)
    affordable = _MOST_WORK / (target * share * sum(runs))
    whole = largest * max(edges, 1)  # edges of the largest sample
    factor = min(max(affordable, _ENOUGH_EDGES / whole), 1.0)
    factor = max(factor, min(_FEWEST_EDGES / whole, _LARGEST_RATIO / largest))
    return {
        machines: [float(f"{factor * size:.4g}") for size in own]
        for machines, own in points.items()
    }


@dataclass(frozen=True)
class WantedSample:
    """A sample to run: a walk by the user's sampler, or folded."""

    ratio: float
    walk: bool
    purpose: str = "cost"


def _in_session(sizes: list[float]) -> list[float]:
    """Return the ratios of the runs of a session, in order: the largest first, and twice."""
    return [sizes[-1], *sizes[::-1]]


def sample_plan(
    points: dict[int, list[float]], algorithm: Algorithm, ratio: float
) -> dict[int, list[WantedSample]]:
    """Return the samples of each session, in order: the largest first, and twice.

    Walk samples have too few vertices for their edges to separate costs of vertices from costs of
    messages. All samples are therefore folded except one, as large as the largest, which replaces
    the smallest sample on the most machines if there are others of that size. For a user function,
    two walks there, of `ratio` and of twice as much, estimate the iterations.
    """
    plan = {
        machines: [WantedSample(size, walk=False) for size in _in_session(sizes)]
        for machines, sizes in points.items()
    }
    last = plan[max(points)]
    if isinstance(algorithm, FunctionAlgorithm):
        last += [WantedSample(size, True, "iterations") for size in (ratio, min(2.0 * ratio, 1.0))]
    else:
        plan[max(points)] = [*(last[:-1] if len(points) > 1 else last), replace(last[0], walk=True)]
    return plan
