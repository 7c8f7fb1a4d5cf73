"""Running an algorithm on a sample with the counters of the whole graph.

The vertices of a sample represent different numbers of vertices of the whole graph, and have more
edges there. Convergence and counters use these weights and degrees. :func:`timed_run` measures
times in a separate run without counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.arrays import Array, FloatArray
from predict_graph.engines.local.kernel import Kernel, Superstep, Weighting, kernel_of, supersteps
from predict_graph.engines.local.probing import idle_seconds
from predict_graph.engines.local.team import Team, available_threads
from predict_graph.engines.profile import evenly
from predict_graph.graph import Graph
from predict_graph.stopwatch import stopwatch
from predict_graph.table import Table


@dataclass(frozen=True)
class ObservedRun:
    """The convergence and counters of a sample run, scaled to the whole graph."""

    convergence: FloatArray
    counters: Table
    converged: bool
    work: FloatArray
    whole_work: FloatArray
    seconds: FloatArray


def observed_run(
    algorithm: Algorithm,
    graph: Graph,
    weighting: Weighting,
    *,
    threshold: float,
    edges: int,
    workers: int,
    prior: Array | None = None,
    threads: int | None = None,
) -> ObservedRun:
    """Run an algorithm on a sample until the whole graph would have converged.

    A kernel that detects a repeated state (``cycling``) is stopped there: its last iteration
    represents all that would follow.
    """
    sent = weighting.weights * weighting.degrees
    sent *= edges / max(float(sent.sum()), 1.0)
    aggregates: list[float] = []
    work: list[tuple[float, float]] = []
    totals: list[tuple[float, float, float]] = []
    seconds: list[float] = []
    with Team(threads or available_threads()) as team:
        kernel = _kernel(algorithm, graph, weighting, prior, team)
        for superstep, took in supersteps(kernel, team, algorithm.max_iterations):
            seconds.append(took)
            aggregates.append(_aggregate(superstep, weighting.weights))
            totals.append(superstep.totals(weighting.weights, sent))
            work.append(_work(superstep, weighting.weights, graph, edges, totals[-1][1]))
            if aggregates[-1] < threshold or getattr(kernel, "cycling", False):
                break
    active, messages, volume = np.array(totals).T
    return ObservedRun(
        np.array(aggregates),
        Table({"active_vertices": active, **evenly(messages, volume, workers)}),
        aggregates[-1] < threshold,
        np.array([own for own, _ in work]),
        np.array([whole for _, whole in work]),
        np.array(seconds),
    )


def timed_run(
    algorithm: Algorithm,
    graph: Graph,
    weighting: Weighting,
    iterations: int,
    *,
    prior: Array | None = None,
    threads: int | None = None,
) -> tuple[FloatArray, float]:
    """Return the seconds of each superstep on a sample, run without interruption."""
    seconds = []
    with Team(threads or available_threads()) as team:
        kernel = _kernel(algorithm, graph, weighting, prior, team)
        for _ in range(iterations):
            team.allow(0.0)
            with stopwatch() as watch:
                kernel.step()
                seconds.append(watch.seconds)
        return np.array(seconds), idle_seconds(kernel)


def _kernel(
    algorithm: Algorithm, graph: Graph, weighting: Weighting, prior: Array | None, team: Team
) -> Kernel:
    kernel = kernel_of(algorithm)(algorithm, graph, team, *(() if prior is None else (prior,)))
    if hasattr(kernel, "stand_for"):
        kernel.stand_for(weighting)
    return kernel


def _aggregate(superstep: Superstep, weights: FloatArray) -> float:
    """Return the share of changed values, weighted by the vertices that the sample represents."""
    if superstep.changes is None:
        return superstep.convergence
    changed = float((weights * superstep.changes).sum())
    places: Any = superstep.places
    return changed / max(float((weights * places).sum()), 1e-300)


def _work(
    superstep: Superstep, weights: FloatArray, sample: Graph, edges: int, messages: float
) -> tuple[float, float]:
    """Return the work of a superstep on the sample, and of one with `messages` and `edges`."""
    work = superstep.work
    own = work.amount(np.ones_like(weights), sample.edges, superstep.messages(sample))
    return max(own, 1.0), work.amount(weights, edges, messages)
