"""How the cost and the peak memory of a function grow with its graph, from runs on others.

It grows with drivers: counts of a graph, which take some nanoseconds an edge, a hundredth of what
a Python function takes. Reach is estimated by breadth-first searches from some vertices: on a
directed or disconnected graph they visit far fewer vertices and edges than there are.

Many models, each a Gaussian process on logarithms: the cost is proportional to a power near one of
one driver, or of a sum of two. Runs on samples by the same sampler share an error, because the
sampler's graphs all differ from the whole in the same way; runs on other graphs share what is
particular to those graphs. The models are averaged by their marginal likelihood (Bayesian model
averaging).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, cycle, product

import numpy as np
from scipy.special import log_ndtr

from predict_graph.arrays import FloatArray
from predict_graph.functions.child import ChildRun
from predict_graph.graph import Graph
from predict_graph.intervals import Interval
from samplers.search import breadth_first

DRIVERS = (
    *("vertices", "edges", "squares", "two_hop", "reached_vertices", "reached_edges"),
    *("vertices_squared", "vertices_cubed"),
)
"""Their names. ``squares`` sums squared degrees; ``two_hop`` sums over vertices the degree times
those of the neighbours; ``reached_…`` are visited by searches from all vertices."""


def drivers_of(graph: Graph, rng: np.random.Generator) -> dict[str, float]:
    """Return the drivers of a graph; `rng` chooses the starts of searches.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> found = drivers_of(check_graph("grid:rows=3,columns=4"), np.random.default_rng(0))
    >>> found["vertices"], found["edges"], found["reached_vertices"]
    (12.0, 34.0, 144.0)
    """
    n, m = graph.vertices, graph.edges
    degrees = graph.degrees.astype(np.float64)
    vertices, edges = _mean_reach(graph, rng)
    return {
        "vertices": float(n),
        "edges": float(max(m, 1)),
        "squares": max(float(degrees @ degrees), 1.0),
        "two_hop": max(float(degrees @ neighbour_work(graph)), 1.0),
        "reached_vertices": n * vertices,
        "reached_edges": n * max(edges, 1.0),
        "vertices_squared": float(n) ** 2,
        "vertices_cubed": float(n) ** 3,
    }


def neighbour_work(graph: Graph) -> FloatArray:
    """Return the sum of the degrees of each vertex's neighbours, shape (n,).

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> neighbour_work(check_graph("star:n=4")).tolist()
    [3.0, 3.0, 3.0, 3.0]
    """
    sums, rows = np.zeros(graph.vertices), np.flatnonzero(graph.out_degrees)
    sums[rows] = np.add.reduceat(graph.degrees[graph.indices], graph.indptr[rows])
    return sums


def _mean_reach(graph: Graph, rng: np.random.Generator) -> tuple[float, float]:
    """Return the mean number of vertices and of edges that a search from a vertex visits.

    Of 32 searches at most, and so many that they take about 0.1 s.
    """
    rows = (graph.indptr, graph.indices)
    allowed = max(20_000_000, 2 * graph.edges)
    vertices = edges = done = 0
    for root in rng.permutation(graph.vertices)[:32].tolist():
        if edges > allowed:
            break
        distance, _ = breadth_first(rows, rows, root, root + 1, not graph.directed)
        reached = distance >= 0
        vertices += int(np.count_nonzero(reached))
        edges += int(graph.out_degrees[reached].sum())
        done += 1
    return vertices / done, edges / done


NOTHING = "nothing"
"""Driver of a constant cost, such as that of a given number of trials."""
# How many times a model's standard deviation, and how likely: calibrated on drawn functions, since
# a run that outlasts all expectations shows that what was small does not say how it grows
_DEVIATIONS = ((1.0, 0.98), (5.0, 0.02))


@dataclass(frozen=True)
class Hyper:
    """Standard deviations of logarithms; calibrated with whole functions left out.

    Parameters
    ----------
    noise : float
        Of one run about its model.
    quiet : float
        That of runs which are known to agree / `noise`. Both are as likely before the runs.
    level : float
        Of the cost of a unit of the driver.
    power : float
        Of the power of the driver, about 1.
    sampler : float
        Shared by the runs on one sampler's samples.
    graph : float
        Shared by the runs on one graph and its samples.
    machine : float
        Shared by the runs on another machine.
    seconds : float
        Error of a time, seconds.
    pairs : float
        Logarithm of the weight of a model of two drivers against a model of one.
    least : float
        Seconds of a unit of a driver at least: part of a cycle of a processor, by definition.
    """

    noise: float = 0.10
    quiet: float = 0.3
    level: float = 5.0
    power: float = 0.25
    sampler: float = 0.30
    graph: float = 0.60
    machine: float = 0.50
    seconds: float = 0.003
    pairs: float = 0.5
    least: float = 1e-10


# Standard deviation of the logarithm of a run's CPU seconds: two runs of a call, in two processes,
# differ by as much (15 drawn calls of half a second to three, docs/studies/functions.md).
RUN_STD = 0.15


@dataclass(frozen=True)
class Point:
    """One run of the function.

    Parameters
    ----------
    drivers : mapping
        See :func:`~predict_graph.functions.growth.drivers_of`.
    cost : float
        Seconds.
    sampler : str
        Empty for a whole graph.
    graph : str
        The graph that it is, or is a sample of.
    rounds : float
        Of its outermost loop; 0 where they are unknown.
    early : bool
        Whether that ended before its last element.
    machine : str
        Empty for this one.
    peak_bytes : float
        Peak memory beside the graph, of a run of the atlas.
    """

    drivers: Mapping[str, float]
    cost: float
    sampler: str
    graph: str
    rounds: float = 0.0
    early: bool = False
    machine: str = ""
    peak_bytes: float = 0.0


@dataclass(frozen=True)
class Growth:
    """An extrapolated cost, and the models with the largest weights."""

    cost: float
    log_std: float
    drivers: Sequence[tuple[str, float]]


def extrapolate(
    points: Sequence[Point],
    target: Mapping[str, float],
    graph: str,
    *,
    hyper: Hyper | None = None,
    names: Sequence[str] = (*DRIVERS, NOTHING),
    stopped: Sequence[Point] = (),
    wider: float = 1.8,
) -> Growth | None:
    """Return the cost of a run on a graph with the drivers `target`; None without points.

    The costs of `stopped` runs are lower bounds. The standard deviation is `wider` than that of the
    models by a factor that was calibrated for intervals of 90%.

    Examples
    --------
    >>> points = [
    ...     Point({"edges": 10.0 * k, "vertices": k}, 0.5 * k, "rj", "g") for k in (10.0, 30.0)
    ... ]
    >>> found = extrapolate(points, {"edges": 3000.0, "vertices": 300.0}, "g", names=("edges",))
    >>> 100 < found.cost < 220
    True
    >>> bound = Point({"edges": 3000.0, "vertices": 300.0}, 200.0, "", "g")
    >>> target = bound.drivers
    >>> extrapolate(points, target, "g", names=("edges",), stopped=[bound]).cost > 200.0
    True
    """
    if not points:
        return None
    hyper = hyper or Hyper()
    rows = [*points, *stopped, Point(target, 0.0, "", graph)]
    costs = np.array([max(point.cost, hyper.seconds) for point in points])
    limits = np.array([max(point.cost, hyper.seconds) for point in stopped])
    labels, values, prior = _models(rows, names, hyper)
    parts: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    # Shares of the least cost that do not grow, and of the standard deviation of graphs.
    graphs = (0.2, 0.5, 1.0) if len({row.graph for row in rows}) > 1 else (1.0,)
    noises = sorted({hyper.quiet, 1.0})
    for share, alike, quiet in product((0.0, 0.5, 0.9), graphs, noises):
        constant = share * costs.min()
        grown = costs - constant
        bounds = np.log(np.maximum(limits - constant, 1e-3 * limits))
        density = float(np.log(costs / grown).sum())  # all models are about the same costs
        own = replace(hyper, graph=alike * hyper.graph, noise=quiet * hyper.noise)
        shared = _covariance(rows, own, grown)
        mean, variance, score = _posteriors(
            values, np.log(grown), bounds, shared, prior + density, hyper
        )
        total = np.logaddexp(mean, math.log(constant)) if share else mean
        parts.append((total, variance * np.exp(2.0 * (mean - total)), score))
    means, variances, scores = (np.concatenate(each) for each in zip(*parts, strict=True))
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    centre = float(weights @ means)
    std = wider * math.sqrt(weights @ (variances + (means - centre) ** 2))
    together: Counter[str] = Counter()
    for label, weight in zip(cycle(labels), weights.tolist(), strict=False):
        together[label] += weight
    return Growth(math.exp(centre), std, together.most_common(5))


def _models(
    rows: Sequence[Point], names: Sequence[str], hyper: Hyper
) -> tuple[list[str], FloatArray, FloatArray]:
    """Return names, logarithms of the driver (the target's last) and log weights of the models."""
    table = {
        name: np.array([max(row.drivers.get(name, 1.0), 1e-9) for row in rows]) for name in names
    }
    largest = int(np.argmax([row.cost for row in rows]))
    cost = max(rows[largest].cost, hyper.seconds)

    def possible(name: str, part: float = 1.0) -> bool:
        return name == NOTHING or part * cost >= hyper.least * table[name][largest]

    models = [(name, np.log(values), 0.0) for name, values in table.items() if possible(name)]
    pairs = list(combinations([name for name in names if name in DRIVERS], 2))
    shares = (0.1, 1.0, 10.0)  # of the second driver to the first one
    prior = hyper.pairs - math.log(max(len(pairs), 1) * len(shares) / len(names))
    for (one, other), share in product(pairs, shares):
        if possible(one, 1.0 / (1.0 + share)) and possible(other, share / (1.0 + share)):
            values = table[one] / table[one][largest] + share * table[other] / table[other][largest]
            models.append((f"{one} + {other}", np.log(values), prior))
    labels, drivers, priors = zip(*models, strict=True)
    return list(labels), np.array(drivers), np.array(priors)


def _covariance(rows: Sequence[Point], hyper: Hyper, costs: FloatArray) -> FloatArray:
    """Return the covariance that does not depend on the driver; the last row is the target's."""
    total = np.full((len(rows), len(rows)), hyper.level**2)
    for shared in ("graph", "machine", "sampler"):
        names = np.array([getattr(row, shared) for row in rows])
        named = (names != "") | (shared == "graph")  # an empty graph is one that all are of
        total += getattr(hyper, shared) ** 2 * ((names[:, None] == names) & named)
    noise = np.full(len(rows), hyper.noise**2)
    noise[: len(costs)] += (hyper.seconds / costs) ** 2
    return total + np.diag(noise)


def _posteriors(
    values: FloatArray,
    logs: FloatArray,
    bounds: FloatArray,
    shared: FloatArray,
    prior: FloatArray,
    hyper: Hyper,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return each model's mean and variance of the target's logarithm, and its log likelihood.

    `values` are logarithms of the drivers, shape (models, runs + 1): of finished runs with the
    costs `logs`, of stopped ones with the costs `bounds` at least, and of the target.
    """
    places = values - values[:, -1:]
    whole = shared + hyper.power**2 * places[:, :, None] * places[:, None, :]
    k = len(logs)
    rests = logs - values[:, :k]
    level = rests.mean(axis=1, keepdims=True)
    factors = np.linalg.cholesky(whole[:, :k, :k])
    solved = np.linalg.solve(factors, (rests - level)[:, :, None])
    carried = np.linalg.solve(factors, whole[:, :k, k:])
    means = (carried * solved).sum(axis=1) + level + values[:, k:]
    covariance = whole[:, k:, k:] - carried.transpose(0, 2, 1) @ carried
    scores = prior - 0.5 * (solved[:, :, 0] ** 2).sum(axis=1)
    scores -= np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    parts = []
    for factor, weight in _DEVIATIONS if len(bounds) else _DEVIATIONS[:1]:
        mean, variance, likely = _above(means, factor**2 * covariance, bounds)
        parts.append((mean, variance, scores + likely + math.log(weight)))
    mean, variance, scores = (np.concatenate(each) for each in zip(*parts, strict=True))
    return mean, variance, scores


def _above(
    means: FloatArray, covariance: FloatArray, bounds: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean and variance of the last of some logarithms, and how likely the bounds are.

    The others are above the bounds. Their normal distribution there is replaced by the normal one
    with its mean and variance (assumed density filtering).
    """
    scores = np.zeros(len(means))
    for number, bound in enumerate(bounds):
        row = covariance[:, number].copy()
        std = np.sqrt(np.maximum(row[:, number], 1e-9))
        above = (means[:, number] - bound) / std
        likely = log_ndtr(above)
        hazard = np.exp(-0.5 * above**2 - likely) / math.sqrt(2.0 * math.pi)
        means = means + row * (hazard / std)[:, None]
        shrunk = hazard * (hazard + above) / std**2
        covariance = covariance - row[:, :, None] * row[:, None, :] * shrunk[:, None, None]
        scores = scores + likely
    return means[:, -1], np.maximum(covariance[:, -1, -1], 1e-6), scores


_Peaks = Sequence[tuple[Mapping[str, float], float]]
"""Drivers of graphs, and the bytes of runs on them."""
_VISIBLE = 2.0**22  # bytes that show among those of an interpreter; not tuned
_RESOLUTION = 1.5 * 2**20  # bytes that the interpreter and the allocator hold back; not tuned
_PAIRS = ("reached_vertices", "vertices_squared")
_HELD_BY = (NOTHING, "vertices", "edges", *_PAIRS)
# Of peaks: noise of one run (calibrated), half of what Python's allocator takes at once, powers
# nearer to one than those of times (bytes are proportional to what is held), and no least: peaks of
# small runs do not show all that is held.
_OF_BYTES = Hyper(noise=0.18, quiet=1.0, power=0.1, seconds=0.5 * 2**20, least=0.0)


def predict_memory(
    runs: Sequence[tuple[Mapping[str, float], ChildRun]],
    target: Mapping[str, float],
    whole: ChildRun | None,
    prefix: ChildRun | None,
    *,
    converted: bool,
    rounds_left: float = math.inf,
) -> Interval:
    """Return the bytes that the graph and the call take at their peak.

    `runs` are on samples; `converted` is whether building the library's graph is part of the run;
    `rounds_left` are all iterations of the outermost loop / those that the prefix has done.
    """
    if whole is not None:
        total = whole.peak_bytes + (whole.graph_bytes if converted else 0.0)
        return Interval(total, 0.9 * total, 1.1 * total + _RESOLUTION)
    call = grown_bytes([(drivers, run.peak_bytes) for drivers, run in runs], target)
    if prefix is not None:  # the first part takes the least, and no iteration keeps more than those
        least, most = prefix.peak_bytes, _most(prefix, max(rounds_left, 1.0))
        refuted = call.predicted < least and math.isfinite(most)  # the samples, by the first part
        high = most if refuted else call.high
        call = Interval(*(min(max(x, least), most) for x in (call.predicted, call.low, high)))
    graph = prefix.graph_bytes if converted and prefix is not None else 0.0
    if converted and not graph:
        sizes = [(drivers, run.graph_bytes) for drivers, run in runs]
        graph = grown_bytes(sizes, target, ("edges", "vertices")).predicted
    return call + Interval(graph, graph / 1.15, 1.15 * graph + _RESOLUTION)


def _most(prefix: ChildRun, rounds_left: float) -> float:
    """Return the bytes of a run whose iterations keep as many as those of its first part.

    What the second half of these did not take on top of the first is not kept by iterations.
    """
    done = prefix.held[-1][0] if prefix.held else 0.0
    halves = [each for each in prefix.held if 0.0 < each[0] <= done / 2.0]
    if not halves:
        return max(prefix.peak_bytes, _RESOLUTION) * rounds_left
    until, held = halves[-1]
    kept = (prefix.peak_bytes - held + _OF_BYTES.seconds) / (1.0 - until / done)
    return prefix.peak_bytes + kept * (rounds_left - 1.0)


def grown_bytes(
    points: _Peaks,
    target: Mapping[str, float],
    names: Sequence[str] = _HELD_BY,
    kinds: Sequence[str] = (),
) -> Interval:
    """Extrapolate bytes; the allocator sometimes takes more at once than it needs, never less.

    They do not grow with pairs of vertices where these would take less than a byte each (in the
    atlas, whose graphs have `kinds` and whose functions keep numbers, than 32 bits), and not faster
    than the steepest driver from each graph of one kind. A kind may hold less than others at one
    size: the one that allows most counts.
    """
    pair = 4.0 if kinds else 1.0
    names = [x for x in names if x not in _PAIRS or _may_hold_pairs(points, x, pair)]

    def least(each: Mapping[str, float]) -> float:
        return min(b for d, b in points if all(d[n] >= each[n] for n in ("vertices", "edges")))

    made = [Point(each, least(each), "", "") for each, _ in points]
    found = extrapolate(made, target, "", hyper=_OF_BYTES, names=names, wider=2.0)
    if found is None:
        return Interval.exact(0.0)
    most: dict[str, float] = {}
    for kind, (each, held) in zip(kinds or cycle([""]), points, strict=False):
        steepest = max(target[name] / each[name] for name in names if name != NOTHING)
        most[kind] = min(steepest * (held + _RESOLUTION), most.get(kind, math.inf))
    grown = Interval.spread(found.cost, found.log_std)
    return replace(grown, high=max(grown.predicted, min(grown.high, max(most.values()))))


def _may_hold_pairs(points: _Peaks, name: str, pair: float) -> bool:
    """Whether one of two runs with most pairs, so many that it shows, took so much for each."""
    seen = sorted((pair * drivers[name], held) for drivers, held in points)[-2:]
    return any(held >= least or least < _VISIBLE for least, held in seen)
