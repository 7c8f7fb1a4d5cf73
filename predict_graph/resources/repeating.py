"""Repeated measurements: their median, and how far they are apart."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from predict_graph.resources.profile import Measured

__all__ = ["rate_of", "side_by_side", "summed_up"]

WINDOW = 0.2  # seconds of one measurement: many periods of a quota of the processor


def summed_up(values: Sequence[float], unit: str) -> Measured:
    """Return the median of repeats and their interquartile range over it.

    Examples
    --------
    >>> summed_up([1.0, 2.0, 4.0], "ms")
    Measured(value=2.0, unit='ms', spread=1.5, repeats=3)
    """
    middle = statistics.median(values)
    spread = 0.0
    if len(values) > 1:
        low, _, high = statistics.quantiles(values, n=4)
        spread = (high - low) / middle
    return Measured(middle, unit, spread, len(values))


def rate_of(work: Callable[[], float], window: float = WINDOW) -> float:
    """Return the units a second of something done over and over for `window` seconds.

    Parameters
    ----------
    work : callable
        Does a little, and returns how many units that were.
    window : float
    """
    done, begun = 0.0, time.perf_counter()
    while True:
        done += work()
        elapsed = time.perf_counter() - begun
        if elapsed >= window:
            return done / elapsed


def side_by_side(work: Callable[[], float], threads: int, window: float = WINDOW) -> float:
    """Return the units a second of all threads together, each doing the same at the same time."""
    if threads == 1:
        return rate_of(work, window)
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(lambda _: rate_of(work, window), range(threads)))
