"""The job itself on this machine by the compiled kernel, under a deadline.

Iterations and messages do not depend on the engine, so they are exact. A run of up to about a
second costs less than its samples (docs/studies/accuracy.md). Those of a library algorithm on Spark
are counted by its compiled local replay. Those of a run that was stopped are extrapolated from its
first supersteps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.arrays import FloatArray
from predict_graph.engines import COUNTERS, RunProfile, counters_of, per_iteration, spread_evenly
from predict_graph.engines.runtime_model import AnyGraph
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.history import RunRecord
from predict_graph.intervals import QUANTILE
from predict_graph.iterations import estimate
from predict_graph.iterations.estimate import IterationEstimate
from predict_graph.iterations.method import SamplingCase
from predict_graph.table import Table


def whole_run_estimates(profile: RunProfile | None) -> list[IterationEstimate]:
    """Return the exact iterations and counters of a local run and of its priors."""
    found: list[IterationEstimate] = []
    while profile is not None:
        seconds = profile.runtime_seconds - profile.phases["read"] if not found else 0.0
        curve, counters = np.asarray(profile.convergence), per_iteration(profile.rows)
        run = estimate.whole_graph(profile.graph, profile.iterations, seconds)
        exact = IterationEstimate.exact(
            "whole-run", curve, counters.without("seconds"), run, converged=bool(profile.converged)
        )
        found.insert(0, exact)
        profile = profile.prior
    return found


def recalled_estimate(record: RunRecord, workers: int) -> IterationEstimate:
    """Return the iterations and counters of an earlier run of the same graph.

    If it had another number of workers, messages are divided as a hash partitioning does.
    """
    rows = per_iteration(record.rows).without("seconds")
    if len(np.unique(record.rows["worker"])) != workers:
        rows = spread_evenly(rows, workers)
    curve = rows.floats("convergence")
    return IterationEstimate.exact("history", curve, rows, converged=bool(record.converged))


def estimate_by_replay(case: SamplingCase) -> IterationEstimate:
    """Return the exact counters of each superstep of a library algorithm on Spark."""
    from predict_graph.engines.spark import SparkEngine
    from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm, rounds_of

    algorithm, engine = case.algorithm, case.engine
    if not isinstance(algorithm, LibraryAlgorithm) or not isinstance(engine, SparkEngine):
        raise RequestError(f"{algorithm.name} runs on Spark alone; accepted: --engine spark")
    graph, started = case.graph, time.perf_counter()
    rounds = rounds_of(algorithm, graph, engine.settings.partitions)
    seconds = time.perf_counter() - started
    messages, received = (rounds[name].to_numpy(np.float64) for name in ("messages", "received"))
    active, unknown = rounds["active_vertices"], np.zeros(len(rounds))
    counters = counters_of(active, messages, unknown, engine.workers, graph.vertices)
    run = estimate.whole_graph(graph.describe(), len(rounds), seconds)
    curve = received / max(graph.vertices, 1)
    return IterationEstimate.exact(
        "replay", curve, counters, run, converged=bool(received[-1] == 0)
    )


def continued_crossing(curve: Sequence[float] | FloatArray, threshold: float) -> float:
    """Return where a curve crosses a threshold by extrapolating its last two supersteps.

    With more of them, errors were larger.

    Examples
    --------
    >>> round(continued_crossing([0.1, 0.01, 0.001], 1e-6), 6)
    6.0
    >>> continued_crossing([0.1, 0.1, 0.1], 1e-6)
    inf
    """
    last = np.log(np.maximum(np.asarray(curve[-2:], dtype=np.float64), 1e-300))
    slope = float(last[-1] - last[0]) / max(len(last) - 1, 1)
    if slope >= 0.0:
        return math.inf
    return len(curve) + max((math.log(threshold) - float(last[-1])) / slope, 0.0)


# Deviations of log(predicted / true) if almost nothing of the curve was observed, of steady and of
# other algorithms; measured on fifteen graphs, and on nine (docs/studies/spark.md). Curves of
# PageRank fall fastest at first: after 2, 3 and 5 supersteps, with epsilon 0.001 and 1e-5 and no
# samples, intervals held in 24 and 25 of 30 cases, and 29 of 29 (19, 20 and 23 with 0.3).
_STEADY_STD, _SPREADING_STD = 0.6, 0.8


def continued(
    sampled: IterationEstimate, algorithm: Algorithm, profile: RunProfile, graph: AnyGraph
) -> IterationEstimate:
    """Return an estimate, by samples or a baseline, with the first supersteps of the run itself.

    The crossing of the estimate, checked against them, and that of their own curve are combined by
    inverse-variance weights of their logarithms. The counters of what ran are exact; later ones are
    those of the samples, or extrapolated if there are no samples.
    """
    done, first = profile.iterations, profile.convergence
    found = _corrected(sampled, algorithm, first, graph)
    own = continued_crossing(first, algorithm.threshold(graph.vertices))
    std = (_STEADY_STD if algorithm.steady else _SPREADING_STD) * max(1.0 - done / own, 0.0)
    if not algorithm.steady and math.isfinite(own):
        # A curve that hardly decreases yet may do so at any time: the interval starts at once.
        std = max(std, math.log(own / (done + 1)) / QUANTILE)
    known = [
        (math.log(each), max(own_std, 0.01) ** -2)  # a whole number is rounded up
        for each, own_std in ((found.crossing, found.log_std), (own, std))
        if math.isfinite(each)
    ]
    weight, centre, std = sum(precision for _, precision in known), found.crossing, 0.0
    if known:
        centre = math.exp(sum(log * precision for log, precision in known) / weight)
        std = weight**-0.5
    found = found.at(centre, std, algorithm.max_iterations)
    counted = per_iteration(profile.rows).without("seconds")
    seconds = profile.runtime_seconds - profile.phases["read"]
    summary = estimate.whole_graph(profile.graph, done, seconds, f"the first {done} supersteps")
    if sampled.samples:
        several = len(sampled.counters)
        later = sampled.counters.take(np.arange(min(done, several - 1), several))
    else:
        later = _extrapolated(counted, max(found.iterations - done, 1), algorithm, first)
    names = [name for name in counted if name in later]
    counters = Table({name: np.concatenate((counted[name], later[name])) for name in names})
    found = replace(found, samples=[summary, *sampled.samples], counters=counters)
    return _beyond(found, first, algorithm.max_iterations)


def checked(
    sampled: IterationEstimate, algorithm: Algorithm, first: FloatArray, graph: Graph
) -> IterationEstimate:
    """Return an estimate by samples, checked against the first supersteps of the run itself.

    Parameters
    ----------
    sampled : IterationEstimate
    algorithm : Algorithm
    first : ndarray of float64
        Aggregates of the first supersteps; more than the limit of iterations may have been timed.
    graph : Graph
    """
    first = first[: algorithm.max_iterations]
    if len(first) and first[-1] < algorithm.threshold(graph.vertices):  # it has ended
        ended = replace(sampled, crossing=float(len(first)), curve=first)
        return _beyond(ended, first, len(first))
    return _beyond(_corrected(sampled, algorithm, first, graph), first, algorithm.max_iterations)


def _corrected(
    sampled: IterationEstimate, algorithm: Algorithm, first: FloatArray, graph: AnyGraph
) -> IterationEstimate:
    """Return an estimate as the first supersteps correct it, whose curve starts with theirs.

    A sample whose values mix as in the graph comes to an aggregate in the same superstep as the
    run, within its deviation. Of one that does not, or of a graph without hubs, what is left takes
    as many times as long as its curve falls faster; the interval begins where it would take no
    longer. True / estimated was 0.9 to 1.5 on nine graphs without hubs, 1.3 to 4.2 before. Where
    that is not seen yet, the interval of a graph without hubs reaches to the slowest run. A run
    that goes on beyond the interval or where the samples ended at once, or is steady and does not
    converge so far where the samples do, may take any number of supersteps up to its limit. One
    that has reached its limit ends there, before it has converged.
    """
    done, limit, known = len(first), algorithm.max_iterations, sampled.curve
    found, reached, slowest = sampled, float(done), algorithm.contraction
    hubs = not isinstance(graph, Graph) or not sampled.samples or graph.has_hubs
    seen = algorithm.mixes and done > 1 and bool(sampled.samples)
    at = int(np.argmax(known < first[-1])) if seen else 0  # 0 if it never falls so low
    if at and sampled.low < sampled.high:
        reached = estimate.crossing(known, float(first[-1]))
        if not hubs or abs(math.log(done / reached)) > sampled.log_std:
            here, there = np.diff(np.log(np.maximum([known[at - 1 : at + 1], first[-2:]], 1e-300)))
            left = max(sampled.crossing - reached, 1.0)  # it has not ended
            longer = float(here[0] / there[0]) if there[0] < 0.0 else math.inf
            centre = min(done + left * longer, limit + 1.0)
            apart = math.log(centre / (done + left)) / QUANTILE
            found = sampled.at(centre, math.hypot(sampled.log_std, apart), limit)
    rises = algorithm.steady and done > 1 and first[-1] >= first[-2]
    rises = rises and not (np.diff(known[done - 2 : done]) >= 0.0).any()  # unlike the samples
    # The samples ended in time, and were lower in their first superstep than the run is now.
    at_once = seen and sampled.crossing <= done and bool(known[0] < first[-1])
    if rises or at_once or found.high <= done or done == limit:
        centre = math.sqrt((done + 1) * limit)
        found = sampled.at(centre, math.log(max(limit / centre, 1.0)) / QUANTILE, limit)
    unlike = not hubs and found.low < found.high
    if unlike and (algorithm.mixes if slowest == 1.0 else not seen or done < 3):
        above = max(known[0] / algorithm.threshold(graph.vertices), 1.0)
        falls = math.log(above) / -math.log(min(slowest, 1.0 - 1e-9))
        high = estimate.iteration_interval(1.0 + falls, 0.0, limit)[0]
        found = replace(found, high=max(found.high, high))
    later = known[min(int(reached), len(known) - 1) :]
    return replace(found, curve=np.concatenate((first, later)))


def _beyond(found: IterationEstimate, first: FloatArray, limit: int) -> IterationEstimate:
    """Return an estimate of more iterations than the first ones, and at most as many as the limit.

    Its curve starts with theirs; later ones have that of the samples, in as many supersteps as are
    left.
    """
    done = len(first)
    counts = found.iterations, found.low, found.high
    iterations, low, high = (min(max(each, done + 1), limit) for each in counts)
    left, later = iterations - done, found.curve[done:]
    return replace(
        found,
        iterations=iterations,
        low=low,
        high=high,
        curve=np.concatenate((first, later[np.arange(left) * len(later) // max(left, 1)])),
        converged=found.crossing <= iterations + 1e-6,
        counters=found.counters.take(np.minimum(np.arange(iterations), len(found.counters) - 1)),
    )


def _extrapolated(counted: Table, more: int, algorithm: Algorithm, curve: FloatArray) -> Table:
    """Return the counters of later supersteps: those of the last one.

    If they have decreased before, they decrease as the curve did last.
    """
    later = counted.take(np.full(more, len(curve) - 1))
    if algorithm.steady or not bool((np.diff(counted["active_vertices"]) < 0).any()):
        return later
    falls = min(curve[-1] / max(curve[-2], 1e-300), 1.0) ** np.arange(1, more + 1)
    return later.assign(**{name: later.floats(name) * falls for name in COUNTERS})
