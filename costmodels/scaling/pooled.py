"""The law of `auto`: many shapes, each with a smooth misfit drawn through what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from costmodels.arrays import FloatArray, IntArray
from costmodels.scaling.points import Columns, Points, take_rows
from costmodels.scaling.posterior import (
    SPREADS,
    Measured,
    smoothness,
    weigh_shapes,
)
from costmodels.scaling.shapes import Prior, log_shapes


@dataclass(frozen=True)
class PooledLaw:
    """Shapes that fit, with a smooth misfit drawn through the measured points."""

    # shape (k, 11): Equally likely.
    shapes: FloatArray
    # shape (k,): Misfit and noise of each: place in the list of all pairs.
    spreads: IntArray
    measured: Measured
    # shape (priors,): How likely each of the priors is.
    shares: FloatArray
    # Logarithm of how likely the priors make what was measured, up to a constant of the points.
    evidence: float

    def seconds(self, columns: Columns) -> FloatArray:
        """Return the seconds of each configuration: those of least expected relative error.

        That is the median when each value counts by its inverse: to take a short run for a long one
        is wrong by more of its time than the opposite.
        """
        logs = np.sort(self.draws(columns), axis=0)
        weights = np.exp(logs[0] - logs)
        middles = np.cumsum(weights, axis=0) - weights / 2
        halves = weights.sum(axis=0) / 2
        found = [np.interp(*each) for each in zip(halves, middles.T, logs.T, strict=True)]
        seconds: FloatArray = np.exp(found)
        return seconds

    def interval(self, columns: Columns, level: float) -> FloatArray:
        """Return low and high of one run of each configuration, shape (n, 2)."""
        ends = ((1 - level) / 2, (1 + level) / 2)
        found: FloatArray = np.exp(np.quantile(self.draws(columns), ends, axis=0)).T
        return found

    def draws(self, columns: Columns) -> FloatArray:
        """Return equally likely log seconds of one run, shape (samples, n).

        Runs stray further than a normal distribution predicts. Student's t with 4 degrees of
        freedom, and a drift of 10% an e-fold, hold 85 to 98% of the runs that 90% intervals should,
        on sources whose prior was learnt without them (normal, without drift: 77 to 97%); 15% and
        no drift were tried as well (docs/studies/cluster-transfer.md).
        """
        mean, deviation = self._members(columns)
        quantiles = stdtrit(4, (np.arange(12) + 0.5) / 12)
        every: FloatArray = mean[:, None] + deviation[:, None] * quantiles[:, None]
        return every.reshape(-1, mean.shape[1])

    def _members(self, columns: Columns) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the log seconds by each shape."""
        known, new = self.measured.places, self.measured.places_of(columns)
        residuals = self.measured.residuals(self.shapes)
        shapes = log_shapes(self.shapes, new, self.measured.middle)
        mean, deviation = np.empty_like(shapes), np.empty_like(shapes)
        across = smoothness(known, new)
        drift, itself = _drift(known, new), np.diag(smoothness(new[:, :1], new[:, :1]))
        for spread in np.unique(self.spreads):
            mine = self.spreads == spread
            misfit, noise = SPREADS[spread]
            inverse = self.measured.inverse(int(spread))
            ones = inverse.sum(axis=1)
            level = residuals[mine] @ ones / ones.sum()
            reach = misfit**2 * across
            pulled = inverse @ reach
            mean[mine] = shapes[mine] + level[:, None] + (residuals[mine] - level[:, None]) @ pulled
            unknown = np.maximum(misfit**2 * itself - (reach * pulled).sum(axis=0), 0)
            unknown += (1 - ones @ reach) ** 2 / ones.sum()
            deviation[mine] = np.sqrt(unknown + noise**2 + drift**2)
        return mean, deviation


@dataclass(frozen=True)
class Ended:
    """Runs that were ended before they were done, as by a timeout."""

    # shape (n,): Their configurations.
    columns: Columns
    # shape (n,): How long they ran: each would have taken longer.
    seconds: FloatArray


def fit_pooled(
    points: Points,
    priors: Sequence[Prior],
    *,
    middle: FloatArray | None = None,
    ended: Ended | None = None,
) -> PooledLaw:
    """Fit the law to what was measured, and to what is known to take longer.

    A run that was ended was slow, or it hung. It counts as one of the time that the law expects of
    it, given that it takes longer, and as often as it is likely to have been slow: little where all
    others predict that it should have been done long before. The law is fitted again with them.

    References
    ----------
    Buckley, James: Linear regression with censored data, Biometrika 66 (1979).
    """
    law = _fitted(points, priors, middle)
    if ended is not None and len(ended.seconds):
        # By the law of the other runs: with itself each would be expected.
        law = _fitted(_with_ended(points, ended, law), priors, middle)
    return law


def _fitted(
    points: Points, priors: Sequence[Prior], middle: FloatArray | None, members: int = 200
) -> PooledLaw:
    measured = Measured(points, middle)
    found = weigh_shapes(measured, priors)
    reached = np.cumsum(found.weights.ravel())  # evenly drawn by their weights
    drawn = np.searchsorted(reached, (np.arange(members) + 0.5) / members * reached[-1])
    spread, shape = np.divmod(drawn, found.weights.shape[1])
    return PooledLaw(found.shapes[shape], spread, measured, found.shares, found.evidence)


def _with_ended(points: Points, ended: Ended, law: PooledLaw) -> Points:
    """Return the points and the runs that were ended, as far as each was slow and did not hang.

    Before it ran, either was as likely.
    """
    logs = law.draws(ended.columns)
    longer = logs > np.log(ended.seconds)
    slow = longer.any(axis=0)  # where no member expects it, it does not count
    logs, longer, columns = logs[:, slow], longer[:, slow], take_rows(ended.columns, slow)
    share = longer.mean(axis=0)
    found = np.exp(logs.mean(axis=0, where=longer))
    return Points(
        {name: np.append(column, columns[name]) for name, column in points.columns.items()},
        np.append(points.seconds, found),
        np.append(points.repeats, share / (1 + share)),
        points.noise,
    )


def _drift(known: FloatArray, new: FloatArray, an_e_fold: float = 0.1) -> FloatArray:
    """Return how far laws drift between the measured range of the axes and `new`.

    With half or twice as much an e-fold the errors are the same (measured).
    """
    low, high = known.min(axis=1)[:, None], known.max(axis=1)[:, None]
    gaps = np.maximum(np.maximum(low - new, new - high), 0)
    found: FloatArray = an_e_fold * np.sqrt((gaps**2).sum(axis=0))
    return found
