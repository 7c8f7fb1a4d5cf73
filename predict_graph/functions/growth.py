"""How a function's cost grows with its graph, from runs on samples and on other graphs.

Many models, each a Gaussian process on logarithms: the cost is proportional to a power near one of
one driver, or of a sum of two. Runs on samples by the same sampler share an error, because the
sampler's graphs all differ from the whole in the same way; runs on other graphs share what is
particular to those graphs. The models are averaged by their marginal likelihood (Bayesian model
averaging).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from predict_graph.clock.loops import outlasted
from predict_graph.functions.drivers import DRIVERS
from predict_graph.intervals import QUANTILE, Interval

FloatArray = npt.NDArray[np.float64]

NOTHING = "nothing"
"""Driver of a constant cost, such as that of a given number of trials."""
_CONSTANTS = (0.0, 0.5, 0.9)  # shares of the least cost that do not grow: limits the grid
_WIDER = 1.8  # standard deviations / those of the models: calibrated for intervals of 90%
_GRAPHS = (0.15, 0.3, 0.6, 1.2)  # limits the grid of standard deviations between graphs
_FEWEST_GRAPHS = 3  # other graphs from which that can be estimated; not tuned
_SHARES = (0.1, 1.0, 10.0)  # of the second driver to the first one: limits the grid
_PAIRED = ("vertices", "edges", "squares", "two_hop", "reached_edges", "vertices_squared")


@dataclass(frozen=True)
class Hyper:
    """Standard deviations of logarithms; calibrated with whole functions left out.

    Parameters
    ----------
    noise : float
        Of one run about its model.
    level : float
        Of the cost of a unit of the driver.
    power : float
        Of the power of the driver, about 1.
    sampler, reach : float
        Shared by the runs on one sampler's samples: at their size, and for each factor of e
        between the vertices of the sample and of the graph.
    graph : float
        Shared by the runs on one graph and its samples, where few graphs are known.
    machine : float
        Shared by bundled runs: another processor, other versions. Assumed.
    seconds : float
        Error of a time, seconds.
    pairs : float
        Logarithm of the weight of a model of two drivers against a model of one.
    """

    noise: float = 0.12
    level: float = 5.0
    power: float = 0.12
    sampler: float = 0.20
    reach: float = 0.07
    graph: float = 0.60
    machine: float = 0.25
    seconds: float = 0.001
    pairs: float = 0.5


@dataclass(frozen=True)
class Point:
    """One run of the function.

    Parameters
    ----------
    drivers : mapping
        See :func:`~predict_graph.functions.drivers.drivers_of`.
    cost : float
        Seconds.
    sampler : str
        Empty for a whole graph.
    graph : str
        The graph that it is, or is a sample of.
    rounds : float
        Of its outermost loop, if that ends early; else 0.
    shipped : bool
        Whether it is bundled with the package.
    """

    drivers: Mapping[str, float]
    cost: float
    sampler: str
    graph: str
    rounds: float = 0.0
    shipped: bool = False


@dataclass(frozen=True)
class Growth:
    """An extrapolated cost, and the models with the largest weights."""

    cost: float
    log_std: float
    drivers: list[tuple[str, float]]


def extrapolate(
    points: Sequence[Point],
    target: Mapping[str, float],
    graph: str,
    *,
    hyper: Hyper | None = None,
    names: Sequence[str] = (*DRIVERS, NOTHING),
) -> Growth | None:
    """Return the cost of a run on a graph with the drivers `target`; None without points.

    Examples
    --------
    >>> points = [
    ...     Point({"edges": 10.0 * k, "vertices": k}, 0.5 * k, "rj", "g") for k in (10.0, 30.0)
    ... ]
    >>> found = extrapolate(points, {"edges": 3000.0, "vertices": 300.0}, "g", names=("edges",))
    >>> 120 < found.cost < 180
    True
    """
    if not points:
        return None
    hyper = hyper or Hyper()
    costs = np.array([max(point.cost, hyper.seconds) for point in points])
    labels, values, prior = _models(points, target, names, hyper)
    others = {point.graph for point in points} - {graph}
    spreads = _GRAPHS if len(others) >= _FEWEST_GRAPHS else (hyper.graph,)
    parts: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    for share in _CONSTANTS:
        constant = share * costs.min()
        grown = costs - constant
        density = float(np.log(costs / grown).sum())  # all models are about the same costs
        for spread in spreads:
            shared = _covariance(points, target, graph, replace(hyper, graph=spread), grown)
            mean, variance, score = _posteriors(values, np.log(grown), shared, hyper)
            total = np.logaddexp(mean, math.log(constant)) if share else mean
            parts.append((total, variance * np.exp(2.0 * (mean - total)), score + prior + density))
    means, variances, scores = (np.concatenate(each) for each in zip(*parts, strict=True))
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    centre = float(weights @ means)
    spread = float(weights @ (variances + (means - centre) ** 2))
    together: dict[str, float] = {}
    for label, weight in zip(labels * len(parts), weights.tolist(), strict=True):
        together[label] = together.get(label, 0.0) + weight
    ranked = sorted(together.items(), key=lambda each: -each[1])
    return Growth(math.exp(centre), _WIDER * math.sqrt(spread), ranked[:5])


def beyond(found: Growth, there: Growth, seconds: float) -> Growth:
    """Return the extrapolated cost of a graph, given a run stopped after so many seconds.

    `found` and `there` are the extrapolations for the graph and for the stopped run. The logarithm
    of that run is normal above where it was stopped. If that is further off than `there` allows,
    `there` gets the spread that makes their distance one standard deviation.

    Examples
    --------
    >>> found, there = Growth(50.0, 0.3, []), Growth(5.0, 0.2, [])
    >>> round(beyond(found, there, 1.0).cost), round(beyond(found, there, 20.0).cost)
    (50, 353)
    """
    std = max(there.log_std, math.log(seconds / there.cost))
    left = outlasted(Interval.spread(there.cost, std), seconds)
    ends = math.log((seconds + left.high) / (seconds + left.low)) / (2.0 * QUANTILE)
    shift = (seconds + left.predicted) / there.cost
    return Growth(found.cost * shift, max(found.log_std, ends), found.drivers)


def _models(
    points: Sequence[Point], target: Mapping[str, float], names: Sequence[str], hyper: Hyper
) -> tuple[list[str], FloatArray, FloatArray]:
    """Return names, logarithms of the driver (the target's last) and log weights of the models."""
    rows = [*(point.drivers for point in points), target]
    table = {name: np.array([max(row.get(name, 1.0), 1e-9) for row in rows]) for name in names}
    largest = int(np.argmax([point.cost for point in points]))
    models = [(name, np.log(values), 0.0) for name, values in table.items()]
    pairs = list(combinations([name for name in names if name in _PAIRED], 2))
    for one, other in pairs:
        prior = hyper.pairs - math.log(len(pairs) * len(_SHARES) / len(names))
        for share in _SHARES:
            values = table[one] / table[one][largest]
            values = values + share * table[other] / table[other][largest]
            models.append((f"{one} + {other}", np.log(values), prior))
    labels, drivers, priors = zip(*models, strict=True)
    return list(labels), np.array(drivers), np.array(priors)


def _covariance(
    points: Sequence[Point],
    target: Mapping[str, float],
    graph: str,
    hyper: Hyper,
    costs: FloatArray,
) -> FloatArray:
    """Return the covariance that does not depend on the driver; the last row is the target's."""
    samplers = np.array([*(point.sampler for point in points), ""])
    graphs = np.array([*(point.graph for point in points), graph])
    shipped = np.array([*(point.shipped for point in points), False], dtype=np.float64)
    vertices = [*(point.drivers["vertices"] for point in points), target["vertices"]]
    sizes = np.log(np.maximum(vertices, 2.0))
    same_sampler = (samplers[:, None] == samplers) & (samplers != "")[:, None]
    far = sizes[-1] - sizes
    total = hyper.level**2 + hyper.graph**2 * (graphs[:, None] == graphs)
    total = total + hyper.machine**2 * np.outer(shipped, shipped)
    total = total + same_sampler * (hyper.sampler**2 + hyper.reach**2 * np.outer(far, far))
    noise = np.full(len(far), hyper.noise**2)
    noise[:-1] += (hyper.seconds / costs) ** 2
    return np.asarray(total + np.diag(noise))


def _posteriors(
    values: FloatArray, logs: FloatArray, shared: FloatArray, hyper: Hyper
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each model's mean and variance of the target's logarithm, and its log likelihood.

    `values` are logarithms of the drivers, shape (models, points + 1), the target's last.
    """
    places = values - values[:, -1:]
    whole = shared + hyper.power**2 * places[:, :, None] * places[:, None, :]
    inner, cross = whole[:, :-1, :-1], whole[:, -1, :-1]
    rests = logs - values[:, :-1]
    level = rests.mean(axis=1, keepdims=True)
    factors = np.linalg.cholesky(inner)
    solved = np.linalg.solve(factors, (rests - level)[:, :, None])[:, :, 0]
    carried = np.linalg.solve(factors, cross[:, :, None])[:, :, 0]
    means = (carried * solved).sum(axis=1) + level[:, 0] + values[:, -1]
    variances = whole[:, -1, -1] - (carried**2).sum(axis=1)
    diagonals = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    scores = -0.5 * (solved**2).sum(axis=1) - diagonals
    return means, np.maximum(variances, 1e-6), scores
