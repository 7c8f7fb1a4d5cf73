"""An estimate of the iterations of a run, where its curve crosses the threshold; its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from predict_graph.arrays import FloatArray
from predict_graph.engines import SampleSummary, StagedSample
from predict_graph.intervals import QUANTILE
from predict_graph.results import Value
from predict_graph.table import Table

Progress = Callable[[str, float], None]
"""Called with a description of the current step and the fraction that is done."""


@dataclass(frozen=True, eq=False, repr=False)
class IterationEstimate(Value):
    """An estimate of the iterations of a run, with its interval and its evidence.

    Parameters
    ----------
    method : str
        Name of the estimator.
    crossing : float
        Where the convergence curve crosses the threshold; ``inf`` if it never does.
    iterations, low, high : int
        `crossing` rounded up, and the ends of its interval.
    curve : ndarray of float64, shape (iterations,)
        Convergence aggregate after each iteration, as predicted for the whole graph.
    converged : bool
        False when the run is expected to stop at its limit of iterations.
    samples : list of SampleSummary
    warnings : list of str
    counters : Table or DataFrame
        Counters of each iteration of the real run, summed over workers, and all vertices; empty if
        only the engine can count.
    staged : StagedSample, optional
        The last sample, if its run has the stages of the real one.
    """

    method: str
    crossing: float
    iterations: int
    low: int
    high: int
    curve: FloatArray
    converged: bool
    samples: list[SampleSummary] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    counters: Table = field(default_factory=lambda: Table({}))
    staged: StagedSample | None = None

    @classmethod
    def exact(
        cls,
        method: str,
        curve: FloatArray,
        counters: Table,
        *samples: SampleSummary,
        converged: bool,
    ) -> IterationEstimate:
        """Return what is known of a run from all of its iterations."""
        count = len(curve)
        size = (float(count), count, count, count)
        return cls(method, *size, curve, converged, list(samples), counters=counters)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counters", Table(self.counters))  # or of a DataFrame

    def at(self, crossing: float, relative_std: float, limit: int) -> IterationEstimate:
        """Return it with another crossing, and the interval around that."""
        iterations, low, high = iteration_interval(crossing, relative_std, limit)
        return replace(self, crossing=crossing, iterations=iterations, low=low, high=high)

    @property
    def log_std(self) -> float:
        """The standard deviation of the logarithm of the iterations, by the wider side.

        The other end of the interval may be the limit of iterations.
        """
        low, high = max(self.low, 1), max(self.high, 1)
        middle = min(max(self.crossing, low), high)
        return math.log(max(middle / low, high / middle)) / QUANTILE


def whole_graph(
    graph: Mapping[str, Any], iterations: int, seconds: float, note: str = ""
) -> SampleSummary:
    """Return the summary of a run on a whole graph, which takes the place of samples."""
    sizes = int(graph["vertices"]), int(graph["edges"])
    return SampleSummary("whole graph", 1.0, *sizes, iterations, seconds, "iterations", note)


def iteration_interval(crossing: float, relative_std: float, limit: int) -> tuple[int, int, int]:
    """Return the iterations and the ends of their 90% interval, all at most `limit`.

    Examples
    --------
    >>> iteration_interval(9.2, 0.1, 500)
    (10, 8, 11)
    """

    def whole(value: float) -> int:
        return limit if value >= limit else max(1, math.ceil(value - 1e-9))

    spread = math.exp(QUANTILE * relative_std)
    return whole(crossing), whole(crossing / spread), whole(crossing * spread)


def crossing(curve: Sequence[float] | FloatArray, threshold: float) -> float:
    """Return the point at which a convergence curve falls below `threshold`.

    The curve is read as a straight line on a log scale between iterations, so samples can be
    averaged without the rounding of whole iterations. The number of iterations that a run takes is
    the crossing rounded up.

    Examples
    --------
    >>> crossing([0.1, 0.001], 0.01)
    1.5
    >>> crossing([0.1, 0.001], 0.5), crossing([1.0, 0.01], 0.01)
    (1.0, inf)
    >>> crossing([1.0, 0.0], 0.01), crossing([0.01, 0.005], 0.01)
    (2.0, 2.0)
    """
    values = np.asarray(curve, dtype=np.float64)
    below = np.flatnonzero(values < threshold)
    if not len(below):
        return math.inf
    first = int(below[0])
    if first == 0:
        return 1.0
    before, after = values[first - 1], values[first]
    if after <= 0.0 or before <= threshold:
        return float(first + 1)
    return float(first + np.log(before / threshold) / np.log(before / after))


def mean_curve(curves: Sequence[FloatArray], iterations: int) -> FloatArray:
    """Return the geometric mean of curves of any lengths, for so many iterations.

    A shorter one is extended by its last slope on a log scale.

    Examples
    --------
    >>> mean_curve([np.array([1e-1, 1e-3]), np.array([1e-3, 1e-5])], 2).round(6).tolist()
    [0.01, 0.0001]
    >>> mean_curve([np.array([1.0, 0.1, 0.01])], 5).round(6).tolist()
    [1.0, 0.1, 0.01, 0.001, 0.0001]
    >>> mean_curve([np.array([0.5])], 3).round(6).tolist()
    [0.5, 0.5, 0.5]
    >>> mean_curve([np.array([1.0, 0.1, 0.01, 0.001]), np.array([1.0, 0.1])], 3).round(6).tolist()
    [1.0, 0.1, 0.01]
    """
    length = max(iterations, *(len(curve) for curve in curves))
    logs = [_extended(np.log(np.maximum(curve, 1e-300)), length) for curve in curves]
    return np.asarray(np.exp(np.mean(logs, axis=0))[:iterations])


def _extended(logs: FloatArray, length: int) -> FloatArray:
    """Continue a curve on a log scale with its last slope."""
    slope = logs[-1] - logs[-2] if len(logs) > 1 else 0.0
    return np.concatenate((logs, logs[-1] + slope * np.arange(1, length - len(logs) + 1)))
