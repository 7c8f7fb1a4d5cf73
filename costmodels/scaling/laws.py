"""Laws: what a fitted scaling model knows, seconds as a function of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from costmodels.arrays import FloatArray
from costmodels.rows import TrainingRows
from costmodels.scaling.points import Columns, Points
from costmodels.scaling.terms import Term


class Law(Protocol):
    """Seconds of a configuration."""

    def seconds(self, columns: Columns) -> FloatArray:
        """Return the seconds of each configuration, shape (n,)."""


@dataclass(frozen=True)
class LinearLaw:
    """Sum of coefficient times term."""

    terms: tuple[Term, ...]
    coef: tuple[float, ...]

    @property
    def rows(self) -> list[tuple[str, float, str]]:
        """Name of each term, cost of one unit of it, and the unit of that: s/machine."""
        return [
            (term.name, cost, "s" if term.units == "1" else f"s/({term.units})")
            for term, cost in zip(self.terms, self.coef, strict=True)
        ]

    @property
    def formula(self) -> str:
        """One line, the terms that cost nothing left out."""
        parts = [
            f"{cost:.4g} {unit}" if unit == "s" else f"{cost:.4g} {unit} * {name}"
            for name, cost, unit in self.rows
            if cost > 0
        ]
        return "seconds = " + (" + ".join(parts) or "0 s")

    def seconds(self, columns: Columns) -> FloatArray:
        """Return the seconds of each configuration."""
        total = np.zeros(len(columns["machines"]))
        for term, cost in zip(self.terms, self.coef, strict=True):
            if cost > 0:
                total += cost * term(columns)
        return total


def fit_linear(points: Points, terms: tuple[Term, ...], weights: str) -> LinearLaw:
    """Fit non-negative coefficients of `terms` by least squares."""
    table = np.column_stack([term(points.columns) for term in terms])
    importance = 1 / points.seconds if weights == "relative" else np.ones(len(points))
    names = [term.name for term in terms]
    rows = TrainingRows(table, points.seconds, points.repeats, importance, names)
    solution = rows.solve(np.arange(1, len(terms) + 1))
    return LinearLaw(terms, tuple(solution[1:].tolist()))
