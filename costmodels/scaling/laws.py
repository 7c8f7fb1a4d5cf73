"""Laws: what a fitted scaling model knows, seconds as a function of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from costmodels.rows import CompressedRows, FloatArray, TrainingRows
from costmodels.scaling.points import Columns, Points
from costmodels.scaling.terms import Term

POWERS = (0.05, 3.0)  # beyond any measured: exponents of `power-law`, of scale/machines
SCALE_POWERS = (0.0, 3.0)  # as above
MACHINE_POWERS = (-2.0, 1.0)  # as above
# By the number of exponents: points on each axis, and rounds; not tuned.
GRIDS = {1: (49, 6), 2: (15, 10)}


class Law(Protocol):
    """Seconds of a configuration."""

    @property
    def coefficients(self) -> dict[str, float]:
        """Fitted values by name."""

    @property
    def formula(self) -> str:
        """One line: ``seconds = …``."""

    def seconds(self, columns: Columns) -> FloatArray:
        """Return the seconds of each configuration, shape (n,)."""


@dataclass(frozen=True)
class LinearLaw:
    """Sum of coefficient times term."""

    terms: tuple[Term, ...]
    coef: tuple[float, ...]

    @property
    def coefficients(self) -> dict[str, float]:
        """Cost of one unit of each term, in seconds."""
        return {t.name: c for t, c in zip(self.terms, self.coef, strict=True)}

    @property
    def formula(self) -> str:
        """One line, the terms that cost nothing left out."""
        parts = [
            f"{cost:.4g} s" if term.units == "1" else f"{cost:.4g} s/({term.units}) * {term.name}"
            for term, cost in zip(self.terms, self.coef, strict=True)
            if cost > 0
        ]
        return "seconds = " + (" + ".join(parts) or "0 s")

    def seconds(self, columns: Columns) -> FloatArray:
        """Return the seconds of each configuration."""
        total = np.zeros(len(columns["machines"]))
        for term, cost in zip(self.terms, self.coef, strict=True):
            if cost > 0:
                total += cost * term(columns)
        return total


def fit_linear(points: Points, terms: tuple[Term, ...], weights: str) -> LinearLaw:
    """Fit non-negative coefficients of `terms` by least squares."""
    solution = CompressedRows.of(term_rows(points, terms, weights)).solve(
        np.arange(1, len(terms) + 1)
    )
    return LinearLaw(terms, tuple(solution[1:].tolist()))


def term_rows(points: Points, terms: tuple[Term, ...], weights: str) -> TrainingRows:
    """Return the terms of the points as training rows."""
    table = np.column_stack([term(points.columns) for term in terms])
    names = [term.name for term in terms]
    return TrainingRows(table, points.seconds, points.weight, importance(points, weights), names)


def importance(points: Points, weights: str) -> FloatArray:
    """Return the factor on the residual of each point: 1/seconds for relative errors, else 1."""
    return 1 / points.seconds if weights == "relative" else np.ones(len(points))


@dataclass(frozen=True)
class PowerFit:
    """Seconds = a + b (scale/machines)^c."""

    a: float
    b: float
    c: float

    @property
    def coefficients(self) -> dict[str, float]:
        """Constant, factor and exponent."""
        return {"a": self.a, "b": self.b, "c": self.c}

    @property
    def formula(self) -> str:
        """One line."""
        power = f"{self.b:.4g} s (scale/machines)^{self.c:.3g}, scale/machines in scale/machine"
        return f"seconds = {self.a:.4g} s + {power}"

    def seconds(self, columns: Columns) -> FloatArray:
        """Return the seconds of each configuration."""
        return self.a + self.b * (columns["scale"] / columns["machines"]) ** self.c


def fit_power(points: Points, weights: str) -> PowerFit:
    """Fit a, b >= 0 for each exponent c, and take the exponent that leaves least."""
    logs = np.log(points.load)[:, None]
    a, b, (c,) = _fit_exponents(points, weights, logs, (POWERS,))
    return PowerFit(a, b, c)


def _fit_exponents(
    points: Points,
    weights: str,
    logs: FloatArray,
    bounds: tuple[tuple[float, float], ...],
) -> tuple[float, float, list[float]]:
    """Fit seconds = const + a Π x_i^p_i on a grid of exponents that closes in.

    The costs of given exponents have a closed form, and a grid needs no starting value.
    """
    # The centre is taken out, lest the powers run out of range.
    middle = logs.mean(axis=0)
    centered = logs - middle
    factor = importance(points, weights) * np.sqrt(points.weight)
    target = factor * points.seconds
    low, high = (np.array(ends, dtype=np.float64) for ends in zip(*bounds, strict=True))
    count, rounds = GRIDS[len(bounds)]
    span = high - low
    start, end = low, high
    best = (np.inf, 0.0, 0.0, low)
    for _ in range(rounds):
        axes = [np.linspace(s, e, count) for s, e in zip(start, end, strict=True)]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(bounds))
        columns = factor * np.exp(grid @ centered.T)
        left, constants, factors = two_costs(factor, columns, target)
        i = int(np.argmin(left))
        if left[i] < best[0]:
            best = (float(left[i]), float(constants[i]), float(factors[i]), grid[i])
        span = 3 * span / (count - 1)
        start = np.maximum(low, best[3] - span / 2)
        end = np.minimum(high, best[3] + span / 2)
    _, constant, a, powers = best
    return constant, a * float(np.exp(-middle @ powers)), powers.tolist()


def two_costs(
    u: FloatArray, V: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return squared residuals and both costs of y on u and each row of V, none negative."""
    uu, uy, uv = u @ u, u @ y, V @ u
    vv, vy = (V**2).sum(axis=1), V @ y
    determinant = uu * vv - uv**2
    both = determinant > 1e-12 * uu * vv
    with np.errstate(divide="ignore", invalid="ignore"):
        of_u = (uy * vv - vy * uv) / determinant
        of_v = (vy * uu - uy * uv) / determinant
    # Where one would be negative (or both are collinear), the better of the two alone.
    single = ~(both & (of_u >= 0) & (of_v >= 0))
    of_u_alone = uy**2 / uu > vy**2 / vv
    of_u = np.where(single, np.where(of_u_alone, uy / uu, 0.0), of_u)
    of_v = np.where(single, np.where(of_u_alone, 0.0, vy / vv), of_v)
    left = ((y - of_u[:, None] * u - of_v[:, None] * V) ** 2).sum(axis=1)
    return left, of_u, of_v


@dataclass(frozen=True)
class ProductFit:
    """Seconds = const + a scale^b machines^c."""

    const: float
    a: float
    b: float
    c: float

    @property
    def coefficients(self) -> dict[str, float]:
        """Constant, factor and exponents."""
        return {"const": self.const, "a": self.a, "b": self.b, "c": self.c}

    @property
    def formula(self) -> str:
        """One line."""
        const = f"{self.const:.4g} s + " if self.const > 0 else ""
        return f"seconds = {const}{self.a:.4g} s scale^{self.b:.3g} machines^{self.c:.3g}"

    def seconds(self, columns: Columns) -> FloatArray:
        """Return the seconds of each configuration."""
        power: FloatArray = columns["scale"] ** self.b * columns["machines"] ** self.c
        return self.const + self.a * power


def fit_product(points: Points, weights: str) -> ProductFit:
    """Fit the costs for each pair of exponents, and take the pair that leaves least."""
    scale, machines = (np.log(points.columns[name]) for name in ("scale", "machines"))
    bounds: tuple[tuple[float, float], ...]
    if np.ptp(scale) < 1e-9:  # the exponent of a constant scale is not identifiable
        logs, bounds = machines[:, None], (MACHINE_POWERS,)
    else:
        logs, bounds = np.column_stack((scale, machines)), (SCALE_POWERS, MACHINE_POWERS)
    constant, a, powers = _fit_exponents(points, weights, logs, bounds)
    b = powers[0] if len(powers) == 2 else 0.0
    return ProductFit(constant, a, b, powers[-1])
