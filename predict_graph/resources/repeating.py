"""Repeated measurements, summarized by their better quartile and spread.

Other processes only make measurements slower. The capacity of a machine is therefore the quartile
on the faster side, which is robust against single values.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from predict_graph.resources.profile import Measured
from predict_graph.timing import clock

WINDOW = 0.2  # seconds of one measurement: bounds it from below to many periods of a CPU quota


def summed_up(values: Sequence[float], unit: str, *, less_is_better: bool = False) -> Measured:
    """Return the better quartile of repeats, and their interquartile range relative to it.

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
    """Measure each item several times, alternating: a disturbance affects few repeats of each.

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
    """Return the units per second of work repeated for `window` seconds."""
    done, begun = 0.0, clock.wall()
    while True:
        done += work()
        elapsed = clock.wall() - begun
        if elapsed >= window:
            return done / elapsed


def side_by_side(work: Callable[[], float], threads: int, window: float = WINDOW) -> float:
    """Return the units per second of several threads together, all doing the same work."""
    if threads == 1:
        return rate_of(work, window)
    with ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(lambda _: rate_of(work, window), range(threads)))
