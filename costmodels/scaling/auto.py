"""A scaling model for any job: several laws at once, or forward selection among terms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from costmodels.leftout import RowErrors
from costmodels.rows import CompressedRows
from costmodels.scaling.base import ScalingModel
from costmodels.scaling.laws import (
    Law,
    LinearLaw,
    fit_linear,
    fit_power,
    fit_product,
    term_rows,
)
from costmodels.scaling.leftout import left_out_configurations
from costmodels.scaling.points import Points
from costmodels.scaling.terms import TERMS, Term, check_terms
from costmodels.scaling.usual import fit_usual

__all__ = ["AutoScaling", "CombinedLaw", "select_terms"]

FloatArray = npt.NDArray[np.float64]
Columns = Mapping[str, FloatArray]
Fit = Callable[[Points], Law]

METHODS = ("combine", "select")
SEED = ("1", "scale/machines")
LINEAR_MEMBERS = {
    "amdahl": SEED,
    "ernest": (*SEED, "log(machines)", "machines"),
    "quadratic": (*SEED, "(scale/machines)^2"),
}
# Where the scale changes too, a part of the time may grow with all of the data.
SCALE_MEMBERS = {
    "serial data": (*SEED, "scale"),
    "serial data, quadratic": (*SEED, "scale", "(scale/machines)^2"),
}

# A law's share in the median is its left-out error to the power -(n - 5), at most -8, for n
# configurations: the errors of a handful tell luck from merit no better than equal shares do.
EQUAL_SHARES = 5
MOST_POWER = 8
ERROR_FLOOR = 0.02  # relative; below it laws are as good as each other
FOLDS = 5
SHOWN_SHARE = 0.01


@dataclass(frozen=True)
class CombinedLaw:
    """Weighted median of several laws, interpolated between them as factors.

    Attributes
    ----------
    laws : mapping of str to Law
        By name.
    shares : tuple of float
        Weight of each law; their sum is 1.
    """

    laws: Mapping[str, Law]
    shares: tuple[float, ...]

    @property
    def coefficients(self) -> dict[str, float]:
        """Coefficients of every law, named ``law: coefficient``."""
        return {
            f"{name}: {term}": cost
            for name, law in self.laws.items()
            for term, cost in law.coefficients.items()
        }

    @property
    def formula(self) -> str:
        """One line with every law that has a share of 1% or more."""
        parts = [
            f"{share:.0%} {law.formula.removeprefix('seconds = ')}"
            for law, share in zip(self.laws.values(), self.shares, strict=True)
            if share >= SHOWN_SHARE
        ]
        return f"seconds = median of ({'; '.join(parts)})"

    def each(self, columns: Columns) -> FloatArray:
        """Return the seconds by each law, shape (laws, n)."""
        return np.array([law.seconds(columns) for law in self.laws.values()])

    def seconds(self, columns: Columns) -> FloatArray:
        """Return the seconds of each configuration."""
        logs = np.log(np.maximum(self.each(columns), np.finfo(np.float64).tiny))
        order = np.argsort(logs, axis=0, kind="stable")
        logs = np.take_along_axis(logs, order, axis=0)
        shares = np.array(self.shares)[order]
        middles = np.cumsum(shares, axis=0) - shares / 2
        found = [np.interp(0.5, middle, log) for middle, log in zip(middles.T, logs.T, strict=True)]
        seconds: FloatArray = np.exp(np.array(found))
        return seconds


def select_terms(
    points: Points, terms: tuple[Term, ...], weights: str, min_gain: float
) -> tuple[Term, ...]:
    """Choose terms by forward selection, from 1 and scale/machines on.

    Added is the term whose model predicts left-out configurations best, as long as the error
    falls by `min_gain` of itself and by 1/n of itself.
    """
    seed = [i for i, term in enumerate(terms) if term.name in SEED] or [0]
    rows = term_rows(points, terms, weights)
    errors = RowErrors(rows, CompressedRows.of(rows))
    chosen = [i + 1 for i in seed]
    error = errors(np.array(chosen))
    bound = max(min_gain, 1 / len(points))
    left = [i + 1 for i in range(len(terms)) if i not in seed]
    while left and len(chosen) < len(points) - 1:
        found = [errors(np.array([*chosen, column])) for column in left]
        smallest = min(found)
        if not smallest < error * (1 - bound):
            break
        best = next(i for i, value in enumerate(found) if value <= smallest * (1 + 1e-6))
        error = found[best]
        chosen.append(left.pop(best))
    return tuple(terms[column - 1] for column in chosen)


class AutoScaling(ScalingModel):
    """The scaling model to use when nothing is known about the job.

    ``method="combine"`` (the default) fits several laws of different shape (Amdahl's, Ernest's,
    one quadratic in the data per machine, the power law, the product of powers; where the scale
    changes also two with a part that grows with all of the data, and one of selected terms) and
    predicts their weighted median, so that one law that goes astray far from the measured points
    does not count. With up to 5 configurations every law has the same weight; with more, laws that
    predict left-out configurations well have more of it. Up to 5 configurations of one scale are
    too few to tell the laws apart: fitted is a + b machines^-c, c drawn to its usual value.
    ``method="select"`` chooses terms of the library by forward selection, which gives one formula.

    Parameters
    ----------
    method : {"combine", "select"}, default "combine"
        See above.
    terms : sequence of str or Term, optional
        Terms to choose among, such as the library and one's own; None is the library. When given,
        the law of selected terms always takes part.
    min_gain : float, default 0.05
        Least part of the left-out error that one more term must remove.
    weights : {"relative", "none"}, default "relative"
        As in :class:`LinearScaling`.
    cliffs : {"split", "keep"}, default "split"
        As in :class:`LinearScaling`.
    cliff_excess : float, default 1.5
        As in :class:`LinearScaling`.

    Attributes
    ----------
    coef_, terms_, formula_, r2_, loocv_, cliffs_, warnings_, law_, points_
        As in :class:`LinearScaling`.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"machines": [2, 4, 6, 8]})
    >>> model = AutoScaling().fit(runs, 50 + 300 / runs["machines"])
    >>> model.predict(pd.DataFrame({"machines": [12]})).round(-1)
    array([80.])
    """

    def __init__(
        self,
        *,
        method: str = "combine",
        terms: Iterable[str | Term] | None = None,
        min_gain: float = 0.05,
        weights: str = "relative",
        cliffs: str = "split",
        cliff_excess: float = 1.5,
    ) -> None:
        self.method = method
        self.terms = terms
        self.min_gain = min_gain
        self.weights = weights
        self.cliffs = cliffs
        self.cliff_excess = cliff_excess

    def _check_options(self) -> None:
        super()._check_options()
        if self.method not in METHODS:
            raise ValueError(f"unknown method {self.method!r}; accepted: {', '.join(METHODS)}")
        if not 0 <= self.min_gain < 1:
            raise ValueError(f"min_gain is {self.min_gain!r}, but must be in [0, 1)")

    def _selected(self, points: Points) -> LinearLaw:
        library = check_terms(TERMS if self.terms is None else self.terms)
        terms = select_terms(points, library, self.weights, self.min_gain)
        return fit_linear(points, terms, self.weights)

    def _fit_law(self, points: Points) -> Law:
        if self.method == "select":
            return self._selected(points)
        members = self._members(points)
        laws = {name: fit(points) for name, fit in members.items()}
        if len(laws) == 1:
            return next(iter(laws.values()))
        power = min(len(points) - EQUAL_SHARES, MOST_POWER)
        if power <= 0:
            return CombinedLaw(laws, (1 / len(laws),) * len(laws))
        errors = np.array(
            [
                float(np.mean(left_out_configurations(fit, points, FOLDS).log_errors ** 2))
                for fit in members.values()
            ]
        )
        # Of the smallest, lest the powers run out of range.
        worth = (errors.min() + ERROR_FLOOR**2) / (errors + ERROR_FLOOR**2)
        shares = worth ** (power / 2)
        return CombinedLaw(laws, tuple((shares / shares.sum()).tolist()))

    def _members(self, points: Points) -> dict[str, Fit]:
        """Return the laws that so many points can tell apart, as functions that fit them."""
        grows = len(np.unique(points.columns["scale"])) > 1
        if not grows and len(points) <= EQUAL_SHARES:
            usual: dict[str, Fit] = {"usual": partial(fit_usual, weights=self.weights)}
            return usual if self.terms is None else {**usual, "selected": self._selected}
        linear = LINEAR_MEMBERS | SCALE_MEMBERS if grows else LINEAR_MEMBERS
        members: dict[str, Fit] = {
            name: partial(fit_linear, terms=check_terms(terms), weights=self.weights)
            for name, terms in linear.items()
        }
        # A curve with more unknowns than there are points may go anywhere between them.
        if len(points) >= 3:
            members["power-law"] = partial(fit_power, weights=self.weights)
        if len(points) >= 3 + grows:
            members["product"] = partial(fit_product, weights=self.weights, const=True)
        if grows or self.terms is not None:
            members["selected"] = self._selected
        return members
