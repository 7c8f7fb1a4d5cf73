"""The ways to estimate how many iterations a run takes."""

from __future__ import annotations

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Engine
from predict_graph.errors import unknown_name
from predict_graph.graph import Graph
from predict_graph.iterations.budget import EdgeBudget
from predict_graph.iterations.completion import CURVES, estimate_by_completion
from predict_graph.iterations.estimate import IterationEstimate, Progress
from predict_graph.iterations.published import estimate_by_sample_runs
from predict_graph.iterations.rooted import estimate_by_rooted_samples
from predict_graph.transforms import Transform

__all__ = ["METHODS", "check_method", "estimate_iterations"]

METHODS = {
    "completion": "stratified samples with their border completed, calibrated on walk samples",
    "rooted": "uniform samples with the shortest paths that join them to hubs",
    "published": "count the iterations of walk samples (PREDIcT, section 3.2)",
}


def check_method(method: str | None, algorithm: Algorithm) -> str:
    """Return the name of a method; by default the best one that an algorithm has.

    Completion where the algorithm runs on completed samples, rooted samples for one that spreads
    changes until few are left, and else the published method.

    Raises
    ------
    RequestError
        If the method is unknown, or is none for this algorithm.
    """
    if algorithm.name in CURVES.names():
        accepted = ["completion", "published"]
    elif algorithm.convergence in ("ratio", "fixed-point"):
        accepted = ["rooted", "published"]
    else:
        accepted = ["published"]
    if method is None:
        return accepted[0]
    if method not in accepted:
        raise unknown_name(f"method for {algorithm.name}", method, accepted)
    return method


def estimate_iterations(
    graph: Graph,
    algorithm: Algorithm,
    engine: Engine,
    transform: Transform,
    *,
    method: str,
    sampler: str,
    ratio: float,
    budget: EdgeBudget,
    rng: np.random.Generator,
    progress: Progress,
) -> IterationEstimate:
    """Estimate the iterations of a run; see the functions of the two methods."""
    if method == "published":
        return estimate_by_sample_runs(
            graph,
            algorithm,
            engine,
            transform,
            sampler=sampler,
            ratio=ratio,
            rng=rng,
            progress=progress,
        )
    if method == "rooted":
        return estimate_by_rooted_samples(
            graph, algorithm, engine, ratio=ratio, budget=budget, rng=rng, progress=progress
        )
    return estimate_by_completion(
        graph,
        algorithm,
        engine,
        transform,
        ratio=ratio,
        budget=budget,
        rng=rng,
        progress=progress,
    )
