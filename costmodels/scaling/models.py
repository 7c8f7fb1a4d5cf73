"""Scaling models of the literature as scikit-learn estimators."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from costmodels.intervals import USUAL_NOISE, interval_about
from costmodels.rows import WEIGHTS, FloatArray
from costmodels.scaling.base import ScalingModel
from costmodels.scaling.laws import Law, fit_linear
from costmodels.scaling.leftout import LeaveOneOut, left_out_configurations
from costmodels.scaling.points import Points
from costmodels.scaling.terms import ERNEST, MASHA, Term, check_terms


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

    def __init__(
        self,
        terms: Sequence[str | Term] = ERNEST,
        *,
        weights: str = "relative",
    ) -> None:
        self.terms = terms
        self.weights = weights

    def _terms(self) -> tuple[Term, ...]:
        return check_terms(self.terms)

    def _fitted(self, points: Points) -> tuple[Law, LeaveOneOut]:
        if self.weights not in WEIGHTS:
            raise ValueError(f"unknown weights {self.weights!r}; accepted: {', '.join(WEIGHTS)}")
        fit = partial(fit_linear, terms=self._terms(), weights=self.weights)
        law = fit(points)
        if len(points) < len(law.terms) and np.count_nonzero(law.coef) >= len(points):
            raise ValueError(
                f"found {len(points)} configurations, too few to tell {len(law.terms)} terms apart"
            )
        return law, left_out_configurations(fit, points)

    def predict_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Interval for the time of one run of each configuration.

        It combines the left-out errors, as factors, with the spread of repeats (3% where nothing
        was repeated, about what runs on rented machines show).

        Parameters
        ----------
        X : DataFrame or array_like, shape (n, k)
            The same columns as in `fit`, in the same order.
        level : float, default 0.9
            Probability that the interval contains the time; in (0, 1).

        Returns
        -------
        ndarray of float64, shape (n, 2)
            Low and high, symmetric as factors about the prediction.
        """
        check_is_fitted(self)
        noise = self.points_.noise if (self.points_.repeats > 1).any() else USUAL_NOISE
        return interval_about(self.predict(X), self.loocv_.log_errors, noise, level)


class _NamedTerms(LinearScaling):
    """A linear model of published terms, to which a user may add."""

    _published: tuple[str, ...]

    def __init__(
        self,
        *,
        extra_terms: Sequence[str | Term] = (),
        weights: str = "relative",
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
    coef_, terms_, formula_, r2_, loocv_, cliffs_, warnings_, law_, points_
        As in :class:`LinearScaling`.

    References
    ----------
    Venkataraman et al.: Ernest, NSDI 2016, equation 1.

    Examples
    --------
    >>> import numpy as np
    >>> runs = np.array([[1, 1], [1, 2], [2, 4], [2, 8], [4, 8]])
    >>> model = Ernest().fit(runs, 5 + 60 * runs[:, 0] / runs[:, 1])
    >>> {name: round(cost, 6) for name, cost in model.terms_.items() if cost > 1e-9}
    {'1': 5.0, 'scale/machines': 60.0}
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
    coef_, terms_, formula_, r2_, loocv_, cliffs_, warnings_, law_, points_
        As in :class:`LinearScaling`.

    References
    ----------
    Al-Sayeh et al.: Masha, DISPA 2020, equation 1.
    """

    _published = MASHA
