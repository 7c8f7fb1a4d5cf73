"""How a function's cost grows with its graph, from runs on samples and on other graphs.

Many models, each a Gaussian process on logarithms: the cost is proportional to a power near one of
one driver, or of a sum of two. Runs on samples by the same sampler share an error, because the
sampler's graphs are all unlike the whole in the same way; runs on other graphs share what is
particular to those graphs. The models are averaged by how well each predicts the runs (Bayesian
model averaging: the marginal likelihood of the logarithms of the costs).
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

__all__ = ["Growth", "Hyper", "Point", "beyond", "extrapolate"]

FloatArray = npt.NDArray[np.float64]

_CONSTANTS = (0.0, 0.5, 0.9)  # a choice, a grid: of the cheapest run that does not grow
_WIDER = 1.8  # than the models say: calibrated, so that 90% intervals hold
_GRAPHS = (0.15, 0.3, 0.6, 1.2)  # a choice: a grid
"""Factors of e by which graphs may differ: the cost of betweenness hardly depends on more than its
drivers, rounds until something converges do. Runs on several graphs tell which it is."""
_FEWEST_GRAPHS = 3  # other graphs from which that can be told; judgement
_SHARES = (0.1, 1.0, 10.0)  # a choice, a grid: of the second driver to the first one
_NOTHING = "nothing"  # what a cost may grow with too, as where a number of trials is given
_PAIRED = ("vertices", "edges", "squares", "two_hop", "reached_edges", "vertices_squared")


@dataclass(frozen=True)
class Hyper:
    """Standard deviations of logarithms; calibrated with whole functions left out.

    Parameters
    ----------
    noise : float
        Of one run about its model.
    level : float
        Of the cost of a unit of the driver: hardly known before.
    power : float
        Of the power of the driver, about 1.
    sampler : float
        Of what the runs on one sampler's samples have in common.
    reach : float
        Of the same, for each factor of e between the sample's vertices and those of the graph.
    graph : float
        Of what the runs on one graph and its samples have in common, where few graphs tell.
    machine : float
        Of what runs that were shipped have in common: another processor, other versions. Assumed,
        as nothing here can test it; the errors of the library's own runs are in the other figures.
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
        Whether it came with the package.
    """

    drivers: Mapping[str, float]
    cost: float
    sampler: str
    graph: str
    rounds: float = 0.0
    shipped: bool = False


@dataclass(frozen=True)
class Growth:
    """What runs predict.

    Parameters
    ----------
    cost : float
    log_std : float
        Standard deviation of its logarithm.
    drivers : list of (str, float)
        The models that count most, by name, with their weights.
    """

    cost: float
    log_std: float
    drivers: list[tuple[str, float]]


def extrapolate(
    points: Sequence[Point],
    target: Mapping[str, float],
    graph: str,
    *,
    hyper: Hyper | None = None,
    names: Sequence[str] = (*DRIVERS, _NOTHING),
) -> Growth | None:
    """Return what a run would cost on a graph with the drivers `target`.

    Parameters
    ----------
    points : sequence of Point
        At least one.
    target : mapping
        Drivers of the graph.
    graph : str
        What :attr:`Point.graph` calls it.
    hyper : Hyper, optional
    names : sequence of str
        Drivers to consider.

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
    step = hyper.seconds
    costs = np.array([max(point.cost, step) for point in points])
    models = _models(points, target, names, hyper)
    values = np.array([each for _, each, _ in models])
    fixed = np.array([cost for _, _, cost in models])
    others = {point.graph for point in points} - {graph}
    spreads = _GRAPHS if len(others) >= _FEWEST_GRAPHS else (hyper.graph,)
    ways = [(part, spread) for part in _CONSTANTS for spread in spreads]
    labels = [label for label, _, _ in models] * len(ways)
    alike = _Likeness.of(points, target, graph)
    parts: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    for part, spread in ways:
        fixed_cost = part * costs.min()
        grown = costs - fixed_cost
        shared = alike.covariance(replace(hyper, graph=spread), grown)
        mean, variance, score = _posteriors(values, np.log(grown), shared, hyper)
        density = float(np.log(costs / grown).sum())  # all models are about the same costs
        total = np.logaddexp(mean, math.log(fixed_cost)) if part else mean
        variance = variance * np.exp(2.0 * (mean - total))
        parts.append((total, variance, score + fixed + density))
    means, variances, scores = (np.concatenate(each) for each in zip(*parts, strict=True))
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    centre = float(weights @ means)
    spread = float(weights @ (variances + (means - centre) ** 2))
    together: dict[str, float] = {}
    for label, weight in zip(labels, weights.tolist(), strict=True):
        together[label] = together.get(label, 0.0) + weight
    ranked = sorted(together.items(), key=lambda each: -each[1])
    return Growth(math.exp(centre), _WIDER * math.sqrt(spread), ranked[:5])


def beyond(found: Growth, there: Growth, seconds: float) -> Growth:
    """Return what is predicted of a graph, given a run that was stopped after so many seconds.

    That run's logarithm is normal above where it was stopped. Where it is further off than what
    predicts it allows, that gets the spread that makes their distance one standard deviation, as
    in :func:`~predict_graph.functions.evidence.refuted`.

    Parameters
    ----------
    found : Growth
        What is predicted of the graph without it.
    there : Growth
        The same of the run that was stopped.
    seconds : float

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
) -> list[tuple[str, FloatArray, float]]:
    """Return name, logarithms of the driver (the target's last) and log weight of each model."""
    rows = [*(point.drivers for point in points), target]
    table = {name: np.array([max(row.get(name, 1.0), 1e-9) for row in rows]) for name in names}
    largest = int(np.argmax([point.cost for point in points]))
    models = [(name, np.log(values), 0.0) for name, values in table.items()]
    pairs = list(combinations([name for name in names if name in _PAIRED], 2))
    for one, other in pairs:
        for share in _SHARES:
            values = table[one] / table[one][largest]
            values = values + share * table[other] / table[other][largest]
            cost = hyper.pairs - math.log(len(pairs) * len(_SHARES) / len(names))
            models.append((f"{one} + {other}", np.log(values), cost))
    return models


@dataclass(frozen=True)
class _Likeness:
    """What points have in common; the last row is the target's.

    Parameters
    ----------
    same_sampler, same_graph : ndarray of bool, shape (points + 1, points + 1)
    far : ndarray, shape (points + 1,)
        Logarithms of how many times as many vertices the target has.
    shipped : ndarray, shape (points + 1,)
        1 of runs that come with the package, else 0.
    """

    same_sampler: npt.NDArray[np.bool_]
    same_graph: npt.NDArray[np.bool_]
    far: FloatArray
    shipped: FloatArray

    @classmethod
    def of(cls, points: Sequence[Point], target: Mapping[str, float], graph: str) -> _Likeness:
        samplers = np.array([*(point.sampler for point in points), ""])
        graphs = np.array([*(point.graph for point in points), graph])
        vertices = [*(point.drivers["vertices"] for point in points), target["vertices"]]
        sizes = np.log(np.maximum(vertices, 2.0))
        return cls(
            (samplers[:, None] == samplers) & (samplers != "")[:, None],
            graphs[:, None] == graphs,
            sizes[-1] - sizes,
            np.array([*(point.shipped for point in points), False], dtype=np.float64),
        )

    def covariance(self, hyper: Hyper, costs: FloatArray) -> FloatArray:
        """Return what does not depend on the driver, for points of such costs."""
        total = hyper.level**2 + hyper.graph**2 * self.same_graph
        total = total + hyper.machine**2 * np.outer(self.shipped, self.shipped)
        reach = hyper.sampler**2 + hyper.reach**2 * np.outer(self.far, self.far)
        noise = np.full(len(self.far), hyper.noise**2)
        noise[:-1] += (hyper.seconds / costs) ** 2
        return np.asarray(total + self.same_sampler * reach + np.diag(noise))


def _posteriors(
    values: FloatArray, logs: FloatArray, shared: FloatArray, hyper: Hyper
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each model's mean and variance of the target's logarithm, and its log likelihood.

    Parameters
    ----------
    values : ndarray, shape (models, points + 1)
        Logarithms of the drivers, the target's last.
    logs : ndarray, shape (points,)
    shared : ndarray, shape (points + 1, points + 1)
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
