"""Repeated measurements, summarized by their better quartile and spread.

Other processes only make measurements slower. The capacity of a machine is therefore the quartile
on the faster side, which is robust against single values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from predict_graph.resources.profile import Measured
from predict_graph.timing import clock


def summed_up(values: Sequence[float], unit: str, *, less_is_better: bool = False) -> Measured:
    """Return the better quartile of repeats, and their interquartile range relative to it.

    Examples
    --------
    >>> summed_up([1.0, 2.0, 4.0, 5.0, 5.0], "MB/s")
    Measured(value=5.0, unit='MB/s', spread=0.6, repeats=5)
    >>> summed_up([1.0, 2.0, 4.0, 5.0, 5.0], "ms", less_is_better=True)
    Measured(value=2.0, unit='ms', spread=1.5, repeats=5)
    """
    low, high = np.quantile(values, (0.25, 0.75)).tolist()
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


def rate_of(work: Callable[[], object], units: float, window: float = 0.2) -> float:
    """Return the units per second of work of so many units, repeated for a window of time.

    So many seconds hold many periods of a CPU quota.
    """
    done, begun = 0.0, clock.wall()
    while True:
        work()
        done += units
        elapsed = clock.wall() - begun
        if elapsed >= window:
            return done / elapsed


def side_by_side(works: Sequence[Callable[[], object]], units: float) -> float:
    """Return the units per second of several threads together, each doing its own work."""
    with ThreadPoolExecutor(len(works)) as pool:
        return sum(pool.map(lambda work: rate_of(work, units), works))
