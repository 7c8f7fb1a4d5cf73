"""Iterations extrapolated from the first supersteps of the run itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import Algorithm
from predict_graph.engines import COUNTERS, RunProfile, SampleSummary, per_iteration
from predict_graph.intervals import QUANTILE
from predict_graph.iterations.estimate import IterationEstimate, iteration_interval
from predict_graph.table import Table

# Of log(predicted / true), if almost nothing of the curve was observed; measured on nine graphs,
# stopped after 10 and 15 supersteps (docs/studies/spark.md).
_CONTINUED_STD, _SPREADING_STD = 0.3, 0.8
_LEAST_STD = 0.01  # of log iterations, by definition: a whole number is rounded up


def continued_crossing(curve: Sequence[float] | npt.NDArray[np.float64], threshold: float) -> float:
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


def continued_run(algorithm: Algorithm, profile: RunProfile, threshold: float) -> IterationEstimate:
    """Return the iterations of a run that was stopped at its deadline."""
    done, limit = profile.iterations, algorithm.max_iterations
    counters = per_iteration(profile.rows).without("seconds")
    crossing = continued_crossing(profile.convergence, threshold)
    std = _CONTINUED_STD if algorithm.steady else _SPREADING_STD
    std *= max(1.0 - done / max(crossing, 1.0), 0.0)
    iterations, low, high = iteration_interval(crossing, std, QUANTILE, limit)
    # A curve that hardly decreases yet may do so at any time: the interval starts at once.
    low = low if algorithm.steady else done + 1
    iterations, low, high = (min(max(n, done + 1), limit) for n in (iterations, low, high))
    curve, rows = _to_the_end(
        profile.convergence, counters, iterations, threshold, steady=algorithm.steady
    )
    summary = SampleSummary(
        "whole graph",
        1.0,
        int(profile.graph["vertices"]),
        int(profile.graph["edges"]),
        done,
        profile.runtime_seconds - profile.phases["read"],
        "iterations",
        f"the first {done} supersteps",
    )
    return IterationEstimate(
        method="continued",
        crossing=crossing,
        iterations=iterations,
        low=low,
        high=high,
        curve=curve,
        converged=crossing <= limit,
        samples=[summary],
        edge_steps=float(counters.floats("local_messages", "remote_messages").sum()),
        counters=rows,
    )


def weighted(
    sampled: IterationEstimate, continued: IterationEstimate, limit: int
) -> IterationEstimate:
    """Combine estimates from samples and from the first supersteps: inverse-variance weighted logs.

    The run takes more supersteps than were counted. Their counters are exact; later ones are those
    of the samples, or extrapolated if there are no samples.
    """
    pair = [each for each in (sampled, continued) if math.isfinite(each.crossing)]
    done = continued.samples[0].iterations
    variances = np.array([max(_log_std(each), _LEAST_STD) ** 2 for each in pair])
    crossing = sampled.crossing
    if pair:
        logs = np.log([each.crossing for each in pair])
        crossing = math.exp(float((logs / variances).sum() / (1.0 / variances).sum()))
    std = float((1.0 / variances).sum()) ** -0.5 if pair else 0.0
    counts = iteration_interval(crossing, std, QUANTILE, limit)
    iterations, low, high = (min(max(n, done + 1), limit) for n in counts)
    at = np.arange(iterations) * len(sampled.curve) // iterations
    later = sampled.counters if sampled.samples else continued.counters
    rows = np.minimum(np.arange(done, iterations), len(later) - 1)
    first, rest = continued.counters.take(slice(done)), later.take(rows)
    counters = Table(
        {name: np.concatenate((first[name], rest[name])) for name in first if name in rest}
    )
    return replace(
        sampled,
        crossing=crossing,
        iterations=iterations,
        low=low,
        high=high,
        curve=sampled.curve[at],
        converged=crossing <= limit,
        samples=[*continued.samples, *sampled.samples],
        edge_steps=sampled.edge_steps + continued.edge_steps,
        counters=counters,
    )


def _log_std(estimate: IterationEstimate) -> float:
    """Return the standard deviation of the logarithm of the iterations.

    From the wider side of the interval: the other end may be the limit of iterations.
    """
    low, high = estimate.crossing / max(estimate.low, 1), estimate.high / estimate.crossing
    return math.log(max(low, high, 1.0)) / QUANTILE


def _to_the_end(
    counted: npt.NDArray[np.float64],
    counters: Table,
    iterations: int,
    threshold: float,
    *,
    steady: bool,
) -> tuple[npt.NDArray[np.float64], Table]:
    """Return the curve and the counters of all iterations.

    Beyond the counted supersteps, the curve is straight on a log scale. Counters that have
    decreased before decrease with it.
    """
    done = len(counted)
    if iterations <= done:
        return counted[:iterations], counters.take(slice(iterations))
    more = iterations - done
    last = max(float(counted[-1]), 1e-300)
    falls = (min(threshold / last, 1.0)) ** (np.arange(1, more + 1) / more)
    curve = np.concatenate((counted, last * falls))
    at = np.minimum(np.arange(iterations), done - 1)
    rows = counters.take(at)
    if not steady and bool((np.diff(counters["active_vertices"]) < 0).any()):
        share = np.concatenate((np.ones(done), falls))
        rows = rows.assign(**{name: rows.floats(name) * share for name in COUNTERS})
    return curve, rows
