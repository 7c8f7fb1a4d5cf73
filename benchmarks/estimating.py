"""One estimate of iterations by the method that is best for an algorithm, for several studies."""

from __future__ import annotations

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import Graph
from predict_graph.iterations import (
    EdgeBudget,
    IterationEstimate,
    SamplingCase,
    check_method,
    estimate_iterations,
)
from predict_graph.transforms import default_transform


def estimated(graph: Graph, algorithm: Algorithm, ratio: float, seed: int) -> IterationEstimate:
    """Estimate within the default budget of edges."""
    case = SamplingCase(
        graph=graph,
        algorithm=algorithm,
        engine=LocalEngine(),
        transform=default_transform(algorithm.convergence),
        sampler="brj",
        ratio=ratio,
        budget=EdgeBudget(graph.edges),
        rng=np.random.default_rng(seed),
        progress=lambda text, fraction: None,
    )
    return estimate_iterations(check_method(None, algorithm), case)
