"""A scaling model for any job: shapes weighted by past jobs and by the measured runs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from costmodels.rows import FloatArray
from costmodels.scaling.base import ScalingModel
from costmodels.scaling.laws import Law
from costmodels.scaling.leftout import LeaveOneOut
from costmodels.scaling.points import Points, read_columns
from costmodels.scaling.pooled import Ended, fit_pooled
from costmodels.scaling.priors import shipped_prior
from costmodels.scaling.shapes import Prior

# A history that fits a job this badly beside the prior below it counts as another cluster's.
STRANGE = 0.1  # halved or doubled it changes nothing (measured)


class AutoScaling(ScalingModel):
    """The scaling model to use when nothing is known about the job.

    Weights two thousand shapes (a fixed part, work that is divided, a part that grows with the
    machines, and shortage of memory) by a prior, learned from past jobs, and by the measured runs.
    Each has a smooth misfit drawn through the measured points, which grows with the distance from
    them. The prediction is the time of least expected relative error.

    Parameters
    ----------
    prior : Prior, optional
        Expectation before the job is measured, of :func:`learn_prior`. By default the weak one
        that comes with the package.

    Attributes
    ----------
    coef_, terms_, formula_, r2_, loocv_, cliffs_, warnings_, law_, points_
        As in :class:`LinearScaling`; the formula is the single shape that predicts most like all of
        them.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"machines": [2, 4, 6, 8]})
    >>> model = AutoScaling().fit(runs, 50 + 300 / runs["machines"])
    >>> seconds = model.predict(pd.DataFrame({"machines": [12]}))[0]
    >>> bool(abs(seconds / 75 - 1) < 0.05)
    True
    """

    weights = "relative"

    def __init__(self, *, prior: Prior | None = None) -> None:
        self.prior = prior

    def fit(self, X: Any, y: Any, *, ended: Any = None) -> Self:
        """Fit the law; see :meth:`LinearScaling.fit`.

        Parameters
        ----------
        X, y
            As there. Columns ``cores`` and ``memory`` (of a machine) join runs on several types of
            machine.
        ended : array_like of bool, shape (n,), optional
            Which runs were ended, as by a timeout, after the seconds in `y`; they would have taken
            longer.

        Raises
        ------
        ValueError
            As there, and if all runs were ended.
        """
        self._ended = None
        if ended is None or not np.any(ended):
            return super().fit(X, y)
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
        return super().fit(_safe_indexing(X, ~late), y[~late])

    def _fitted(self, points: Points) -> tuple[Law, LeaveOneOut]:
        prior = shipped_prior() if self.prior is None else self.prior
        priors = [prior] if prior.parent is None else [prior, prior.parent]
        law, posterior = fit_pooled(points, priors, ended=self._ended)
        self._strange = len(priors) > 1 and posterior.shares[0] < STRANGE
        predicted = points.seconds * np.exp(posterior.left_out()[: len(points)])
        return law, LeaveOneOut(predicted, points.seconds)

    def _warnings(self) -> list[str]:
        found = super()._warnings()
        if self._strange:
            found.append(
                "the past jobs scale unlike these runs, as those of another cluster would; they "
                "count little"
            )
        return found

    def predict_interval(self, X: object, level: float = 0.9) -> FloatArray:
        """Interval for the time of one run of each configuration.

        It widens with the distance from the measured runs, and where the shapes disagree.

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
        check_is_fitted(self)
        if not 0 < level < 1:
            raise ValueError(f"level is {level!r}, but must be between 0 and 1")
        law: Any = self.law_
        interval: FloatArray = law.interval(read_columns(self, X, reset=False), level)
        return interval
