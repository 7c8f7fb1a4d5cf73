"""Supersteps that are observed for an estimate: of a sample, and the first ones of the whole graph.

The vertices of a sample represent different numbers of vertices of the whole graph, and have more
edges there. Convergence and counters use these weights and degrees. :func:`timed_run` measures
times in a separate run without counting.

The first supersteps of a run on the whole graph are timed as evidence of the later ones: their
messages come from memory, whereas those of a sample come from a cache.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.arrays import Array, FloatArray
from predict_graph.engines.local import kernel as kernels
from predict_graph.engines.local.team import Team, available_threads
from predict_graph.engines.profile import evenly
from predict_graph.engines.runtime_model import StagedSample
from predict_graph.stopwatch import Stopwatch
from predict_graph.table import Table

# Sufficient to measure supersteps that all do the same work; limits overhead.
PROBED_SUPERSTEPS = 6


@dataclass(frozen=True)
class ObservedRun:
    """A sample run: its convergence and counters, scaled to the whole graph, by iteration.

    ``work`` is that on the sample, and ``whole_work`` that on the whole graph.
    """

    convergence: FloatArray
    counters: Table
    work: FloatArray
    whole_work: FloatArray
    seconds: FloatArray


def observed_run(
    algorithm: Algorithm,
    sample: kernels.WeightedSample,
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
    weights, sent = sample.weights, sample.weights * sample.degrees
    sent *= edges / max(float(sent.sum()), 1.0)
    # At a fixed point nothing changes, on paths neither, whose vertices have no weight.
    changing = np.maximum(weights, 1.0) if algorithm.convergence == "fixed-point" else weights
    rows: list[tuple[float, ...]] = []
    with Team(threads or available_threads()) as team:
        kernel = _kernel(algorithm, sample, prior, team)
        for superstep, took in kernels.supersteps(kernel, team, algorithm.max_iterations):
            aggregate = superstep.convergence
            if superstep.changes is not None:  # by the vertices that the sample represents
                changed, places = (changing * superstep.changes).sum(), changing * superstep.places
                aggregate = float(changed) / max(float(places.sum()), 1e-300)
            totals, work = superstep.totals(weights, sent), superstep.work
            messages = superstep.totals(weights, sample.graph.out_degrees)[1]
            own = work.amount(np.ones_like(weights), sample.graph.edges, messages)
            whole = work.amount(weights, edges, totals[1])
            rows.append((aggregate, *totals, max(own, 1.0), whole, took))
            if aggregate < threshold or getattr(kernel, "cycling", False):
                break
    convergence, active, messages, volume, own_work, whole_work, seconds = np.array(rows).T
    counters = Table({"active_vertices": active, **evenly(messages, volume, workers)})
    return ObservedRun(convergence, counters, own_work, whole_work, seconds)


def timed_run(
    algorithm: Algorithm, staged: StagedSample, *, threads: int
) -> tuple[FloatArray, float]:
    """Return the seconds of each superstep on a sample, run without interruption.

    And those of a superstep without senders.
    """
    seconds = []
    with Team(threads) as team:
        kernel = _kernel(algorithm, staged.sample, staged.prior_values, team)
        for _ in range(len(staged.run.work)):
            team.allow(0.0)
            watch = Stopwatch()
            kernel.step()
            seconds.append(watch.seconds)
        return np.array(seconds), idle_seconds(kernel)


def _kernel(
    algorithm: Algorithm, sample: kernels.WeightedSample, prior: Array | None, team: Team
) -> kernels.Kernel:
    given = () if prior is None else (prior,)
    kernel = kernels.kernel_of(algorithm)(algorithm, sample.graph, team, *given)
    if hasattr(kernel, "stand_for"):
        kernel.stand_for(sample)
    return kernel


@dataclass(frozen=True)
class IterationProbe:
    """The first supersteps of a run.

    ``seconds`` of each, those of a superstep without senders, and the counters of those that ended.
    """

    seconds: FloatArray
    rows: Table
    idle_seconds: float = 0.0


def undisturbed_seconds(probes: Sequence[IterationProbe]) -> tuple[FloatArray, float]:
    """Return the seconds of the first supersteps from repeated probes, and their deviation.

    Disturbances only make probes slower, so the slowest one is excluded.
    """
    count = min(len(probe.seconds) for probe in probes)
    seconds = np.array([probe.seconds[:count] for probe in probes])
    totals = seconds.sum(axis=1)
    undisturbed = seconds[np.argsort(totals)[: max(len(totals) - 1, 1)]]
    return undisturbed.mean(axis=0), float(totals.std() / max(float(totals.mean()), 1e-300))


def settled(probes: Sequence[IterationProbe], work: FloatArray) -> slice | None:
    """Return the first supersteps to measure by; None if they do too little of the work.

    All but the first, which starts threads and takes page faults. One of them has to do at least
    half as much as the busiest superstep: the fixed cost of a superstep says little of its work.

    Examples
    --------
    >>> probe = IterationProbe(np.ones(3), Table({}))
    >>> settled([probe], np.array([1.0, 5.0, 9.0, 2.0]))
    slice(1, 3, None)
    >>> settled([probe], np.array([1.0, 1.0, 1.0, 80.0])) is None
    True
    """
    count = min((len(work), *(len(probe.seconds) for probe in probes))) if probes else 0
    measured = slice(1 if count > 1 else 0, count)
    busiest = float(work[measured].max(initial=0.0))
    return measured if count and 2.0 * busiest >= float(work.max()) else None


def idle_seconds(kernel: Any, repeats: int = 3) -> float:
    """Return the time of a superstep without senders; 0 for kernels in which all vertices send.

    The state of the kernel is invalid afterwards.
    """
    if not hasattr(kernel, "rest"):
        return 0.0
    seconds = []
    for _ in range(repeats):
        kernel.rest()
        started = time.perf_counter()
        kernel.step()
        seconds.append(time.perf_counter() - started)
    return min(seconds)
