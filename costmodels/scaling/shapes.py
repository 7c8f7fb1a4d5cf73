"""The family of shapes that `auto` weighs: seconds up to a factor, by eleven numbers.

About the middle of what was measured (u, v, c and g are the logarithms of the machines, of the
scale, and of the cores and the memory of a machine, less their means), a shape is

    e^fixed e^(r v) + e^(power_scale v - power_machines (w + power_cores c))
        + e^growing e^(q u + r v)

times e^(power_memory (g - c)). r and q are between 0 and 1, the logistic function of `fixed_scale`
and `growing_machines`. w is u without the part of a machine that does not work on the data: the
driver, or the master of the application, `reserved` of one machine (logistic once more). Above a
load, v - u - g, of `edge` the job may be short of memory and slower by a factor. Where cores and
memory are not known, c and g are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr
from scipy.stats import multivariate_normal

from costmodels.arrays import FloatArray

NAMES = (
    "power_machines",
    "fixed",
    "growing",
    "growing_machines",
    "power_scale",
    "fixed_scale",
    "pressure",
    "edge",
    "reserved",
    "power_cores",
    "power_memory",
)
AXES = ("machines", "scale", "cores", "memory")  # columns of a configuration
# Relative standard deviations that are weighed: of one run, and of the shape about the truth.
NOISES = (0.01, 0.02, 0.04, 0.08, 0.16)  # a grid; not tuned
MISFITS = (0.005, 0.03, 0.08, 0.2)  # a grid; not tuned


@dataclass(frozen=True, eq=False)
class Prior:
    """What shapes, misfit and noise are expected before a job is measured.

    Attributes
    ----------
    mean : ndarray of float64, shape (11,)
        Of the numbers of a shape, in the order of :data:`NAMES`.
    covariance : ndarray of float64, shape (11, 11)
        Of the same.
    spreads : ndarray of float64, shape (misfits, noises)
        Probability of each misfit (:data:`MISFITS`) with each noise (:data:`NOISES`).
    jobs : int
        Past jobs that it was learnt from.
    parent : Prior or None
        What it was learnt on top of; both are weighed when a job is fitted, so that a history that
        does not fit it counts little.
    odds : float
        How likely a job is of it, to those of the priors beside it.
    """

    mean: FloatArray
    covariance: FloatArray
    spreads: FloatArray
    jobs: int = 0
    parent: Prior | None = None
    odds: float = 1.0

    @property
    def with_parent(self) -> list[Prior]:
        """The prior, and the one below it if there is one: a job may be of either."""
        return [self] if self.parent is None else [self, self.parent]

    def draw(self, normals: FloatArray) -> FloatArray:
        """Return shapes, shape (n, 11), from standard normal numbers of that shape."""
        return self.mean + normals @ np.linalg.cholesky(self.covariance).T

    def log_density(self, shapes: FloatArray) -> FloatArray:
        """Return the logarithm of the density at each shape."""
        return np.asarray(multivariate_normal(self.mean, self.covariance).logpdf(shapes))


BASE = Prior(
    np.array((1.1, -1.2, -3.5, 0.0, 0.95, 0.0, 0.0, 0.0, -1.0, 1.0, 0.0)),
    np.diag(np.square((0.6, 1.5, 1.5, 1.0, 0.3, 1.5, 1.0, 1.2, 2.0, 0.3, 0.2))),
    np.full((len(MISFITS), len(NOISES)), 1 / (len(MISFITS) * len(NOISES))),  # by definition
)
"""Prior of the prior: near Amdahl's law, with wide deviations.

Not tuned: other middles and widths of each number moved no source of
docs/studies/cluster-transfer.md by more than a point."""


DIVIDES_ALL = Prior(
    np.array((1.05, -6.0, -8.0, 0.0, 0.95, 0.0, 0.0, 0.0, -4.0, 1.0, 0.0)),
    np.diag(np.square((0.15, 1.0, 1.0, 1.0, 0.3, 1.5, 1.0, 1.2, 1.0, 0.3, 0.2))),
    BASE.spreads,
    odds=1 / 3,
)
"""Prior of another family: jobs without a fixed part worth naming, as on GPUs and in MPI.

Not tuned, but for the odds; narrow where the family differs, else as `BASE`. Odds of 1 and 1/9, and
wider deviations, were tried: docs/studies/cluster-transfer.md."""


LIKE_ANOTHER = Prior(
    np.array((0.0, 0.0, -8.0, 0.0, 0.95, 0.0, -4.0, 0.0, -4.0, 0.0, 0.0)),
    np.diag(np.square((0.15, 0.3, 0.3, 0.3, 0.05, 0.3, 0.3, 0.3, 0.3, 0.1, 0.1))),
    BASE.spreads,
)
"""Of a job's seconds over those of a job like it: nearly the same factor everywhere.

Not tuned; the searches of docs/studies/cluster-transfer.md were made with it alone."""


def log_shapes(shapes: FloatArray, places: FloatArray, middle: FloatArray) -> FloatArray:
    """Return the logarithm of each shape at each configuration, shape (shapes, n).

    `places`, of shape (4, n), are logarithms of :data:`AXES` less those at the `middle`.
    """
    power, fixed, growing, q, p, r, pressure, edge, reserved, cores, memory = (
        x[:, None] for x in shapes.T
    )
    u, v, c, g = places
    data = expit(r) * v
    # The part of a machine that does not work on the data, at most so much: with half, errors stay.
    kept = 0.95 * expit(reserved)
    # Of less than one machine, in tables that count something else, it is the same part.
    machines, center = np.exp(middle[0] + u), np.exp(middle[0])
    w = np.log(machines - kept * np.minimum(machines, 1))
    w -= np.log(center - kept * min(center, 1.0))
    work = p * v - np.maximum(power, 0) * (w + cores * c)
    total = np.logaddexp(np.logaddexp(fixed + data, work), growing + expit(q) * u + data)
    return np.asarray(total + memory * (g - c) + _log_factor(pressure) * (v - u - g > edge))


def _log_factor(
    pressure: FloatArray, share: float = 0.2, low: float = np.log(1.4), high: float = np.log(5.0)
) -> FloatArray:
    """Return how much slower jobs short of memory are; 0 for four shapes of five of `BASE`.

    One job in five is short of memory somewhere near what was measured, and then 1.4 to 5 times
    slower (not tuned). 0.1 and 0.35 changed no test of the study by more than its noise.
    """
    rank = (ndtr(pressure) - (1 - share)) / share
    return np.where(rank > 0, low + (high - low) * rank, 0.0)
