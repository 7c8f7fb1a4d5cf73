"""A scaling model for any job: shapes weighed by past jobs and by what was measured, or terms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing

from costmodels.leftout import RowErrors, select_columns
from costmodels.rows import CompressedRows, FloatArray
from costmodels.scaling.base import ScalingModel
from costmodels.scaling.laws import Law, fit_linear, term_rows
from costmodels.scaling.leftout import LeaveOneOut
from costmodels.scaling.points import Points, read_columns
from costmodels.scaling.pooled import Ended, PooledLaw, fit_pooled
from costmodels.scaling.priors import shipped_prior
from costmodels.scaling.shapes import Prior
from costmodels.scaling.terms import TERMS, Term, check_terms

METHODS = ("pool", "select")
SEED = ("1", "scale/machines")
# A history that fits a job this badly beside the prior below it counts as another cluster's.
STRANGE = 0.1  # halved or doubled it changes nothing (measured)


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
    left = [i + 1 for i in range(len(terms)) if i not in seed]
    least_gain = max(min_gain, 1 / len(points))
    chosen, _ = select_columns(errors, [i + 1 for i in seed], left, len(points) - 1, least_gain)
    return tuple(terms[column - 1] for column in chosen)


class AutoScaling(ScalingModel):
    """The scaling model to use when nothing is known about the job.

    ``method="pool"`` (the default) weighs two thousand shapes (a fixed part, work that is divided,
    a part that grows with the machines, and shortage of memory) by a prior, learnt from past jobs,
    and by what was measured. Each carries a smooth misfit drawn through the measured points, which
    grows with the distance from them. Predicted is the time of least expected relative error.
    ``method="select"`` chooses terms of the library by forward selection, which gives one formula.

    Parameters
    ----------
    method : {"pool", "select"}, default "pool"
        See above.
    prior : Prior, optional
        For ``"pool"``: what is expected before the job is measured, of :func:`learn_prior`. By
        default the weak one that comes with the package.
    terms : sequence of str or Term, optional
        For ``"select"``: terms to choose among; None is the library.
    min_gain : float, default 0.05
        For ``"select"``: least part of the left-out error that one more term must remove.
    weights : {"relative", "none"}, default "relative"
        For ``"select"``, as in :class:`LinearScaling`; ``"pool"`` is relative.
    cliffs : {"split", "keep"}, default "split"
        For ``"pool"``, whether the job may be short of memory on few machines; for ``"select"`` as
        in :class:`LinearScaling`.
    cliff_excess : float, default 1.5
        As in :class:`LinearScaling`.

    Attributes
    ----------
    coef_, terms_, formula_, r2_, loocv_, cliffs_, warnings_, law_, points_
        As in :class:`LinearScaling`; of ``"pool"`` the formula is the single shape that predicts
        most like all of them.
    log_evidence_ : float
        Of ``"pool"``: logarithm of the density of the measured times, for comparing priors.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"machines": [2, 4, 6, 8]})
    >>> model = AutoScaling().fit(runs, 50 + 300 / runs["machines"])
    >>> seconds = model.predict(pd.DataFrame({"machines": [12]}))[0]
    >>> bool(abs(seconds / 75 - 1) < 0.05)
    True
    """

    def __init__(
        self,
        *,
        method: str = "pool",
        prior: Prior | None = None,
        terms: Iterable[str | Term] | None = None,
        min_gain: float = 0.05,
        weights: str = "relative",
        cliffs: str = "split",
        cliff_excess: float = 1.5,
    ) -> None:
        self.method = method
        self.prior = prior
        self.terms = terms
        self.min_gain = min_gain
        super().__init__(weights=weights, cliffs=cliffs, cliff_excess=cliff_excess)

    def _check_options(self) -> None:
        super()._check_options()
        if self.method not in METHODS:
            raise ValueError(f"unknown method {self.method!r}; accepted: {', '.join(METHODS)}")
        if not 0 <= self.min_gain < 1:
            raise ValueError(f"min_gain is {self.min_gain!r}, but must be in [0, 1)")
        if self.method == "select" and self.prior is not None:
            raise ValueError("the method 'select' takes no prior; accepted: method='pool'")
        if self.method == "pool" and (self.terms is not None or self.weights != "relative"):
            what = "terms" if self.terms is not None else f"weights={self.weights!r}"
            raise ValueError(f"the method 'pool' takes no {what}; accepted: method='select'")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, ended: Any = None) -> Self:
        """Fit the law; see :meth:`LinearScaling.fit`.

        Parameters
        ----------
        X, y, sample_weight
            As there. Columns ``cores`` and ``memory`` (of a machine) join runs on several types of
            machine.
        ended : array_like of bool, shape (n,), optional
            Of ``"pool"``: which runs were ended, as by a timeout, after the seconds in `y`;
            they would have taken longer.

        Raises
        ------
        ValueError
            As there, and if all runs were ended.
        """
        self._ended = None
        if ended is None or not np.any(ended):
            return super().fit(X, y, sample_weight)
        if self.method != "pool":
            raise ValueError(f"the method {self.method!r} takes no runs that were ended")
        late = np.asarray(ended, dtype=bool)
        y = np.asarray(y, dtype=np.float64)
        if late.shape != y.shape:
            raise ValueError(f"ended has the shape {late.shape}, but y has {y.shape}")
        if late.all():
            raise ValueError("all runs were ended before they were done, so nothing was measured")
        if (wrong := np.flatnonzero(late & ~(y > 0))).size:
            raise ValueError(f"y of row {wrong[0]} is {y[wrong[0]]:g}, but must be positive")
        columns = read_columns(self, _safe_indexing(X, late), reset=True)
        self._ended = Ended(columns, y[late])
        weight = None if sample_weight is None else np.asarray(sample_weight)[~late]
        return super().fit(_safe_indexing(X, ~late), y[~late], weight)

    def _fit_law(self, points: Points) -> Law:
        library = check_terms(TERMS if self.terms is None else self.terms)
        terms = select_terms(points, library, self.weights, self.min_gain)
        return fit_linear(points, terms, self.weights)

    def _fitted(self, points: Points) -> tuple[Law, LeaveOneOut]:
        if self.method == "select":
            return super()._fitted(points)
        prior = shipped_prior() if self.prior is None else self.prior
        priors = [prior] if prior.parent is None else [prior, prior.parent]
        pressed = self.cliffs == "split"
        law, posterior = fit_pooled(points, priors, pressed=pressed, ended=self._ended)
        self.log_evidence_ = posterior.log_evidence
        self._strange = len(priors) > 1 and posterior.shares[0] < STRANGE
        predicted = points.seconds * np.exp(posterior.left_out()[: len(points)])
        return law, LeaveOneOut(predicted, points.seconds)

    def _warnings(self) -> list[str]:
        found = super()._warnings()
        if self.method == "pool" and self._strange:
            found.append(
                "the past jobs scale unlike these runs, as those of another cluster would; they "
                "count little"
            )
        return found

    def predict_interval(self, X: object, level: float = 0.9) -> FloatArray:
        """Interval for the time of one run of each configuration.

        Of ``"pool"`` it widens with the distance from what was measured, and where the shapes
        disagree; of ``"select"`` see :meth:`LinearScaling.predict_interval`.

        Parameters
        ----------
        X : DataFrame or array_like, shape (n, k)
            The same columns as in `fit`.
        level : float, default 0.9
            Probability that the interval contains the time; in (0, 1).

        Returns
        -------
        ndarray of float64, shape (n, 2)
        """
        law = getattr(self, "law_", None)
        if not isinstance(law, PooledLaw):
            return super().predict_interval(X, level)
        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}, but must be between 0 and 1")
        return law.interval(read_columns(self, X, reset=False), level)
