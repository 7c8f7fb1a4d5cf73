"""Which samples to run on the cluster: at a few sizes and a few machine counts, cold and warm.

The first supersteps of a fresh Java process are slow. Each session therefore runs its largest
sample twice at least: the last of these runs shows what the work costs, the difference what the
start costs. It is the largest because code that is not compiled yet is slow on every row, until
it is.

Folded samples have the work of the graph, but mix its neighbours: what is sent along them has more
different values, and compresses less. One run is therefore of a walk sample: its records are about
as long as those of the graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from costmodels.design import optimal_design
from predict_graph.algorithms import Algorithm
from predict_graph.engines.spark.functions.algorithm import FunctionAlgorithm

__all__ = [
    "WantedSample",
    "affordable_points",
    "sample_plan",
    "supersteps_run",
    "training_points",
]

_STEADY_SUPERSTEPS = 6  # a choice, of what sample runs cost, as those below: docs/studies/spark.md
_SUPERSTEPS = 15  # of an algorithm whose supersteps differ, at most; a choice
_SESSION_COST = 1.0  # of starting a session, in runs of the whole graph on one machine; a choice
_POINTS = 2  # sizes at each machine count, at least; a choice
_MOST_WORK = 0.05  # of tasks of sample runs, in runs of the graph; a choice
_ENOUGH_EDGES = 1_000_000  # for tasks to take longer than the driver; a choice
_FEWEST_EDGES = 300_000  # for tasks to take longer than what every one of them takes; a choice
_LARGEST_RATIO = 0.5  # a choice: of a sample


def training_points(
    ratios: tuple[float, ...], machines: tuple[int, ...], target: int
) -> dict[int, list[float]]:
    """Choose the ratios to run at each machine count: an I-optimal design for the real run.

    The design is for Ernest's terms as far as the machine counts can tell them apart (section 3.3
    of Ernest), and makes the variance of the prediction at the whole graph on `target` machines
    small for its cost.

    Parameters
    ----------
    ratios : tuple of float
        Candidates, ascending.
    machines : tuple of int
        Candidates, ascending.
    target : int
        Machines of the real run.

    Returns
    -------
    dict of int to list of float
        Machine count to ratios, ascending.

    Examples
    --------
    >>> training_points((0.05, 0.1, 0.2), (1, 2), 4)
    {1: [0.05, 0.2], 2: [0.1, 0.2]}
    """
    grid = pd.DataFrame(
        [(ratio, count) for count in machines for ratio in ratios], columns=["scale", "machines"]
    )
    grid["cost"] = _SESSION_COST / len(ratios) + grid["scale"] / grid["machines"]
    terms = ["1", "scale/machines", *(["machines"] if len(machines) > 1 else [])]
    cheapest = grid.sort_values("cost")["cost"].to_numpy()
    budget = float(cheapest[: len(terms)].sum() + len(machines) * cheapest.mean())
    try:
        design = optimal_design(
            grid,
            max(budget, float(np.sort(cheapest)[-len(terms) :].sum())),
            terms=terms,
            criterion="i",
            targets=pd.DataFrame({"scale": [1.0], "machines": [target]}),
        )
        points = design.points
        chosen = {count: set(points["scale"][points["machines"] == count]) for count in machines}
    except ValueError:  # too few candidates for a design: all of them
        chosen = {count: set(ratios) for count in machines}
    for own in chosen.values():
        for ratio in (ratios[0], ratios[-1]):
            if len(own) < _POINTS:
                own.add(ratio)
    return {count: sorted(chosen[count]) for count in machines}


def supersteps_run(algorithm: Algorithm) -> int:
    """Return the supersteps of a sample run, at most; a library cannot be told to stop."""
    if "twin" in algorithm.sampled_by:
        return algorithm.max_iterations
    return _STEADY_SUPERSTEPS if algorithm.steady else _SUPERSTEPS


def affordable_points(
    points: dict[int, list[float]],
    target: int,
    edges: int,
    algorithm: Algorithm,
    work: npt.NDArray[np.float64] | None = None,
) -> dict[int, list[float]]:
    """Return smaller ratios for large graphs, and larger ones for small graphs.

    All ratios shrink alike, until the tasks of all sample runs together take a twentieth of the
    time of those of the real run; but not below what a superstep needs to say what work costs,
    a million edges in the largest sample. A job that runs for an hour is not run on a fifth of its
    graph six times.

    Samples of less than 300,000 edges are all constant cost and noise. Ratios grow until the
    largest has so many, or half of the graph: of such a graph that is seconds.

    Parameters
    ----------
    points : dict of int to list of float
        See :func:`training_points`.
    target : int
        Machines of the real run.
    edges : int
        Of the graph.
    algorithm : Algorithm
    work : ndarray of float64, optional
        Of each iteration of the real run, in any unit; sample runs stop after the first few. By
        default they are taken to have as many iterations as the real run.

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
    """A sample: a walk of the user's choice, or folded.

    Parameters
    ----------
    ratio : float
        Of the edges, to tell costs by; of the vertices, to tell iterations by.
    walk : bool
    purpose : str
        As in :class:`~predict_graph.iterations.SampleSummary`.
    """

    ratio: float
    walk: bool
    purpose: str = "cost"


def _in_session(sizes: list[float]) -> list[float]:
    """Return the ratios of the runs of a session, in their order: the largest first, and twice."""
    return [sizes[-1], *sizes[::-1]]


def sample_plan(
    points: dict[int, list[float]], algorithm: Algorithm, ratio: float
) -> dict[int, list[WantedSample]]:
    """Return the samples to run in each session, in their order: the largest first, and twice.

    Walks have too few vertices for their edges, so that what the state costs and what the messages
    cost could not be told apart on them alone: all are folded but one, as large as the largest,
    which stands for the smallest sample on the most machines if there are others of that size. The
    iterations of a function of one's own are told by two walks there, of `ratio` and of twice as
    much.
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
