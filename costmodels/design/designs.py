"""A design: which experiments to run how often, what that costs and how good it is."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Design:
    """Experiments to run.

    Attributes
    ----------
    points : DataFrame
        ``scale``, ``machines``, ``repeats``, ``cost`` of one run, and other columns of the
        candidates; cheapest first.
    budget : float
        What the runs may cost together.
    criterion : str
        ``"a"`` or ``"i"``.
    value : float
        Criterion of the design; smaller is better, infinite if it cannot tell the terms apart.
    bound : float
        What no design of the same candidates and budget goes below, even with parts of runs.
    terms : tuple of str
        Names of the terms that it is made for.
    """

    points: pd.DataFrame
    budget: float
    criterion: str
    value: float
    bound: float
    terms: tuple[str, ...]

    @property
    def runs(self) -> int:
        """Number of runs, repeats included."""
        return int(self.points["repeats"].sum())

    @property
    def cost(self) -> float:
        """Expected cost of all runs."""
        return float((self.points["repeats"] * self.points["cost"]).sum())

    @property
    def efficiency(self) -> float:
        """Bound by value: 1 is optimal; at 0.5 no design has less than half the variance."""
        return self.bound / self.value

    def __str__(self) -> str:
        return (
            f"{self.runs} runs of {len(self.points)} experiments, expected cost {self.cost:.4g} "
            f"of {self.budget:.4g}; {self.criterion.upper()}-criterion {self.value:.4g}, "
            f"{self.efficiency:.1%} of the optimum"
        )
