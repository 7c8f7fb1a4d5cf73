"""The law of few points: a + b machines^-c, its exponent drawn to the usual one."""

from __future__ import annotations

import numpy as np

from costmodels.scaling.laws import ProductFit, importance, two_costs
from costmodels.scaling.points import Points

__all__ = ["fit_usual"]

USUAL_POWER = 1.7  # chosen on left-out training runs; see docs/studies/cluster-models.md
DRAW = 0.16  # an exponent that is off by 1 counts as one residual of 16% of a single run
POWERS = np.linspace(0.0, 3.0, 301)


def fit_usual(points: Points, weights: str) -> ProductFit:
    """Fit a, b >= 0 and the exponent c of a + b machines^-c at one scale.

    Three to five points tell an exponent badly, and a wrong one goes far astray outside them.
    Ridge regression towards the usual exponent decides what they leave open; every repeat counts
    as a point, so it fades as more is measured.
    """
    logs = np.log(points.columns["machines"])
    middle = float(logs.mean())
    factor = importance(points, weights) * np.sqrt(points.weight)
    target = factor * points.seconds
    shapes = factor * np.exp(-np.outer(POWERS, logs - middle))
    left, constants, factors = two_costs(factor, shapes, target)
    # In relative terms the mean square of the target is 1; in seconds it has their unit.
    unit = float(target @ target / points.weight.sum())
    i = int(np.argmin(left + unit * (DRAW * (POWERS - USUAL_POWER)) ** 2))
    power = float(POWERS[i])
    return ProductFit(float(constants[i]), float(factors[i] * np.exp(power * middle)), 0.0, -power)
