"""Estimating iterations from completed samples."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Engine
from predict_graph.graph import Graph
from predict_graph.iterations.budget import EdgeBudget
from predict_graph.iterations.completion.calibration import Calibration, combined_correction
from predict_graph.iterations.completion.completed import Completer
from predict_graph.iterations.completion.curves import completed_curve
from predict_graph.iterations.completion.hubs import choose_hubs
from predict_graph.iterations.completion.profiles import vertex_profiles
from predict_graph.iterations.crossing import crossing, stretched_curve
from predict_graph.iterations.estimate import (
    IterationEstimate,
    Progress,
    SampleSummary,
    iteration_interval,
)
from predict_graph.iterations.samples import draw_sample, run_sample
from predict_graph.transforms import Transform

__all__ = ["estimate_by_completion"]

_QUANTILE = 1.645  # 90% of a normal distribution
_METHOD_STD = 0.035  # of log(predicted / true), what repeated samples do not show (docs/studies)
_REPLICATES = (5, 9)
_LARGEST_REPLICATE = 1_200_000  # edges
_REPLICATE_SHARE = 0.2  # of the edges of the graph, at most
_LARGEST_HUB_SHARE = 0.1  # of the edges of the graph
_CALIBRATION_WALKS = ("rj", "mhrw")
_CALIBRATION_RATIO = 0.3
_CALIBRATION_REPLICATES = 3
_LARGEST_CALIBRATION = 300_000
_FEWEST_VERTICES = 100
_CALIBRATION_PASSES = 4.7  # two samples, each run once and completed three times at about 0.45


@dataclass(frozen=True)
class _Replicates:
    """Crossings and curves of repeated completed samples of one graph."""

    crossings: npt.NDArray[np.float64]
    curves: list[npt.NDArray[np.float64]]
    edges: int
    vertices: int

    @property
    def crossing(self) -> float:
        """The median: a chance loop in one sample must not move the estimate."""
        return float(np.median(self.crossings))


def estimate_by_completion(
    graph: Graph,
    algorithm: Algorithm,
    engine: Engine,
    transform: Transform,
    *,
    ratio: float,
    budget: EdgeBudget,
    rng: np.random.Generator,
    progress: Progress,
) -> IterationEstimate:
    """Return the iterations that completed samples of the graph take, calibrated on walk samples.

    Repeated stratified samples are completed (:class:`Completer`) and iterated until they cross the
    threshold of the whole graph; walk samples, whose exact answer is cheap, tell how much
    completion errs on this kind of graph (:mod:`~predict_graph.iterations.completion.calibration`).
    No iteration runs on the whole graph. What is read of it is one pass over its edges for the
    profiles of the vertices, and the edges of the sampled vertices.

    Parameters
    ----------
    graph, algorithm, engine, transform
        What to predict; the engine runs the walk samples.
    ratio : float
        Vertices of a sample / vertices of the graph, at most.
    budget : EdgeBudget
        Edges that all samples together may have.
    rng : Generator
    progress : callable
    """
    threshold = algorithm.threshold(graph.vertices)
    started = time.perf_counter()
    edges, count = _replicate_plan(graph.edges, budget.for_completion)
    progress("reading vertex profiles", 0.0)
    whole = _replicate(graph, algorithm, threshold, ratio, edges, count, rng, progress)
    elapsed = time.perf_counter() - started
    drawn = whole.vertices / max(graph.vertices, 1)
    samples = [
        SampleSummary(
            "completion",
            drawn,
            whole.vertices,
            whole.edges,
            _whole(value),
            elapsed / count,
            "iterations",
        )
        for value in whole.crossings
    ]
    calibrations, calibration_samples, steps = _calibrate(
        graph,
        algorithm,
        engine,
        transform,
        threshold,
        ratio,
        int(budget.for_calibration / _CALIBRATION_PASSES),
        rng,
        progress,
    )
    correction, correction_error = combined_correction(calibrations)
    limit = algorithm.max_iterations
    centre = whole.crossing * np.exp(correction)
    iterations, low, high = iteration_interval(
        centre,
        float(np.sqrt(_spread(whole.crossings) ** 2 + correction_error**2 + _METHOD_STD**2)),
        _QUANTILE,
        limit,
    )
    return IterationEstimate(
        method="completion",
        crossing=centre,
        iterations=iterations,
        low=low,
        high=high,
        curve=stretched_curve(whole.curves, float(np.exp(correction)), iterations),
        converged=bool(centre <= limit),
        samples=samples + calibration_samples,
        edge_steps=steps + sum(whole.edges * _whole(value) for value in whole.crossings),
    )


def _replicate_plan(edges: int, allowed: int) -> tuple[int, int]:
    """Return the edges of a replicate and the number of replicates: odd, for the median."""
    fewest, most = _REPLICATES
    size = max(min(int(_REPLICATE_SHARE * edges), allowed // fewest, _LARGEST_REPLICATE), 1)
    count = min(max(allowed // size, fewest), most)
    return size, count - (count + 1) % 2


def _replicate(
    graph: Graph,
    algorithm: Algorithm,
    threshold: float,
    ratio: float,
    edges: int,
    count: int,
    rng: np.random.Generator,
    progress: Progress,
) -> _Replicates:
    for_hubs = min(edges // 2, int(_LARGEST_HUB_SHARE * graph.edges))
    least = max(min(ratio, (edges - for_hubs) / max(graph.edges, 1)), 1e-9)
    hubs = choose_hubs(graph, least, for_hubs)
    completer = Completer(graph, vertex_profiles(graph), hubs)
    size = _sample_size(completer, ratio, edges - for_hubs)
    crossings, curves, drawn = [], [], 0
    for number in range(count):
        progress(f"completed sample {number + 1} of {count}", number / count)
        sample = completer.draw(size, rng)
        curve = completed_curve(algorithm, sample, threshold)
        crossings.append(min(crossing(curve, threshold), float(algorithm.max_iterations + 1)))
        curves.append(curve)
        drawn = max(drawn, sample.edges)
    return _Replicates(np.array(crossings), curves, drawn, len(hubs) + size)


def _sample_size(completer: Completer, ratio: float, edges: int) -> int:
    """Return how many vertices beside the hubs have about `edges` edges, at most `ratio` of all."""
    others = completer.others
    degrees = completer.graph.out_degrees[others]
    mean = max(float(degrees.mean()) if len(degrees) else 0.0, 1.0)
    by_ratio = max(int(ratio * completer.graph.vertices), _FEWEST_VERTICES)
    by_edges = max(int(edges / mean), _FEWEST_VERTICES)
    return min(len(others), by_ratio, by_edges)


def _calibrate(
    graph: Graph,
    algorithm: Algorithm,
    engine: Engine,
    transform: Transform,
    threshold: float,
    ratio: float,
    allowed: int,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[list[Calibration], list[SampleSummary], float]:
    """Run and complete one walk sample of each kind, of at most `allowed` edges."""
    calibrations, samples, steps = [], [], 0.0
    most = max(min(allowed, _LARGEST_CALIBRATION), 1)
    for number, walk in enumerate(_CALIBRATION_WALKS):
        progress(f"calibration on a {walk} sample", number / len(_CALIBRATION_WALKS))
        sample = draw_sample(graph, walk, ratio, rng, max_edges=most)
        small = sample.graph
        if small.vertices < 2 * _FEWEST_VERTICES or small.edges < small.vertices // 10:
            continue
        run = run_sample(sample, algorithm, engine, transform, threshold, purpose="calibration")
        exact = crossing(run.profile.convergence, run.threshold)
        completed = _replicate(
            small,
            algorithm,
            run.threshold,
            _CALIBRATION_RATIO,
            max(small.edges // 2, 1),
            _CALIBRATION_REPLICATES,
            rng,
            lambda text, fraction: None,
        )
        density = (small.edges / small.vertices) / (graph.edges / graph.vertices)
        calibrations.append(Calibration(exact, completed.crossing, density))
        samples.append(run.summary)
        steps += small.edges * run.profile.iterations
        steps += completed.edges * float(completed.crossings.sum())
    return calibrations, samples, steps


def _spread(crossings: npt.NDArray[np.float64]) -> float:
    """Return the standard error of the median of logarithms, from their interquartile range."""
    low, high = np.quantile(np.log(crossings), [0.25, 0.75])
    return float(1.253 * (high - low) / 1.349 / np.sqrt(len(crossings)))


def _whole(value: float) -> int:
    return int(np.ceil(value - 1e-9))
