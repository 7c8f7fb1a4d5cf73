"""The law of `auto`: many shapes weighed by how well they tell what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from scipy.special import logsumexp, ndtri, stdtrit
from scipy.stats import qmc

from costmodels.scaling.points import Points
from costmodels.scaling.shapes import (
    AXES,
    MISFITS,
    NAMES,
    NOISES,
    Prior,
    log_normal,
    log_shapes,
    readable_shape,
)

__all__ = [
    "PooledLaw",
    "Posterior",
    "join_logs",
    "middle_of",
    "pooled_law",
    "sobol_normals",
    "weigh_shapes",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]
Columns = Mapping[str, FloatArray]

DRAWS = 1024  # of the priors, and as many again in each batch near the shapes that fit
BATCHES = 2
WIDER = 1.5  # standard deviations of the second draws beside those of the first's posterior
MEMBERS = 200
# Runs stray further than a normal law says, and every law drifts outside the measured range.
# Student's t with 4 degrees of freedom, and a drift of 10% an e-fold, hold 85 to 98% of the runs
# that 90% intervals should, on sources whose prior was learnt without them (normal, without
# drift: 77 to 97%); 15% and no drift were tried as well.
QUANTILES = stdtrit(4, (np.arange(12) + 0.5) / 12)
DRIFT = 0.1
REACHES = (1.0, 1.5, 1.0, 1.0)  # how far a misfit goes on each of the axes, in e-folds
LEAST_POINT = 1e-6  # of a weight
SPREADS = len(MISFITS) * len(NOISES)
LEAST_WEIGHT = 1e-7
LEAST_SHOWN = 0.05  # of a machine that does not work on the data


@dataclass(frozen=True)
class Posterior:
    """Shapes, and how likely each is with each misfit and noise.

    Attributes
    ----------
    shapes : ndarray, shape (k, 11)
    weights : ndarray, shape (misfits * noises, k)
        Their sum is 1.
    log_evidence : float
        Logarithm of the density of what was measured, up to what all priors share.
    shares : ndarray, shape (priors,)
        How likely each of the priors is.
    residuals : ndarray, shape (k, n)
        Log seconds less log shape.
    inverses : list of ndarray, shape (n, n)
        Inverse covariance of the residuals about their unknown mean, by misfit and noise.
    """

    shapes: FloatArray
    weights: FloatArray
    log_evidence: float
    shares: FloatArray
    residuals: FloatArray
    inverses: Sequence[FloatArray]

    def members(self, count: int = MEMBERS) -> tuple[IntArray, IntArray]:
        """Return misfit-and-noise and shape of evenly spaced members of the posterior."""
        reached = np.cumsum(self.weights.ravel())
        places = (np.arange(count) + 0.5) / count * reached[-1]
        found = np.minimum(np.searchsorted(reached, places), len(reached) - 1)
        spread, shape = np.divmod(found, len(self.shapes))
        return spread, shape

    def left_out(self) -> FloatArray:
        """Return log predicted/actual of each point by the law of the others, in closed form.

        References
        ----------
        Rasmussen and Williams: Gaussian Processes for Machine Learning (2006), section 5.4.2;
        shapes are weighed anew without the point.
        """
        spread, shape = np.nonzero(self.weights > LEAST_WEIGHT * self.weights.max())
        weights = np.log(self.weights[spread, shape])
        misses = np.empty((len(shape), self.residuals.shape[1]))
        variances = np.empty_like(misses)
        for i in np.unique(spread):
            mine = spread == i
            diagonal = np.diag(self.inverses[i])
            misses[mine] = self.residuals[shape[mine]] @ self.inverses[i] / diagonal
            variances[mine] = 1 / diagonal
        without = weights[:, None] + 0.5 * misses**2 / variances + 0.5 * np.log(variances)
        without -= without.max(axis=0)
        found = [
            _relative_median(-miss, np.exp(log))
            for miss, log in zip(misses.T, without.T, strict=True)
        ]
        return np.array(found)


@dataclass(frozen=True)
class PooledLaw:
    """Shapes that fit, with a smooth misfit drawn through the measured points.

    Attributes
    ----------
    shapes : ndarray, shape (k, 11)
        Equally likely.
    spreads : ndarray of int, shape (k,)
        Misfit and noise of each: place in the list of all pairs.
    points : Points
        What was measured.
    pressed : bool
        Whether shapes may be short of memory.
    middle : ndarray, shape (4,)
        Where the shapes are centred: mean logarithm of each axis.
    """

    shapes: FloatArray
    spreads: IntArray
    points: Points
    pressed: bool
    middle: FloatArray

    @cached_property
    def coefficients(self) -> dict[str, float]:
        """The single shape that predicts most like all of them, as a law."""
        columns, middle = self.points.columns, self.middle
        mean, _ = self._members(columns)
        near = int(np.argmin(np.abs(mean - np.log(self.seconds(columns))).sum(axis=1)))
        shape = self.shapes[near]
        logs = np.log(self.points.seconds) - self._log_shapes(columns)[near]
        level = float(np.average(logs, weights=self.points.weight))
        found = readable_shape(shape, level, middle, pressed=self.pressed)
        load = self.points.load
        if found["factor"] == 1 or not load.min() < found["edge"] < load.max():
            found["factor"] = 1.0
        return found

    @property
    def formula(self) -> str:
        """One line: the law of the likeliest shape, and how far the exponent may be off."""
        law = self.coefficients
        grows = len(np.unique(self.points.columns["scale"])) > 1
        data = f" scale^{law['r']:.3g}" if grows else ""
        work = f" scale^{law['p']:.3g}" if grows else ""
        low, high = np.quantile(np.maximum(self.shapes[:, 0], 0), (0.05, 0.95))
        divided = f"(machines - {law['k']:.2g})" if law["k"] >= LEAST_SHOWN else "machines"
        parts = [
            f"{law['a']:.4g} s{data}",
            f"{law['b']:.4g} s{work} {divided}^-{law['c']:.3g} ({low:.2g} to {high:.2g})",
            f"{law['d']:.4g} s{data} machines^{law['q']:.3g}",
        ]
        text = f"seconds = {' + '.join(parts)}"
        if law["factor"] > 1:
            text += f"; above scale/machines = {law['edge']:.4g}: {law['factor']:.3g} times that"
        return text

    def seconds(self, columns: Columns) -> FloatArray:
        """Return the seconds of each configuration: those of least expected relative error."""
        table = self.draws(columns)
        even = np.ones(len(table))
        found = np.array([_relative_median(column, even) for column in table.T])
        seconds: FloatArray = np.exp(found)
        return seconds

    def interval(self, columns: Columns, level: float) -> FloatArray:
        """Return low and high of one run of each configuration, shape (n, 2)."""
        ends = ((1 - level) / 2, (1 + level) / 2)
        found: FloatArray = np.exp(np.quantile(self.draws(columns), ends, axis=0)).T
        return found

    def draws(self, columns: Columns) -> FloatArray:
        """Return equally likely log seconds of one run, shape (samples, n)."""
        mean, deviation = self._members(columns)
        every: FloatArray = mean[:, None] + deviation[:, None] * QUANTILES[:, None]
        return every.reshape(-1, mean.shape[1])

    def _log_shapes(self, columns: Columns) -> FloatArray:
        places = _places(columns, self.middle)
        return log_shapes(self.shapes, places, self.middle, pressed=self.pressed)

    def _members(self, columns: Columns) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation of the log seconds by each shape."""
        known = _places(self.points.columns, self.middle)
        new = _places(columns, self.middle)
        residuals = np.log(self.points.seconds) - self._log_shapes(self.points.columns)
        shapes = self._log_shapes(columns)
        mean, deviation = np.empty_like(shapes), np.empty_like(shapes)
        axes, across = _Axes.of(known, self.points), _kernel(known, new)
        drift = DRIFT * _outside(known, new)
        for spread in np.unique(self.spreads):
            mine = self.spreads == spread
            misfit, noise = _spread(int(spread))
            inverse = axes.inverse(int(spread))
            ones = inverse.sum(axis=1)
            level = residuals[mine] @ ones / ones.sum()
            reach = misfit**2 * across
            pulled = inverse @ reach
            mean[mine] = shapes[mine] + level[:, None] + (residuals[mine] - level[:, None]) @ pulled
            unknown = np.maximum(misfit**2 - (reach * pulled).sum(axis=0), 0)
            unknown += (1 - ones @ reach) ** 2 / ones.sum()
            deviation[mine] = np.sqrt(unknown + noise**2 + drift**2)
        return mean, deviation


def weigh_shapes(
    points: Points,
    priors: Sequence[Prior],
    *,
    pressed: bool = True,
    middle: FloatArray | None = None,
) -> Posterior:
    """Weigh shapes of the priors by how likely they make what was measured.

    Seconds are a shape times an unknown factor, times a smooth misfit (a Gaussian process on
    logarithmic axes, Matérn 3/2), times the noise of the runs. The factor is integrated out;
    misfit and noise are weighed along with the shapes.

    Parameters
    ----------
    points : Points
        At least one configuration.
    priors : sequence of Prior
        Equally likely.
    pressed : bool, default True
        Whether a job may be short of memory.
    middle : ndarray, shape (4,), optional
        Where the shapes are centred; by default in the middle of the points.
    """
    measured = _Measured(points, pressed, middle_of(points.columns) if middle is None else middle)
    each = DRAWS // len(priors)
    normals = sobol_normals(DRAWS)
    first = np.vstack([p.draw(normals[i * each : (i + 1) * each]) for i, p in enumerate(priors)])
    shapes = first
    likelihood = measured.log_likelihood(first)
    densities = np.stack([p.log_density(first) for p in priors])  # (priors, k)
    normal = np.array(priors[0].covariance)
    nearer: list[tuple[FloatArray, FloatArray]] = []
    # Further batches near the shapes that fit: few of the first do when much was measured.
    for _ in range(BATCHES):
        log_weights = _log_weights(likelihood, densities, priors, shapes, nearer, len(first))
        weights = np.exp(logsumexp(log_weights, axis=0) - logsumexp(log_weights))
        mean, covariance = _moments(shapes, weights, normal)
        nearer.append((mean, covariance))
        batch = mean + normals @ np.linalg.cholesky(covariance).T
        shapes = np.vstack((shapes, batch))
        likelihood = np.hstack((likelihood, measured.log_likelihood(batch)))
        densities = np.hstack((densities, np.stack([p.log_density(batch) for p in priors])))
    log_weights = _log_weights(likelihood, densities, priors, shapes, nearer, len(first))
    total = float(logsumexp(log_weights))
    drawn = _log_drawn(densities, shapes, nearer, len(first))
    shares = np.array([logsumexp(likelihood + one - drawn) for one in _joint(densities, priors)])
    return Posterior(
        shapes,
        np.exp(log_weights - total),
        total - float(np.log(len(shapes))),
        np.exp(shares - logsumexp(shares)),
        measured.residuals(shapes),
        measured.inverses(),
    )


def pooled_law(
    posterior: Posterior,
    points: Points,
    *,
    pressed: bool = True,
    middle: FloatArray | None = None,
) -> PooledLaw:
    """Return the law of evenly drawn members of a posterior."""
    spread, shape = posterior.members()
    center = middle_of(points.columns) if middle is None else middle
    return PooledLaw(posterior.shapes[shape], spread, points, pressed, center)


class _Measured:
    """Points as the likelihood sees them."""

    def __init__(self, points: Points, pressed: bool, middle: FloatArray) -> None:
        self._points, self._pressed = points, pressed
        self._middle = middle
        self._places = _places(points.columns, self._middle)
        self._axes = _Axes.of(self._places, points)
        self._spare = float(np.maximum(points.repeats - 1, 0).sum())

    def residuals(self, shapes: FloatArray) -> FloatArray:
        """Return log seconds less log shape, shape (k, n)."""
        logs = log_shapes(shapes, self._places, self._middle, pressed=self._pressed)
        found: FloatArray = np.log(self._points.seconds) - logs
        return found

    def log_likelihood(self, shapes: FloatArray) -> FloatArray:
        """Return it for each misfit and noise and shape, the factor integrated out."""
        turned = self.residuals(shapes) @ self._axes.vectors
        ones = self._axes.vectors.sum(axis=0)
        squares = turned**2
        found = np.empty((SPREADS, len(shapes)))
        for spread in range(SPREADS):
            precision = 1 / self._axes.variances(spread)
            whole = precision @ ones**2
            distance = squares @ precision - (turned @ (precision * ones)) ** 2 / whole
            constant = np.log(precision).sum() - np.log(whole)
            found[spread] = 0.5 * (constant - distance)
            if self._spare:  # what repeats tell of the noise
                noise = _spread(spread)[1]
                told = np.log(noise) + 0.5 * (self._points.noise / noise) ** 2
                found[spread] -= self._spare * told
        return found

    def inverses(self) -> list[FloatArray]:
        """Return the inverse covariance about an unknown mean for each misfit and noise."""
        found = []
        for spread in range(SPREADS):
            inverse = self._axes.inverse(spread)
            ones = inverse.sum(axis=1)
            found.append(inverse - np.outer(ones, ones) / ones.sum())
        return found


@dataclass(frozen=True)
class _Axes:
    """Axes on which misfit and noise are independent, whatever their sizes.

    Attributes
    ----------
    values : ndarray, shape (n,)
        Variance of a misfit of 1 along each axis, where the noise of a single run has 1.
    vectors : ndarray, shape (n, n)
    """

    values: FloatArray
    vectors: FloatArray

    @classmethod
    def of(cls, places: FloatArray, points: Points) -> _Axes:
        single = np.diag(1 / np.maximum(points.weight, LEAST_POINT))
        values, vectors = eigh(_kernel(places, places), single)
        return cls(np.maximum(values, 0), vectors)

    def variances(self, spread: int) -> FloatArray:
        misfit, noise = _spread(spread)
        found: FloatArray = misfit**2 * self.values + noise**2
        return found

    def inverse(self, spread: int) -> FloatArray:
        found: FloatArray = (self.vectors / self.variances(spread)) @ self.vectors.T
        return found


def _joint(densities: FloatArray, priors: Sequence[Prior]) -> FloatArray:
    """Return the log density of each prior at each misfit and noise and shape."""
    spreads = np.log(np.stack([np.array(p.spreads).ravel() for p in priors]))
    joint: FloatArray = spreads[:, :, None] + densities[:, None, :]
    return joint


def _log_drawn(
    densities: FloatArray,
    shapes: FloatArray,
    nearer: Sequence[tuple[FloatArray, FloatArray]],
    each: int,
) -> FloatArray:
    """Return the log density by which each shape was drawn, all batches together."""
    parts = [logsumexp(densities, axis=0) - np.log(len(densities)) + np.log(each)]
    parts += [np.log(DRAWS) + log_normal(shapes, *batch) for batch in nearer]
    found: FloatArray = logsumexp(np.stack(parts), axis=0) - np.log(len(shapes))
    return found


def _log_weights(
    likelihood: FloatArray,
    densities: FloatArray,
    priors: Sequence[Prior],
    shapes: FloatArray,
    nearer: Sequence[tuple[FloatArray, FloatArray]],
    each: int,
) -> FloatArray:
    """Return the log weight of each misfit and noise and shape, up to a constant."""
    joint = logsumexp(_joint(densities, priors), axis=0) - np.log(len(priors))
    found: FloatArray = likelihood + joint - _log_drawn(densities, shapes, nearer, each)
    return found


def _moments(
    shapes: FloatArray, weights: FloatArray, prior: FloatArray
) -> tuple[FloatArray, FloatArray]:
    mean = weights @ shapes
    apart = shapes - mean
    covariance = WIDER**2 * (apart.T * weights) @ apart
    return mean, covariance + 1e-3 * np.diag(np.diag(prior))


def join_logs(columns: Columns) -> FloatArray:
    """Return the logarithms of the axes, shape (4, n); 0 where a column is missing."""
    count = len(columns["machines"])
    return np.stack(
        [np.log(columns[name]) if name in columns else np.zeros(count) for name in AXES]
    )


def middle_of(columns: Columns) -> FloatArray:
    """Return the mean logarithm of each axis."""
    found: FloatArray = join_logs(columns).mean(axis=1)
    return found


def _places(columns: Columns, middle: FloatArray) -> FloatArray:
    found: FloatArray = join_logs(columns) - middle[:, None]
    return found


def _spread(number: int) -> tuple[float, float]:
    misfit, noise = divmod(number, len(NOISES))
    return MISFITS[misfit], NOISES[noise]


def _kernel(a: FloatArray, b: FloatArray) -> FloatArray:
    apart = (a[:, :, None] - b[:, None, :]) / np.array(REACHES)[:, None, None]
    distance = np.sqrt(3 * (apart**2).sum(axis=0))
    found: FloatArray = (1 + distance) * np.exp(-distance)
    return found


def _outside(known: FloatArray, new: FloatArray) -> FloatArray:
    """Return how many e-folds lie between `new` and the measured range of the axes."""
    low, high = known.min(axis=1)[:, None], known.max(axis=1)[:, None]
    gaps = np.maximum(np.maximum(low - new, new - high), 0)
    found: FloatArray = np.sqrt((gaps**2).sum(axis=0))
    return found


def _relative_median(logs: FloatArray, weights: FloatArray) -> float:
    """Return the logarithm of the value of least expected relative error.

    It is the median when each value counts by its inverse: to take a short run for a long one is
    wrong by more of its time than the opposite.
    """
    order = np.argsort(logs, kind="stable")
    logs, weights = logs[order], weights[order]
    counted = weights * np.exp(logs[0] - logs)
    middles = np.cumsum(counted) - counted / 2
    return float(np.interp(0.5 * counted.sum(), middles, logs))


@lru_cache(maxsize=4)
def sobol_normals(count: int) -> FloatArray:
    """Return evenly spread standard normal numbers, shape (count, 11), always the same."""
    uniform = qmc.Sobol(len(NAMES), seed=0).random(count)
    found: FloatArray = ndtri(np.clip(uniform, 1e-12, 1 - 1e-12))
    # In an order in which any part of them is as even as all.
    return found
