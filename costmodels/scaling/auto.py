"""A scaling model for any job: a mean of many curves, weighted by past jobs and measured runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from costmodels.arrays import FloatArray
from costmodels.scaling.models import ScalingModel
from costmodels.scaling.points import Columns, Points, gather_points, read_runs, take_rows
from costmodels.scaling.pooled import Ended, PooledLaw, fit_pooled
from costmodels.scaling.priors import shipped_prior
from costmodels.scaling.shapes import DIVIDES_ALL, Prior


class AutoScaling(ScalingModel):
    """The scaling model to use when nothing is known about the job.

    Weights six thousand curves, or shapes (a fixed part, work that is divided, a part that grows
    with the machines, and shortage of memory) by a prior, learned from past jobs, by another one
    of jobs that divide all of their work, and by the measured runs. Each is corrected by a smooth
    error through the measured points, which is the less certain the farther from them. The
    prediction has the least expected relative error.

    Parameters
    ----------
    prior : Prior, optional
        What is expected before the job is measured, as :func:`learn_prior` returns it. By default
        the broad one that comes with the package.

    Attributes
    ----------
    r2_, loocv_, check_, cliffs_, warnings_, law_, points_
        As in :class:`LinearScaling`; many curves have no common formula.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"machines": [2, 4, 6, 8]})
    >>> model = AutoScaling().fit(runs, 50 + 300 / runs["machines"])
    >>> seconds = model.predict(pd.DataFrame({"machines": [12]}))[0]
    >>> bool(abs(seconds / 75 - 1) < 0.05)
    True

    As many machines of three types:

    >>> types = pd.DataFrame({"machines": [4, 4, 4], "cores": [2, 4, 8]})
    >>> model = AutoScaling().fit(types, 20 + 800 / (types["machines"] * types["cores"]))
    >>> low, high = model.predict_interval(pd.DataFrame({"machines": [8], "cores": [4]}))[0]
    >>> bool(low < 45 < high < 4 * low)
    True
    """

    _varied = ("machines", "cores")
    law_: PooledLaw

    def __init__(self, *, prior: Prior | None = None) -> None:
        self.prior = prior

    def fit(self, X: Any, y: Any, *, ended: Any = None) -> Self:
        """Fit the law; see :meth:`LinearScaling.fit`.

        Parameters
        ----------
        X, y
            As there. With columns ``cores`` and ``memory`` (of a machine), runs on different types
            of machine can be used together.
        ended : array_like of bool, shape (n,), optional
            Which runs were stopped before their end, as by a timeout: they would have taken longer
            than the seconds in `y`.

        Raises
        ------
        ValueError
            As there; if `ended` is not as long as `y`, or all runs were stopped.
        """
        columns, seconds = read_runs(self, X, y)
        late = np.zeros(len(seconds), bool) if ended is None else np.asarray(ended, bool)
        if late.shape != seconds.shape:
            raise ValueError(f"ended has the shape {late.shape}, but y has {seconds.shape}")
        if late.all():
            raise ValueError("all runs were ended before they were done, so nothing was measured")
        self._ended = Ended(take_rows(columns, late), seconds[late])
        return self._fit(gather_points(take_rows(columns, ~late), seconds[~late]))

    def _law(self, points: Points) -> PooledLaw:
        prior = shipped_prior() if self.prior is None else self.prior
        other = replace(DIVIDES_ALL, spreads=prior.spreads)
        return fit_pooled(points, [*prior.with_parent, other], ended=self._ended)

    def _warnings(self, least_share: float = 0.1) -> list[str]:
        # With less of the weight left to the prior of past jobs, these ran elsewhere: halved or
        # doubled, the errors of docs/studies/cluster-models.md are the same (measured).
        found, shares = super()._warnings(), self.law_.shares
        if len(shares) > 2 and shares[0] < least_share:
            found.append(
                "the past jobs scale unlike these runs, as if they had run on another cluster; "
                "their weight is small"
            )
        return found

    def _interval(self, columns: Columns, level: float) -> FloatArray:
        """Wider with the distance from the measured runs, and where the shapes disagree."""
        return self.law_.interval(columns, level)
