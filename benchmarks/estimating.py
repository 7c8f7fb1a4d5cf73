"""One estimate of iterations by the method that is best for an algorithm, for several studies."""

from __future__ import annotations

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile
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


def messages(profile: RunProfile) -> float:
    """Return the messages of a run, with those of its prior."""
    total = profile.features_total()
    own = float(total["local_messages"] + total["remote_messages"])
    return own + (0.0 if profile.prior is None else messages(profile.prior))


def remote_bytes(profile: RunProfile) -> float:
    """Return the bytes that a run sends to other workers."""
    return float(profile.features_total()["remote_message_bytes"])
