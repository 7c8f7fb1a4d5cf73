"""Sample runs on the cluster: at a few sizes and a few machine counts, cold and warm.

The first supersteps of a fresh Java process are slow. Each session therefore runs its largest
sample twice: the second run shows what the work costs, the difference what the start costs. It is
the largest because code that is not compiled yet is slow on every row, until it is.

Folded samples have the work of the graph, but mix its neighbours: what is sent along them has more
different values, and compresses less. One run is therefore of a walk sample: its records are about
as long as those of the graph.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from costmodels.design import optimal_design
from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.own.algorithm import OwnAlgorithm
from predict_graph.graph import Graph
from predict_graph.iterations import SampleSummary, draw_sample
from predict_graph.prediction.cluster.exchanged import exchange_measures
from predict_graph.prediction.cluster.folding import folded
from predict_graph.prediction.request import Request

__all__ = ["ClusterRun", "WantedSample", "cluster_sample_runs", "sample_plan", "training_points"]

_STEADY_SUPERSTEPS = 6
_SUPERSTEPS = 15  # of an algorithm whose supersteps differ, at most
_SESSION_COST = 1.0  # of starting a session, in runs of the whole graph on one machine
_POINTS = 2  # sizes at each machine count, at least


@dataclass(frozen=True)
class ClusterRun:
    """A sample run on the cluster.

    Parameters
    ----------
    machines : int
    ratio : float
    cold : bool
        Whether it was the first of its session.
    session_seconds : float
        What opening the session took.
    profile : RunProfile
    summary : SampleSummary
    again : bool
        Whether it is of an earlier prediction, and was not run for this one.
    elsewhere : bool
        Whether it is of a sample of another graph.
    measures : ndarray of float64, optional
        Of what it ran on, for jobs of which nothing else is known; see
        :func:`~predict_graph.prediction.cluster.exchanged.exchange_measures`.
    """

    machines: int
    ratio: float
    cold: bool
    session_seconds: float
    profile: RunProfile
    summary: SampleSummary
    again: bool = False
    elsewhere: bool = False
    measures: npt.NDArray[np.float64] | None = None


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


def cluster_sample_runs(
    graph: Graph,
    algorithm: Algorithm,
    request: Request,
    engine: SparkEngine,
    points: dict[int, list[float]],
    rng: np.random.Generator,
) -> Iterator[ClusterRun]:
    """Run samples on the cluster; each is given as soon as it is done, so that none is lost.

    Parameters
    ----------
    graph : Graph
    algorithm : Algorithm
    request : Request
        Its sampler draws the samples of an algorithm whose supersteps differ.
    engine : SparkEngine
    points : dict of int to list of float
        See :func:`training_points`.
    rng : Generator

    Raises
    ------
    JobError
        If Spark fails.
    """
    samples: dict[WantedSample, Graph] = {}
    plan = sample_plan(points, algorithm, request.ratio)
    done, total = 0, sum(len(wanted) for wanted in plan.values())
    for machines, wanted in plan.items():
        there = engine.on(machines)
        with there.session() as session:
            for number, one in enumerate(wanted):
                request.progress(f"sample runs on {machines} machines", done / total)
                if one not in samples:
                    samples[one] = _sample(graph, request, one, rng)
                sampler = request.sampler if one.walk else "folded"
                yield _ran(
                    there,
                    session.seconds,
                    algorithm,
                    graph,
                    samples[one],
                    sampler,
                    one.purpose,
                    cold=number == 0,
                )
                done += 1


def _ran(
    engine: SparkEngine,
    opening: float,
    algorithm: Algorithm,
    graph: Graph,
    sample: Graph,
    sampler: str,
    purpose: str,
    *,
    cold: bool,
) -> ClusterRun:
    """Run a sample in the open session of an engine."""
    started = time.perf_counter()
    profile = engine.run(
        algorithm,
        sample,
        max_iterations=_STEADY_SUPERSTEPS if algorithm.steady else _SUPERSTEPS,
        threshold=0.0 if algorithm.steady else None,
    )
    machines, ratio = engine.workers, sample.vertices / graph.vertices
    summary = SampleSummary(
        sampler=sampler,
        ratio=ratio,
        vertices=sample.vertices,
        edges=sample.edges,
        iterations=profile.iterations,
        seconds=time.perf_counter() - started,
        purpose=purpose,
        note=f"{machines} machines" + (", cold" if cold else ""),
    )
    measures = None
    if isinstance(algorithm, OwnAlgorithm):
        measures = exchange_measures(sample, engine.settings.partitions)
    return ClusterRun(machines, ratio, cold, opening, profile, summary, measures=measures)


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


def sample_plan(
    points: dict[int, list[float]], algorithm: Algorithm, ratio: float
) -> dict[int, list[WantedSample]]:
    """Return the samples to run in each session, in their order: the largest first, and twice.

    Messages that depend on how neighbours are connected are right on walk samples only. Those have
    too few vertices for their edges, so that what the state costs and what the messages cost could
    not be told apart on them alone: for other algorithms there is one, as large as the largest, and
    it stands for the smallest sample on the most machines if there are others of that size. The
    iterations of a user's own job are told by two walks there, of `ratio` and of twice as much.
    """
    plan = {
        machines: [WantedSample(size, algorithm.clustered) for size in [sizes[-1], *sizes[::-1]]]
        for machines, sizes in points.items()
    }
    last = plan[max(points)]
    if isinstance(algorithm, OwnAlgorithm):
        last += [WantedSample(size, True, "iterations") for size in (ratio, min(2.0 * ratio, 1.0))]
    elif not algorithm.clustered:
        plan[max(points)] = [*(last[:-1] if len(points) > 1 else last), replace(last[0], walk=True)]
    return plan


def _sample(
    graph: Graph, request: Request, wanted: WantedSample, rng: np.random.Generator
) -> Graph:
    """Draw a sample."""
    if not wanted.walk:
        return folded(graph, wanted.ratio, rng)
    most = max(int(wanted.ratio * graph.edges), 1) if wanted.purpose == "cost" else None
    return draw_sample(graph, request.sampler, wanted.ratio, rng, max_edges=most).graph
