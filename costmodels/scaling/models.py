"""Scaling models as scikit-learn estimators: what all have in common, and published ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from costmodels.arrays import FloatArray
from costmodels.leftout import interval_about
from costmodels.rows import WEIGHTS, CostRegressor, determination
from costmodels.scaling.check import Cliff, check_fit, find_cliffs, left_out_configurations
from costmodels.scaling.laws import Law, LinearLaw, fit_linear
from costmodels.scaling.points import Columns, Points, gather_points, named_columns, read_runs
from costmodels.scaling.terms import ERNEST, MASHA, Term, check_terms


class ScalingModel(CostRegressor):
    """Seconds of a job as a function of its scale, its machines, and what else its terms name.

    A subclass fits a law to distinct configurations in :meth:`_law`.

    Attributes
    ----------
    law_ : Law
        The fitted law, which `predict` evaluates.
    points_ : Points
        The distinct configurations, with the median of repeats.
    cliffs_ : list of Cliff
        Where memory is too small.
    loocv_ : LeaveOneOut
        Errors of configurations that were left out.
    check_ : FitCheck
        Whether it fits.
    r2_ : float
    warnings_ : list of str
    """

    _varied: tuple[str, ...] = ("machines",)  # columns, and runs differ in one of them

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the law.

        Parameters
        ----------
        X : DataFrame or array_like, shape (n, k)
            A DataFrame with the columns ``machines`` and (unless it never changes) ``scale``, and
            others that terms name; an array with scale first and machines second. Scale and
            machines are positive. Rows that are equal are repeats.
        y : array_like, shape (n,)
            Seconds; positive.

        Raises
        ------
        ValueError
            If a value is out of range, a column is missing, there is one machine count only (and
            one number of cores), or there are fewer configurations than the model needs.
        """
        return self._fit(gather_points(*read_runs(self, X, y)))

    def _fit(self, points: Points) -> Self:
        _check_enough(points, self._varied)
        self.points_ = points
        self.cliffs_: list[Cliff] = find_cliffs(points)
        self.law_ = self._law(points)
        self.loocv_ = left_out_configurations(self._law, points)
        fitted = self.law_.seconds(points.columns)
        self.r2_ = determination(points.seconds, fitted, points.repeats)
        self.check_ = check_fit(self)
        self.warnings_ = self._warnings()
        return self

    def _law(self, points: Points) -> Law:
        """Return the law that fits some configurations."""
        raise NotImplementedError

    def _warnings(self) -> list[str]:
        misfit = [] if self.check_.fits else [self.check_.sentence]
        return [*map(str, self.cliffs_), *misfit]

    def _predicted(self, table: FloatArray) -> FloatArray:
        return self.law_.seconds(named_columns(self, table))

    def predict_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Interval for the time of one run of each configuration.

        Of a linear model it combines the left-out errors, as factors, with the spread of repeats
        (3% where nothing was repeated, about what runs on rented machines show). That of `auto`
        widens with the distance from the measured runs, and where the shapes disagree.

        Parameters
        ----------
        X : DataFrame or array_like, shape (n, k)
            The same columns as in `fit`, in the same order.
        level : float, default 0.9
            Probability that the interval contains the time; in (0, 1).

        Returns
        -------
        ndarray of float64, shape (n, 2)
        """
        return self._interval(named_columns(self, self._known(X)), level)

    def _interval(self, columns: Columns, level: float) -> FloatArray:
        """Return low and high of each configuration, by default symmetric as factors."""
        known = {"noise": self.points_.noise} if (self.points_.repeats > 1).any() else {}
        predicted = self.law_.seconds(columns)
        return interval_about(predicted, self.loocv_.log_errors, level, **known)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def _check_enough(points: Points, varied: Sequence[str]) -> None:
    """Refuse points of one configuration, or that differ in none of the columns `varied`."""
    if len(points) < 2:
        rows = int(points.repeats.sum())
        what = f"found {rows} sample{'s' if rows != 1 else ''} of 1 configuration"
        raise ValueError(f"{what}, but a scaling model needs at least 2")
    if not any(np.ptp(points.columns.get(name, 1.0)) for name in varied):
        raise ValueError(
            f"all have machine count {points.columns['machines'][0]:g}, but a scaling model needs "
            "at least two machine counts"
        )


class LinearScaling(ScalingModel):
    """Non-negative sum of any terms.

    Parameters
    ----------
    terms : sequence of str or Term
        Names of the library (:data:`~costmodels.scaling.TERMS`), or terms of the user's own.
    weights : {"relative", "none"}, default "relative"
        ``"relative"`` minimises relative errors, ``"none"`` errors in seconds.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (k,)
        Seconds per unit of each term; 0 or more.
    terms_ : dict of str to float
        The same by name.
    formula_ : str
        One line, with units.
    r2_ : float
        Coefficient of determination on the medians, in seconds.
    loocv_ : LeaveOneOut
        Errors of configurations that were left out, one at a time.
    check_ : FitCheck
        Whether it fits, by these errors.
    cliffs_ : list of Cliff
        Where the time falls beyond any speed-up.
    warnings_ : list of str
        What should be known before the model is trusted.
    law_ : Law
        What `predict` evaluates.
    points_ : Points
        Configurations with the medians and weights of their repeats.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"scale": [1, 2, 4, 8], "machines": [1, 4, 2, 4]})
    >>> seconds = 3 + 10 * runs["scale"] / runs["machines"]
    >>> LinearScaling(["1", "scale/machines"]).fit(runs, seconds).formula_
    'seconds = 3 s + 10 s/(scale/machine) * scale/machines'
    """

    def __init__(self, terms: Sequence[str | Term] = ERNEST, *, weights: str = "relative") -> None:
        self.terms = terms
        self.weights = weights

    law_: LinearLaw

    def _terms(self) -> tuple[Term, ...]:
        return check_terms(self.terms)

    def _law(self, points: Points) -> Law:
        return fit_linear(points, self._terms(), self.weights)

    def _fit(self, points: Points) -> Self:
        if self.weights not in WEIGHTS:
            raise ValueError(f"unknown weights {self.weights!r}; accepted: {', '.join(WEIGHTS)}")
        super()._fit(points)
        self.terms_ = {name: cost for name, cost, _ in self.law_.rows}
        self.coef_ = np.array(self.law_.coef)
        self.formula_ = self.law_.formula
        count, terms = len(points), len(self.coef_)
        if count < terms and np.count_nonzero(self.coef_) >= count:
            raise ValueError(f"found {count} configurations, too few to tell {terms} terms apart")
        return self


class _NamedTerms(LinearScaling):
    """A linear model of published terms, to which a user may add."""

    _published: tuple[str, ...]

    def __init__(
        self, *, extra_terms: Sequence[str | Term] = (), weights: str = "relative"
    ) -> None:
        super().__init__(weights=weights)
        self.extra_terms = extra_terms

    def _terms(self) -> tuple[Term, ...]:
        return check_terms([*self._published, *self.extra_terms])


class Ernest(_NamedTerms):
    """Ernest: a + b scale/machines + c log(machines) + d machines, none negative.

    Parameters
    ----------
    extra_terms : sequence of str or Term, default ()
        Added to the four, such as ``"sqrt(machines)"`` for aggregation in two stages.
    weights
        As in :class:`LinearScaling`. ``weights="none"`` is the fit that was published.

    Attributes
    ----------
    coef_, terms_, formula_, r2_, loocv_, check_, cliffs_, warnings_, law_, points_
        As in :class:`LinearScaling`.

    References
    ----------
    Venkataraman et al.: Ernest, NSDI 2016, equation 1.

    Examples
    --------
    >>> import numpy as np
    >>> runs = np.array([[1, 1], [1, 2], [2, 4], [2, 8], [4, 8]])
    >>> model = Ernest().fit(runs, 5 + 60 * runs[:, 0] / runs[:, 1])
    >>> {name: round(cost, 6) for name, cost in model.terms_.items() if cost > 0}
    {'1': 5.0, 'scale/machines': 60.0}
    >>> Ernest().fit(np.array([[1, 1], [1, 2], [1, 4], [1, 8]]), [90, 50, 30, 20]).formula_
    'seconds = 10 s + 80 s/(scale/machine) * scale/machines'

    Without a column of the scale it is 1:

    >>> import pandas as pd
    >>> Ernest().fit(pd.DataFrame({"machines": [1, 2, 4, 8]}), [90, 50, 30, 20]).formula_
    'seconds = 10 s + 80 s/(scale/machine) * scale/machines'
    """

    _published = ERNEST


class Masha(_NamedTerms):
    """Masha: a scale/machines + b scale² + c machines + d scale·log(scale)/machines.

    The paper fits it by bounded curve fitting, which has the solution of non-negative least
    squares, used here. The scale must be in units that make it 1 or more (blocks, percent): the
    logarithm is cut off at 0 below.

    Parameters
    ----------
    extra_terms : sequence of str or Term, default ()
        Added to the four.
    weights
        As in :class:`LinearScaling`. ``weights="none"`` is the fit that was published.

    Attributes
    ----------
    coef_, terms_, formula_, r2_, loocv_, check_, cliffs_, warnings_, law_, points_
        As in :class:`LinearScaling`.

    References
    ----------
    Al-Sayeh et al.: Masha, DISPA 2020, equation 1.
    """

    _published = MASHA
