"""Peak memory of a call, from the peaks on samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from predict_graph.functions.child import ChildRun
from predict_graph.intervals import QUANTILE
from predict_graph.intervals import Interval as Figure

__all__ = ["foretell_memory"]

_GRAPH_DRIVERS = {"edges": 1.0, "vertices": 0.5}  # judgement
"""The same of the library's graph."""

# Judgement, not measured.
_DRIVERS = {
    "vertices": 1.0,
    "edges": 1.0,
    "wedges": 0.3,
    "reached_vertices": 0.1,
    "vertices_squared": 0.1,
}
"""What memory may grow with, and how likely that is before anything is seen."""

_RESOLUTION = 1.5 * 2**20  # bytes: what the interpreter and the allocator hold back; judgement
# Bytes that stay unseen: half of what Python's allocator takes at once; judgement.
_NOISE = 0.5 * 2**20
_REWEIGHTED = 5  # times, from squares to absolute errors; a choice
_EXACT = 0.05  # relative errors below which all are alike; judgement
_STD = 0.18  # of the logarithm, of one run; calibrated
_WIDER = 1.25  # than the fits say: calibrated, so that 90% intervals hold
_EXTRA_STD = 0.08  # a factor of e between the largest sample and the graph; judgement: as above


def foretell_memory(
    runs: Sequence[tuple[Mapping[str, float], ChildRun]],
    target: Mapping[str, float],
    whole: ChildRun | None,
    prefix: ChildRun | None,
    *,
    converted: bool,
    rounds_left: float = float("inf"),
) -> Figure:
    """Return the bytes that the graph and the call take at their peak.

    Growth with each of several drivers, and a constant, is fitted to the peaks on samples; the fits
    are averaged, each by how well it predicts samples that were left out.

    Parameters
    ----------
    runs : sequence of (drivers, run)
        On samples.
    target : mapping
        Drivers of the graph.
    whole, prefix : ChildRun or None
        The run itself, or its first part: what it took is the least that will be taken.
    converted : bool
        Whether building the library's graph is part of the run.
    rounds_left : float
        Rounds of the outermost loop / rounds that the prefix has done.
    """
    if whole is not None:
        total = whole.peak_bytes + (whole.graph_bytes if converted else 0.0)
        return Figure(total, 0.9 * total, 1.1 * total + _RESOLUTION)
    # What the prefix has taken is the least, and each round keeps no more than those before it.
    least = 0.0 if prefix is None else prefix.peak_bytes
    most = np.inf if prefix is None else max(least, _RESOLUTION) * max(rounds_left, 1.0)
    peaks = [(d, run.peak_bytes) for d, run in runs]
    call, std = _averaged(peaks, target, _DRIVERS, least, most)
    spread = float(np.exp(QUANTILE * std))
    call = min(max(call, least), most)
    high = max(min(call * spread, most), call)
    graph = 0.0
    if converted:
        if prefix is not None and prefix.graph_bytes:
            graph = prefix.graph_bytes
        else:
            graph, _ = _averaged([(d, run.graph_bytes) for d, run in runs], target, _GRAPH_DRIVERS)
    total = call + graph
    low = call / spread if prefix is None else max(call / spread, prefix.peak_bytes)
    return Figure(total, graph + min(low, call), graph * 1.15 + high + _RESOLUTION)


def _averaged(
    points: Sequence[tuple[Mapping[str, float], float]],
    target: Mapping[str, float],
    names: Mapping[str, float],
    least: float = 0.0,
    most: float = np.inf,
) -> tuple[float, float]:
    """Return what the fits extrapolate, and the standard deviation of its logarithm.

    Fits outside of the bounds are wrong, where others are inside.
    """
    if not points:
        return 0.0, 1.0
    peaks = np.array([peak for _, peak in points])
    # What every call takes says nothing of growth: errors are relative to what is above it.
    scale = 1.0 / np.maximum(peaks - peaks.min(), _NOISE)
    sizes = np.array([drivers["vertices"] for drivers, _ in points])
    told = sizes / sizes.sum()  # large samples tell most of what the graph will take
    found, weights = [], []
    for name, likely in names.items():
        values = np.array([drivers[name] for drivers, _ in points])
        unit = max(float(values.max()), 1e-9)
        coefficients = _line(values / unit, peaks, scale)
        found.append(coefficients[0] + coefficients[1] * target[name] / unit)
        rests = _left_out(values / unit, peaks, scale)
        weights.append(likely / (float(told @ rests**2) + 0.05**2) ** 2)
    peak = np.array(found)
    inside = (peak >= least - _RESOLUTION) & (peak <= most + _RESOLUTION)
    shares = np.where(inside if inside.any() else True, weights, 0.0)
    shares /= shares.sum()
    logs = np.log(np.maximum(found, _RESOLUTION / 4))
    mean = float(shares @ logs)
    between = float(shares @ (logs - mean) ** 2)
    largest = max(drivers["vertices"] for drivers, _ in points)
    far = np.log(max(target["vertices"] / largest, 1.0))
    std = _WIDER * float(np.sqrt(between + _STD**2 + (_EXTRA_STD * far) ** 2))
    return float(np.exp(mean)), std


def _left_out(
    values: npt.NDArray[np.float64],
    heights: npt.NDArray[np.float64],
    scale: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Return the error of each sample, relative, by the line through the others."""
    count = len(values)
    rests = np.zeros(count)
    for number in range(count if count > 2 else 0):
        others = np.arange(count) != number
        level, slope = _line(values[others], heights[others], scale[others])
        rests[number] = (level + slope * values[number] - heights[number]) * scale[number]
    return rests


def _line(
    values: npt.NDArray[np.float64],
    heights: npt.NDArray[np.float64],
    scale: npt.NDArray[np.float64],
) -> tuple[float, float]:
    """Return height at 0 and slope of a line that has both at least 0.

    Of least absolute errors, relative: an allocator that takes some MiB at once now and then must
    not bend it.
    """
    weights = scale**2
    level, slope = _squares(values, heights, weights)
    for _ in range(_REWEIGHTED):
        rests = np.abs(level + slope * values - heights) * scale
        level, slope = _squares(values, heights, weights / np.maximum(rests, _EXACT))
    return level, slope


def _squares(
    values: npt.NDArray[np.float64],
    heights: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
) -> tuple[float, float]:
    total = float(weights.sum())
    middle, level = float(weights @ values) / total, float(weights @ heights) / total
    spread = float(weights @ (values - middle) ** 2)
    slope = float(weights @ ((values - middle) * (heights - level))) / spread if spread else 0.0
    if slope <= 0.0:
        return level, 0.0
    if level < slope * middle:
        return 0.0, float(weights @ (values * heights)) / float(weights @ values**2)
    return level - slope * middle, slope
