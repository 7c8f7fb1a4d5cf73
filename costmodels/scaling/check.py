"""Does the model fit, and what would help: Ernest's validation (section 3.4 and Table 2).

And memory cliffs: points that no smooth model can hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from costmodels.leftout import LeaveOneOut, folds_of
from costmodels.scaling.laws import Law, LinearLaw, fit_linear
from costmodels.scaling.points import Points
from costmodels.scaling.terms import TERMS, Term


@dataclass(frozen=True)
class FitCheck:
    """Verdict on a fitted model.

    Attributes
    ----------
    fits : bool
        Whether the median left-out error is within the threshold.
    sentence : str
        The same in words.
    term : Term or None
        The term of the library that lowers the left-out errors most, and their median; None when
        the model fits, or no term helps.
    """

    fits: bool
    sentence: str
    term: Term | None = None


def check_fit(model: Any, threshold: float = 10.0, *, min_gain: float = 0.05) -> FitCheck:
    """Check whether a fitted model predicts left-out configurations, and which term would help.

    Parameters
    ----------
    model : ScalingModel
        Fitted. A term is proposed for linear models only.
    threshold : float, default 10
        Largest median left-out error of a model that fits, in percent; twice the error of `auto`
        (docs/studies/cluster-models.md). Intervals are as wide as the errors, so those of another
        model can be used.
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
    >>> from costmodels.scaling import AutoScaling, Ernest
    >>> m = np.array([1.0, 2, 4, 8, 16, 32, 64])
    >>> model = Ernest().fit(np.column_stack((np.full(7, 8.0), m)), 2 * (8 / m) ** 2 + 0.1)
    >>> check_fit(model).term.name
    '(scale/machines)^2'
    >>> odd = AutoScaling().fit(np.column_stack((np.ones(5), m[:5])), [100, 20, 300, 18, 9])
    >>> check_fit(odd).sentence.endswith("above 10%")
    True
    """
    if not threshold > 0:
        raise ValueError(f"threshold is {threshold!r}, but must be positive")
    loocv: LeaveOneOut = model.loocv_
    middle = f"the median left-out error is {loocv.median_percent_error:.1f}%"
    # Of 25 simulated jobs of Amdahl's law with three runs, 11 would not fit.
    if len(loocv.actual) < 4:
        return FitCheck(True, f"so few runs cannot say if it fits: {middle}")
    if loocv.median_percent_error <= threshold:
        return FitCheck(True, f"the model fits: {middle}")
    misfit = f"this model fits roughly: {middle}, above {threshold:g}%"
    if not isinstance(model.law_, LinearLaw):
        return FitCheck(False, misfit)
    base, tried = model.law_.terms, dict[float, tuple[Term, LeaveOneOut]]()
    for term in TERMS.values():
        if all(term.name != known.name for known in base):
            fit = partial(fit_linear, terms=(*base, term), weights=model.weights)
            found = left_out_configurations(fit, model.points_)
            if found.median_percent_error < loocv.median_percent_error:
                tried[_size(found, model.weights)] = term, found
    least = min(tried, default=np.inf)
    if least >= _size(loocv, model.weights) * (1 - min_gain):
        return FitCheck(False, f"{misfit}; no term of the library helps")
    best, found = tried[least]
    lower = f"lowers it to {found.median_percent_error:.1f}%"
    return FitCheck(False, f"{misfit}; add the term {best.name!r}, which {lower}", best)


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
        return self.sentence()

    def sentence(self, unit: str = "machines") -> str:
        """Return what it means, in words; the machines may be counted in another unit."""
        fewer, more = self.machines
        slow, fast = self.seconds
        at = "" if self.scale == 1 else f" at scale {self.scale:g}"
        return (
            f"from {fewer:g} to {more:g} {unit}{at} the time falls {slow / fast:.1f}-fold "
            f"({slow:.4g} s to {fast:.4g} s), {self.excess:.1f} times more than the {unit} "
            f"account for: with {fewer:g} the job is probably short of memory"
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
