"""Does the model fit, and what would help: Ernest's validation (section 3.4 and Table 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from costmodels.leftout import LeaveOneOut, folds_of
from costmodels.scaling.laws import Law, LinearLaw, fit_linear
from costmodels.scaling.points import Points
from costmodels.scaling.terms import TERMS, Term

MISFIT = 10.0  # percent: twice the error of `auto` (docs/studies/cluster-models.md)


@dataclass(frozen=True)
class FitCheck:
    """Verdict on a fitted model.

    Attributes
    ----------
    fits : bool
        Whether the median left-out error is within the threshold.
    loocv : LeaveOneOut
        Left-out errors of the model.
    term : Term or None
        The term of the library that lowers the left-out error most; None when the model fits, or
        no term helps.
    extended : LeaveOneOut or None
        Left-out errors with that term.
    """

    fits: bool
    threshold: float
    loocv: LeaveOneOut
    term: Term | None
    extended: LeaveOneOut | None

    def __str__(self) -> str:
        error = self.loocv.median_percent_error
        if self.fits:
            return f"the model fits: the median left-out error is {error:.1f}%"
        text = (
            f"this model does not fit: the median left-out error is {error:.1f}%, "
            f"above {self.threshold:g}%"
        )
        if self.term is None or self.extended is None:
            return f"{text}; no term of the library helps"
        lower = self.extended.median_percent_error
        return f"{text}; add the term {self.term.name!r}, which lowers it to {lower:.1f}%"


def check_fit(model: Any, threshold: float = MISFIT, *, min_gain: float = 0.05) -> FitCheck:
    """Check whether a fitted model predicts left-out configurations, and which term would help.

    Parameters
    ----------
    model : ScalingModel
        Fitted. A term is proposed for linear models only.
    threshold : float, default 10
        Largest median left-out error of a model that fits, in percent.
    min_gain : float, default 0.05
        Least part of the left-out error that a proposed term must remove.

    Returns
    -------
    FitCheck

    Raises
    ------
    ValueError
        If the threshold is not positive.

    References
    ----------
    Venkataraman et al.: Ernest, NSDI 2016, section 3.4 and Table 2.

    Examples
    --------
    >>> import numpy as np
    >>> from costmodels.scaling import Ernest
    >>> m = np.array([1.0, 2, 4, 8, 16, 32, 64])
    >>> model = Ernest().fit(np.column_stack((np.full(7, 8.0), m)), 2 * (8 / m) ** 2 + 0.1)
    >>> check_fit(model).term.name
    '(scale/machines)^2'
    """
    if not threshold > 0:
        raise ValueError(f"threshold is {threshold!r}, but must be positive")
    loocv: LeaveOneOut = model.loocv_
    fits = loocv.median_percent_error <= threshold
    if fits or not isinstance(model.law_, LinearLaw):
        return FitCheck(fits, threshold, loocv, None, None)
    base, points = model.law_.terms, model.points_
    known = {term.name for term in base}
    best: tuple[Term | None, LeaveOneOut | None] = (None, None)
    smallest = _size(loocv, model.weights) * (1 - min_gain)
    for term in TERMS.values():
        if term.name in known:
            continue
        fit = partial(fit_linear, terms=(*base, term), weights=model.weights)
        found = left_out_configurations(fit, points)
        if _size(found, model.weights) < smallest:
            best, smallest = (term, found), _size(found, model.weights)
    return FitCheck(fits, threshold, loocv, *best)


def _size(found: LeaveOneOut, weights: str) -> float:
    """Root-mean-square left-out error, in the measure that the model minimises."""
    errors = found.percent_errors if weights == "relative" else found.predicted - found.actual
    return float(np.sqrt(np.mean(errors**2)))


def left_out_configurations(fit: Callable[[Points], Law], points: Points) -> LeaveOneOut:
    """Leave each configuration out with all its repeats, and predict it by a fit of the others."""
    predicted = np.empty(len(points))
    for out in folds_of(len(points)):
        predicted[out] = fit(points.take(~out)).seconds(points.take(out).columns)
    return LeaveOneOut(predicted, points.seconds)
