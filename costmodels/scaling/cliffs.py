"""Memory cliffs: points that no smooth model can hold."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from costmodels.scaling.points import Points


@dataclass(frozen=True)
class Cliff:
    """A fall of the time between two neighbouring machine counts beyond any speed-up.

    Attributes
    ----------
    scale : float
        The scale at which both were measured.
    machines : tuple of float
        The fewer machines (under memory pressure) and the more.
    seconds : tuple of float
        Median times at them.
    excess : float
        How many times shorter than the ideal speed-up gives; m more machines divide a time by no
        more than m unless they bring something else, which is memory.
    """

    scale: float
    machines: tuple[float, float]
    seconds: tuple[float, float]
    excess: float

    def __str__(self) -> str:
        fewer, more = self.machines
        slow, fast = self.seconds
        at = "" if self.scale == 1 else f" at scale {self.scale:g}"
        return (
            f"from {fewer:g} to {more:g} machines{at} the time falls {slow / fast:.1f}-fold "
            f"({slow:.4g} s to {fast:.4g} s), {self.excess:.1f} times more than the machines "
            f"account for: at {fewer:g} machines the job is probably short of memory"
        )


def find_cliffs(points: Points, excess: float = 1.5, margin: float = 3.0) -> list[Cliff]:
    """Return where the time falls so many times more than the ideal speed-up, and than noise.

    Compared are neighbouring machine counts of one scale (and of the same other columns). The
    margin is in standard deviations of a ratio of two medians: one in 700 is beyond 3 by chance.
    """
    machines, seconds = points.columns["machines"], points.seconds
    fixed = [column for name, column in points.columns.items() if name != "machines"]
    spread = points.noise / np.sqrt(np.maximum(points.repeats, 1))
    order = np.lexsort((machines, *fixed))
    found = []
    for a, b in pairwise(order):
        if any(column[a] != column[b] for column in fixed):
            continue
        ratio = machines[a] * seconds[a] / (machines[b] * seconds[b])
        if ratio > max(excess, 1 + margin * float(np.hypot(spread[a], spread[b]))):
            sides = (float(machines[a]), float(machines[b]))
            times = (float(seconds[a]), float(seconds[b]))
            found.append(Cliff(float(points.columns["scale"][a]), sides, times, float(ratio)))
    return sorted(found, key=lambda cliff: cliff.scale / cliff.machines[0])
