"""The design problem: candidates, budget, terms and criterion, and designs that answer it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from costmodels.arrays import FloatArray
from costmodels.design.criteria import make_criterion
from costmodels.design.grid import check_whole
from costmodels.design.rounding import RunChoice, cheapest_basis
from costmodels.scaling.terms import ERNEST, Term, check_terms

CRITERIA = {
    "a": "mean variance of the coefficients, each in units of its term's mean",
    "i": "mean variance of the predictions at the targets",
}
"""Name of each criterion, and what it makes small."""


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


class DesignProblem:
    """Which of the candidates to run, and how often, within a budget.

    Parameters
    ----------
    candidates : DataFrame
        Columns ``scale``, ``machines``, ``cost`` (of one run) and others that terms take; one row
        a candidate, such as :func:`candidate_grid` gives. All positive.
    budget : float
        What all runs may cost together, in the unit of the costs.
    terms : sequence of str or Term, default Ernest's four
        Terms of the model that will be fitted.
    criterion : {"a", "i"}, default "a"
        ``"a"``: the mean variance of the coefficients, tr(M^-1) with each term in units of its mean
        over the candidates; ``"i"``: the mean variance of the predictions at `targets`. M is the
        sum of f f' over the runs, f being the terms of a run; variances are in units of that of one
        run.
    targets : DataFrame, optional
        Configurations to predict, columns ``scale``, ``machines`` and others that terms take; for
        ``"i"`` only. None is the candidates.
    max_repeats : int, default 1
        Most runs of one candidate.

    Raises
    ------
    ValueError
        If a number is out of range, a column is missing, a candidate comes twice, the candidates
        cannot tell the terms apart, or the budget does not afford as many runs as it takes.

    References
    ----------
    Venkataraman et al.: Ernest, NSDI 2016, section 3.3. Pukelsheim: Optimal Design of Experiments
    (1993), chapters 6 and 12.

    Examples
    --------
    >>> from costmodels.design import candidate_grid
    >>> grid = candidate_grid((1, 8), range(1, 9), steps=8)
    >>> 0.5 < DesignProblem(grid, budget=12).optimal().efficiency <= 1
    True
    """

    def __init__(
        self,
        candidates: pd.DataFrame,
        budget: float,
        *,
        terms: Iterable[str | Term] = ERNEST,
        criterion: str = "a",
        targets: pd.DataFrame | None = None,
        max_repeats: int = 1,
    ) -> None:
        if criterion not in CRITERIA:
            raise ValueError(f"unknown criterion {criterion!r}; accepted: {', '.join(CRITERIA)}")
        if targets is not None and criterion != "i":
            raise ValueError(f"targets are given, but the criterion {criterion!r} has none")
        check_whole("max_repeats", max_repeats)
        self.candidates = check_table(candidates, "candidates", ("scale", "machines", "cost"))
        self.terms = check_terms(terms)
        self.costs: FloatArray = self.candidates["cost"].to_numpy(np.float64)
        wanted = self.candidates
        if targets is not None:
            wanted = check_table(targets, "targets", ("scale", "machines"))
        self._names = tuple(term.name for term in self.terms)
        rows, targeted = (_rows(table, self.terms) for table in (self.candidates, wanted))
        self.criterion = make_criterion(criterion, rows, self._names, targeted)
        self.budget = self._check_budget(budget)
        most = min(self.budget, max_repeats * float(self.costs.sum()))  # all runs cost no more
        self._choice = RunChoice(self.criterion, self.costs, most, max_repeats)

    def _check_budget(self, budget: float) -> float:
        if not (np.isfinite(budget) and budget > 0):
            raise ValueError(f"budget is {budget!r}, but must be positive and finite")
        least = float(self.costs[cheapest_basis(self.criterion, self.costs)].sum())
        if budget < least * (1 - 1e-12):
            raise ValueError(
                f"the budget {budget:g} affords too few runs: the {self.criterion.terms} terms "
                f"need {self.criterion.terms} experiments, which cost {least:.6g} at least"
            )
        return float(budget)

    @cached_property
    def weights(self) -> FloatArray:
        """Solution of the convex problem: runs of each candidate, not whole; shape (n,)."""
        return self._choice.relaxed()

    def optimal(self) -> Design:
        """Return whole runs whose criterion is near the relaxed optimum."""
        return self.design(self._choice.rounded(self.weights))

    def design(self, repeats: npt.ArrayLike) -> Design:
        """Return the design with given runs of each candidate, shape (n,).

        Raises
        ------
        ValueError
            If there is not one whole number, 0 or more, for each candidate. The budget is not
            checked: a design of another tool may exceed it, which its `cost` shows.
        """
        counts = np.asarray(repeats)
        if counts.shape != self.costs.shape:
            raise ValueError(
                f"repeats has the shape {counts.shape}, but there are {len(self.costs)} candidates"
            )
        if not (np.isfinite(counts) & (counts >= 0) & (counts == np.rint(counts))).all():
            raise ValueError("repeats must be whole numbers, 0 or more")
        counts = counts.astype(np.int64)
        points = self.candidates.copy()
        points.insert(2, "repeats", counts)
        order = ["cost", "machines", "scale"]
        points = points[counts > 0].sort_values(order, kind="stable", ignore_index=True)
        value, bound = self.criterion.value(counts), self._choice.bound(self.weights)
        return Design(points, self.budget, self.criterion.name, value, bound, self._names)


def optimal_design(candidates: pd.DataFrame, budget: float, **options: Any) -> Design:
    """Choose the runs that teach a model most for the budget.

    Parameters
    ----------
    candidates, budget, **options
        As in :class:`DesignProblem`.

    Returns
    -------
    Design

    Examples
    --------
    >>> from costmodels.design import candidate_grid
    >>> grid = candidate_grid((1, 4), range(1, 5), steps=2)
    >>> optimal_design(grid, 6, terms=["1", "scale/machines"]).points.round(2)
       scale  machines  repeats  cost
    0    1.0         4        1  0.25
    1    1.0         3        1  0.33
    2    1.0         2        1  0.50
    3    4.0         1        1  4.00
    >>> round(optimal_design(grid, 1e5, terms=["1", "scale/machines"]).efficiency, 6)
    1.0
    """
    return DesignProblem(candidates, budget, **options).optimal()


def _rows(table: pd.DataFrame, terms: tuple[Term, ...]) -> FloatArray:
    columns = {str(name): table[name].to_numpy(np.float64) for name in table}
    return np.column_stack([term(columns) for term in terms])


def check_table(table: pd.DataFrame, what: str, needed: tuple[str, ...]) -> pd.DataFrame:
    """Return the table with the needed columns first, after checking its numbers."""
    if not isinstance(table, pd.DataFrame):
        raise ValueError(f"{what} is {type(table).__name__}, but must be a DataFrame")
    if missing := [name for name in needed if name not in table]:
        raise ValueError(
            f"{what} has no column {missing[0]!r}; there are: {', '.join(map(str, table))}"
        )
    if "repeats" in table:
        raise ValueError(f"{what} has a column 'repeats', which only a design may have")
    if table.empty:
        raise ValueError(f"{what} has no rows")
    others = [name for name in table if name not in needed]
    table = table[[*needed, *others]].reset_index(drop=True)
    for name in table:
        try:
            numbers = table[name].to_numpy(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} of {what} holds what is no number") from None
        good = np.isfinite(numbers) & ((numbers > 0) | (name not in needed))
        if not good.all():
            at = int(np.flatnonzero(~good)[0])
            must = "positive and finite" if name in needed else "finite"
            raise ValueError(f"{name} of {what}, row {at}, is {numbers[at]:g}, but must be {must}")
    if what == "candidates":
        twice = table.drop(columns="cost").duplicated()
        if twice.any():
            at = int(np.flatnonzero(twice)[0])
            raise ValueError(
                f"candidates, row {at}, repeats an earlier one (scale {table['scale'][at]:g}, "
                f"machines {table['machines'][at]:g}); max_repeats allows several runs of one"
            )
    return table
