"""The law of `auto`: many shapes, each with a smooth misfit drawn through what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
from scipy.linalg import eigh
from scipy.special import ndtri, softmax, stdtrit
from scipy.stats import qmc

from costmodels.arrays import FloatArray, IntArray
from costmodels.leftout import interval_ends
from costmodels.scaling.points import Columns, Points, take_rows
from costmodels.scaling.shapes import AXES, MISFITS, NAMES, NOISES, Prior, log_shapes

_REACHES = np.array((1.0, 1.5, 1.0, 1.0))  # e-folds of a misfit on each axis; not tuned
# Variance of what a type shares. Runs of the searches for the cheapest, C3O / simulated, with 0:
# 6.1 / 5.4, 1: 4.6 / 5.2, 4: 4.5 / 4.9, 9: 4.3 / 5.6. 1 has most of the gain; it was taken rather
# than 4 when Scout had been evaluated with 0 (9.7) and 4 (10.5): docs/studies/cluster-transfer.md.
_OF_TYPE = 1.0


class Measured:
    """Points as the likelihood sees them, on axes where misfit and noise are independent.

    `middle` is where shapes are centred: the mean logarithm of each axis by default.
    """

    def __init__(self, points: Points, middle: FloatArray | None = None) -> None:
        self.points = points
        self.middle = middle_of(points.columns) if middle is None else middle
        self.places = self.places_of(points.columns)
        # Misfit and noise by their place in all tables. Repeats that usually differ by more show
        # the most noise, up to two steps of the grid (not tuned): runs of several jobs are none of
        # one. By their variance, which one slow run makes, errors on C3O rose from 5.9 to 7.8%.
        most = min(max(NOISES[-1], points.usual_noise), 4 * NOISES[-1])
        self.spreads = list(product(MISFITS, [*NOISES[:-1], most]))
        single = np.diag(1 / points.repeats)
        values, self.vectors = eigh(smoothness(self.places, self.places), single)
        # Variance of a misfit of 1 along each axis, where the noise of a single run has 1.
        self._values = np.maximum(values, 0)

    def places_of(self, columns: Columns) -> FloatArray:
        """Return the logarithms of the axes from the middle, shape (4, n)."""
        return join_logs(columns) - self.middle[:, None]

    def residuals(self, shapes: FloatArray) -> FloatArray:
        """Return log seconds less log shape, shape (k, n)."""
        return np.log(self.points.seconds) - log_shapes(shapes, self.places, self.middle)

    def variances(self, spread: int) -> FloatArray:
        """Return the variance along each axis, of misfit and noise `spread`."""
        misfit, noise = self.spreads[spread]
        return np.asarray(misfit**2 * self._values + noise**2)

    def log_likelihood(self, shapes: FloatArray) -> FloatArray:
        """Return it for each misfit and noise and shape, the factor integrated out."""
        turned = self.residuals(shapes) @ self.vectors
        ones = self.vectors.sum(axis=0)
        squares = turned**2
        spare = float(np.maximum(self.points.repeats - 1, 0).sum())
        found = np.empty((len(self.spreads), len(shapes)))
        for spread, (_, noise) in enumerate(self.spreads):
            precision = 1 / self.variances(spread)
            whole = precision @ ones**2
            distance = squares @ precision - (turned @ (precision * ones)) ** 2 / whole
            constant = np.log(precision).sum() - np.log(whole)
            found[spread] = 0.5 * (constant - distance)
            if spare:  # likelihood of the spread of repeats
                found[spread] -= spare * (np.log(noise) + 0.5 * (self.points.noise / noise) ** 2)
        return found


@dataclass(frozen=True)
class Posterior:
    """Shapes, and how likely each is with each misfit and noise."""

    # shape (k, 11)
    shapes: FloatArray
    # shape (misfits * noises, k): Their sum is 1.
    weights: FloatArray
    # shape (priors,): How likely each of the priors is.
    shares: FloatArray
    # Logarithm of how likely the priors make what was measured, up to a constant of the points.
    evidence: float


def weigh_shapes(
    measured: Measured, priors: Sequence[Prior], *, draws: int = 2048, batches: int = 2
) -> Posterior:
    """Weigh shapes of the priors by how likely they make what was measured.

    Seconds are a shape times an unknown factor, times a smooth misfit (a Gaussian process on
    logarithmic axes, Matérn 3/2), times the noise of the runs. The factor is integrated out;
    misfit and noise are weighed along with the shapes.

    Parameters
    ----------
    draws : int, default 2048
        Shapes of the priors together, and of each batch near those that fit. With 1024 for two
        priors the error of five runs of C3O is 9.6% instead of 8.5.
    batches : int, default 2
        With 1 the largest left-out error of exact laws triples.
    """
    each = draws // len(priors)
    normals = sobol_normals(draws)
    shapes = np.vstack([p.draw(normals[i * each : (i + 1) * each]) for i, p in enumerate(priors)])
    likelihood = measured.log_likelihood(shapes)
    densities = np.stack([p.log_density(shapes) for p in priors])  # (priors, k)
    drawn = _log_mean(densities)
    nearer: list[Prior] = []
    # Further batches near the shapes that fit: few of the first do when much was measured.
    for _ in range(batches):
        weights = softmax(_log_sum(_log_weights(likelihood, densities, priors, drawn), axis=0))
        nearer.append(_wider(shapes, weights, priors[0]))
        batch = nearer[-1].draw(normals)
        shapes = np.vstack((shapes, batch))
        likelihood = np.hstack((likelihood, measured.log_likelihood(batch)))
        densities = np.hstack((densities, np.stack([p.log_density(batch) for p in priors])))
        near = (one.log_density(shapes) for one in nearer)
        drawn = _log_mean(np.stack([_log_mean(densities), *near]))
    log_weights = _log_weights(likelihood, densities, priors, drawn)
    by_prior = zip(_odds(priors), densities - drawn, strict=True)
    shares = [_log_sum(likelihood + np.log(odds)[:, None] + log) for odds, log in by_prior]
    evidence = float(_log_sum(log_weights))
    weights = np.exp(log_weights - evidence)
    evidence -= np.log(len(shapes))
    return Posterior(shapes, weights, softmax(shares), evidence)


def _log_sum(logs: FloatArray, axis: int | None = None) -> FloatArray:
    """Return the logarithm of the sum of exponentials, at a third of the cost of scipy's."""
    top = logs.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis))


def _log_mean(logs: FloatArray) -> FloatArray:
    """Return the logarithm of the mean of exponentials over the first axis."""
    return _log_sum(logs, axis=0) - math.log(len(logs))


def _odds(priors: Sequence[Prior]) -> FloatArray:
    """Return the odds of each misfit and noise by each prior, shape (priors, spreads)."""
    return np.stack([p.odds * p.spreads.ravel() for p in priors])


def _log_weights(
    likelihood: FloatArray, densities: FloatArray, priors: Sequence[Prior], drawn: FloatArray
) -> FloatArray:
    """Return the log weight of each misfit and noise and shape, up to a constant."""
    top = densities.max(axis=0)
    known = np.log(_odds(priors).T @ np.exp(densities - top) / len(priors))
    return np.asarray(likelihood + known + top - drawn)


def _wider(shapes: FloatArray, weights: FloatArray, prior: Prior, times: float = 1.5) -> Prior:
    """Return a distribution about weighted shapes, wider than theirs.

    With half or twice as many times the errors are the same (measured).
    """
    mean = weights @ shapes
    apart = shapes - mean
    covariance = times**2 * (apart.T * weights) @ apart
    covariance += 1e-3 * np.diag(np.diag(prior.covariance))  # not tuned: never singular
    return Prior(mean, covariance, prior.spreads)


def join_logs(columns: Columns) -> FloatArray:
    """Return the logarithms of the axes, shape (4, n); 0 where a column is missing."""
    count = len(columns["machines"])
    return np.stack(
        [np.log(columns[name]) if name in columns else np.zeros(count) for name in AXES]
    )


def middle_of(columns: Columns) -> FloatArray:
    """Return the mean logarithm of each axis."""
    return np.asarray(join_logs(columns).mean(axis=1))


def smoothness(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the covariance of misfits of 1 at two sets of places, shape (n, m).

    Smooth along the axes (Matérn 3/2), and a part that all places of one machine type share, as
    types differ in more than cores and memory.
    """
    apart = (a[:, :, None] - b[:, None, :]) / _REACHES[:, None, None]
    distance = np.sqrt(3 * (apart**2).sum(axis=0))
    same = (apart[[AXES.index("cores"), AXES.index("memory")]] == 0).all(axis=0)
    return np.asarray((1 + distance) * np.exp(-distance) + _OF_TYPE * same)


@lru_cache(maxsize=4)
def sobol_normals(count: int) -> FloatArray:
    """Return evenly spread standard normal numbers, shape (count, 11), always the same."""
    uniform = qmc.Sobol(len(NAMES), seed=0).random(count)
    # In an order in which any part of them is as even as all.
    return np.asarray(ndtri(np.clip(uniform, 1e-12, 1 - 1e-12)))


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
        return np.exp(found)

    def interval(self, columns: Columns, level: float) -> FloatArray:
        """Return low and high of one run of each configuration, shape (n, 2)."""
        ends = interval_ends(level)
        return np.exp(np.quantile(self.draws(columns, tails=True), ends, axis=0)).T

    def draws(self, columns: Columns, *, tails: bool = False) -> FloatArray:
        """Return equally likely log seconds of one run, shape (samples, n).

        Runs stray further than a normal distribution predicts. Student's t with 4 degrees of
        freedom, and a drift of 10% an e-fold, hold 85 to 98% of the runs that 90% intervals should,
        on sources whose prior was learnt without them (normal, without drift: 77 to 97%); 15% and
        no drift were tried as well (docs/studies/cluster-transfer.md). With `tails` each shape has
        other quantiles, so that together they reach as far as they should.
        """
        mean, deviation = self._members(columns)
        step = (math.sqrt(5.0) - 1.0) / 2.0 if tails else 0.0  # the golden ratio spreads evenly
        at = (np.arange(len(mean)) * step + 0.5) % 1.0
        quantiles = stdtrit(4, (np.arange(12) + at[:, None]) / 12)
        every: FloatArray = mean[:, None] + deviation[:, None] * quantiles[:, :, None]
        return every.reshape(-1, mean.shape[1])

    def _members(self, columns: Columns) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the log seconds by each shape."""
        measured, known = self.measured, self.measured.places
        new = measured.places_of(columns)
        shapes = log_shapes(self.shapes, new, measured.middle)
        mean, deviation = np.empty_like(shapes), np.empty_like(shapes)
        # On the axes where misfit and noise are independent.
        residuals = measured.residuals(self.shapes) @ measured.vectors
        ones, across = measured.vectors.sum(axis=0), measured.vectors.T @ smoothness(known, new)
        drift, itself = _drift(known, new), np.diag(smoothness(new[:, :1], new[:, :1]))
        for spread in np.unique(self.spreads):
            mine = self.spreads == spread
            misfit, noise = measured.spreads[spread]
            precision = 1 / measured.variances(spread)
            whole = precision @ ones**2
            level = (residuals[mine] @ (precision * ones) / whole)[:, None]
            pulled = misfit**2 * precision[:, None] * across
            mean[mine] = shapes[mine] + level + (residuals[mine] - level * ones) @ pulled
            unknown = np.maximum(misfit**2 * (itself - (across * pulled).sum(axis=0)), 0)
            unknown += (1 - ones @ pulled) ** 2 / whole
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
        again = _fitted(_with_ended(points, ended, law), priors, middle)
        law = replace(again, evidence=law.evidence)  # of the same points, so that laws compare
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
    return replace(
        points,
        columns={name: np.append(column, columns[name]) for name, column in points.columns.items()},
        seconds=np.append(points.seconds, found),
        repeats=np.append(points.repeats, share / (1 + share)),
    )


def _drift(known: FloatArray, new: FloatArray, an_e_fold: float = 0.1) -> FloatArray:
    """Return how far laws drift between the measured range of the axes and `new`.

    With half or twice as much an e-fold the errors are the same (measured).
    """
    low, high = known.min(axis=1)[:, None], known.max(axis=1)[:, None]
    gaps = np.maximum(np.maximum(low - new, new - high), 0)
    return np.asarray(an_e_fold * np.sqrt((gaps**2).sum(axis=0)))
