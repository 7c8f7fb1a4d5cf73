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
from predict_graph.transforms import Transform

__all__ = ["METHODS", "check_method", "estimate_iterations"]

METHODS = {
    "completion": "stratified samples with their border completed, calibrated on walk samples",
    "published": "count the iterations of walk samples (PREDIcT, section 3.2)",
}


def check_method(method: str | None, algorithm: Algorithm) -> str:
    """Return the name of a method; by default completion where the algorithm has it.

    Raises
    ------
    RequestError
        If the method is unknown, or the algorithm does not run on completed samples.
    """
    completes = algorithm.name in CURVES.names()
    if method is None:
        return "completion" if completes else "published"
    accepted = [name for name in METHODS if completes or name != "completion"]
    if method not in accepted:
        raise unknown_name("method", method, accepted)
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
