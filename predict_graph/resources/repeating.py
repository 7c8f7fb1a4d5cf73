"""Measurements that are repeated, in turns or by several threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from predict_graph.timing import clock


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
