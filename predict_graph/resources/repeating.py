"""Repeated measurements: their better quartile, and how far they are apart.

What else runs on a machine only ever makes a measurement slower. So what a machine can do is what
the better measurements say: the quartile on that side, which one lucky value does not move.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from predict_graph.resources.profile import Measured
from predict_graph.timing import clock

__all__ = ["in_turns", "rate_of", "side_by_side", "summed_up"]

WINDOW = 0.2  # seconds of one measurement: many periods of a quota of the processor; a choice


def summed_up(values: Sequence[float], unit: str, *, less_is_better: bool = False) -> Measured:
    """Return the better quartile of repeats, and their interquartile range over it.

    Examples
    --------
    >>> summed_up([1.0, 2.0, 4.0, 5.0, 5.0], "MB/s")
    Measured(value=5.0, unit='MB/s', spread=0.6, repeats=5)
    >>> summed_up([1.0, 2.0, 4.0, 5.0, 5.0], "ms", less_is_better=True)
    Measured(value=2.0, unit='ms', spread=1.5, repeats=5)
    """
    if len(values) == 1:
        return Measured(values[0], unit, 0.0, 1)
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    value = low if less_is_better else high
    return Measured(value, unit, (high - low) / value, len(values))


def in_turns(works: Mapping[str, Callable[[], float]], repeats: int) -> dict[str, list[float]]:
    """Measure each thing so many times, in turns: a disturbance that lasts meets few of each.

    Examples
    --------
    >>> in_turns({"a": lambda: 1.0, "b": lambda: 2.0}, 3)
    {'a': [1.0, 1.0, 1.0], 'b': [2.0, 2.0, 2.0]}
    """
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            found[name].append(work())
    return found


def rate_of(work: Callable[[], float], window: float = WINDOW) -> float:
    """Return the units a second of something done over and over for `window` seconds.

    Parameters
    ----------
    work : callable
        Does a little, and returns how many units that were.
    window : float
    """
    done, begun = 0.0, clock.wall()
    while True:
        done += work()
        elapsed = clock.wall() - begun
        if elapsed >= window:
            return done / elapsed


def side_by_side(work: Callable[[], float], threads: int, window: float = WINDOW) -> float:
    """Return the units a second of all threads together, each doing the same at the same time."""
    if threads == 1:
        return rate_of(work, window)
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(lambda _: rate_of(work, window), range(threads)))
