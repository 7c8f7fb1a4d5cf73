"""Memory cliffs: points that no smooth model can hold."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from costmodels.rows import FloatArray
from costmodels.scaling.laws import Law
from costmodels.scaling.points import Columns, Points

NOISE_MARGIN = 3.0  # standard deviations of a ratio of two medians: one in 700 by chance; not tuned


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

    @property
    def loads(self) -> tuple[float, float]:
        """Scale per machine on the fast and on the slow side."""
        fewer, more = self.machines
        return self.scale / more, self.scale / fewer

    @property
    def load(self) -> float:
        """Scale per machine between the two sides (geometric mean)."""
        return float(np.sqrt(np.prod(self.loads)))


def slow_from(cliffs: list[Cliff]) -> float:
    """Return the scale per machine above which a job is taken to be short of memory.

    It lies between the two sides of each cliff; where they agree, any factor is as likely as
    another. To take a fast configuration for a slow one is wrong by excess - 1 of its time, the
    opposite by only 1 - 1/excess, so the mean relative error is least when the slow side begins
    where it is `excess` times as likely as the fast one.
    """
    first = cliffs[0]
    fast, slow = first.loads
    for cliff in cliffs[1:]:
        if cliff.loads[0] < slow:
            fast, slow = max(fast, cliff.loads[0]), min(slow, cliff.loads[1])
    return fast * float((slow / fast) ** (first.excess / (1 + first.excess)))


def find_cliffs(points: Points, excess: float) -> list[Cliff]:
    """Return where the time falls `excess` times more than the ideal speed-up, and than noise.

    Compared are neighbouring machine counts of one scale (and of the same other columns).
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
        if ratio > max(excess, 1 + NOISE_MARGIN * float(np.hypot(spread[a], spread[b]))):
            sides = (float(machines[a]), float(machines[b]))
            times = (float(seconds[a]), float(seconds[b]))
            found.append(Cliff(float(points.columns["scale"][a]), sides, times, float(ratio)))
    return sorted(found, key=lambda cliff: cliff.load)


@dataclass(frozen=True)
class CliffLaw:
    """One law where memory suffices and another where it does not."""

    # Below the edge.
    smooth: Law
    # Scale per machine above which the job is short of memory.
    edge: float
    # Above the edge.
    pressed: Law
    # On `pressed`.
    factor: float

    @property
    def coefficients(self) -> dict[str, float]:
        """Those of the smooth law."""
        return self.smooth.coefficients

    @property
    def formula(self) -> str:
        """The smooth law, and what holds above the edge."""
        if self.pressed is self.smooth:
            other = f"{self.factor:.3g} times that"
        else:
            other = self.pressed.formula
        return f"{self.smooth.formula}; above scale/machines = {self.edge:.4g}: {other}"

    def seconds(self, columns: Columns) -> FloatArray:
        """Return the seconds of each configuration."""
        pressed = columns["scale"] / columns["machines"] > self.edge
        return np.where(
            pressed, self.factor * self.pressed.seconds(columns), self.smooth.seconds(columns)
        )
