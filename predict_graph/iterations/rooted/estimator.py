"""Estimating iterations and counters from rooted samples."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Engine
from predict_graph.engines.local.kernel import Weighting
from predict_graph.engines.local.observed import ObservedRun, observed_run
from predict_graph.graph import Graph
from predict_graph.iterations.budget import EdgeBudget
from predict_graph.iterations.crossing import crossing
from predict_graph.iterations.estimate import (
    QUANTILE,
    IterationEstimate,
    Progress,
    SampleSummary,
    TimedSample,
    iteration_interval,
)
from predict_graph.iterations.rooted.recipes import Recipe, recipe_of
from predict_graph.iterations.rooted.sample import RootedSample, edges_of

__all__ = ["estimate_by_rooted_samples"]

_METHOD_STD = 0.09  # of log(predicted / true), what one sample does not show (docs/studies)
_PILOT_SHARE = 0.25  # of the ratio: how long will the run be?
_FEWEST = 2_000  # vertices drawn, where the graph has them
_EDGE_GROWTH = 1.5
_WORTH_WHILE = 1.5  # a sample must be so much larger than the pilot to be drawn


def estimate_by_rooted_samples(
    graph: Graph,
    algorithm: Algorithm,
    engine: Engine,
    *,
    ratio: float,
    budget: EdgeBudget,
    rng: np.random.Generator,
    progress: Progress,
) -> IterationEstimate:
    """Return iterations, and counters of each, as a sample with whole paths shows them.

    A small sample tells how long the run will be, and so what a larger one may cost.

    Parameters
    ----------
    graph, algorithm, engine
        What to predict. Samples run in this process, whatever the engine.
    ratio : float
        Vertices drawn / vertices of the graph, at most; those on paths come on top.
    budget : EdgeBudget
    rng : Generator
    progress : callable
    """
    progress("finding shortest paths", 0.0)
    recipe = recipe_of(algorithm, graph)
    few = min(_FEWEST, graph.vertices)
    size = max(int(_PILOT_SHARE * ratio * graph.vertices), few)
    progress("pilot sample", 0.3)
    outcome = _sample_and_run(graph, algorithm, engine, recipe, size, rng)
    outcomes = [outcome]
    allowed = budget.share(len(outcome.run.convergence))
    factor = (allowed - outcome.edge_share) / max(outcome.edge_share, 1e-9)
    # Hubs, and the paths to them, are in every sample: edges grow less than the vertices drawn.
    larger = min(
        int(max(factor, 0.0) ** _EDGE_GROWTH * size), max(int(ratio * graph.vertices), few)
    )
    if larger >= _WORTH_WHILE * size:
        progress("sample", 0.5)
        outcome = _sample_and_run(graph, algorithm, engine, recipe, larger, rng)
        outcomes.append(outcome)
    return _estimate(graph, algorithm, recipe, outcomes)


@dataclass(frozen=True)
class _Outcome:
    """A sample and its run."""

    run: ObservedRun
    summary: SampleSummary
    edge_share: float
    edge_steps: float


def _estimate(
    graph: Graph, algorithm: Algorithm, recipe: Recipe, outcomes: list[_Outcome]
) -> IterationEstimate:
    last = outcomes[-1].run
    limit = algorithm.max_iterations
    centre = _crossing(last, algorithm.threshold(graph.vertices), algorithm)
    iterations, low, high = iteration_interval(centre, _METHOD_STD, QUANTILE, limit)
    counters = last.counters.iloc[np.minimum(np.arange(iterations), len(last.counters) - 1)]
    scale = graph.vertices / max(outcomes[-1].summary.vertices, 1)
    return IterationEstimate(
        method="rooted",
        crossing=centre,
        iterations=iterations,
        low=low,
        high=high,
        curve=last.convergence[np.minimum(np.arange(iterations), len(last.convergence) - 1)],
        converged=last.converged,
        samples=[outcome.summary for outcome in outcomes],
        edge_steps=recipe.edge_visits + sum(outcome.edge_steps for outcome in outcomes),
        counters=counters.reset_index(drop=True).assign(
            total_vertices=graph.vertices,
            working_set_bytes=last.table["working_set_bytes"].iloc[0] * scale,
        ),
        timed=TimedSample(
            last.table,
            last.idle_seconds,
            last.work,
            last.whole_work,
            last.again,
            outcomes[-1].edge_steps,
        ),
    )


def _sample_and_run(
    graph: Graph,
    algorithm: Algorithm,
    engine: Engine,
    recipe: Recipe,
    size: int,
    rng: np.random.Generator,
) -> _Outcome:
    started = time.perf_counter()
    sample = recipe.sampler.draw(size, rng)
    run = _run(graph, algorithm, engine, recipe, sample)
    summary = SampleSummary(
        sampler="rooted",
        ratio=len(sample.vertices) / max(graph.vertices, 1),
        vertices=sample.graph.vertices,
        edges=sample.graph.edges,
        iterations=len(run.convergence),
        seconds=time.perf_counter() - started,
        purpose="iterations",
    )
    return _Outcome(
        run, summary, sample.graph.edges / max(graph.edges, 1), _messages(run, sample, graph)
    )


def _run(
    graph: Graph,
    algorithm: Algorithm,
    engine: Engine,
    recipe: Recipe,
    sample: RootedSample,
) -> ObservedRun:
    return observed_run(
        algorithm,
        sample.graph,
        Weighting(
            sample.vertices,
            sample.weights,
            sample.degrees,
            _edge_weights(graph, sample.vertices),
        ),
        threshold=algorithm.threshold(graph.vertices),
        edges=graph.edges,
        workers=engine.workers,
        prior=recipe.inputs(sample),
    )


def _edge_weights(graph: Graph, vertices: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    """Return the weight of the edges of each vertex to others, in the whole graph."""
    owners, places = edges_of(graph, vertices)
    weights = np.ones(len(places)) if graph.weights is None else graph.weights[places]
    others = graph.indices[places] != vertices[owners]
    return np.bincount(owners[others], weights[others], minlength=len(vertices)).astype(np.float64)


def _crossing(run: ObservedRun, threshold: float, algorithm: Algorithm) -> float:
    if algorithm.convergence == "fixed-point":
        return float(len(run.convergence))
    return min(crossing(run.convergence, threshold), float(algorithm.max_iterations + 1))


def _messages(run: ObservedRun, sample: RootedSample, graph: Graph) -> float:
    """Return the messages that the sample run sent, about: its share of those of the whole run."""
    sent = float(run.counters[["local_messages", "remote_messages"]].to_numpy().sum())
    return sent * sample.graph.edges / max(graph.edges, 1)
