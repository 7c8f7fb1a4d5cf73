"""One prediction of iterations and bytes, by the method of the paper or by ours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.paper.graphs import graph_for, truth
from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import Graph
from predict_graph.iterations import (
    EdgeBudget,
    IterationEstimate,
    SamplingCase,
    check_method,
    draw_sample,
    estimate_iterations,
    run_sample,
)
from predict_graph.prediction import Extrapolator
from predict_graph.transforms import default_transform

OURS = "ours"


@dataclass(frozen=True)
class Point:
    """A prediction beside the truth.

    `density` is edges a vertex of the sample over those of the graph, `work` the messages of the
    sample runs over those of the real run. Both are 0 for our method, whose samples differ in kind.
    """

    job: str
    graph: str
    method: str
    ratio: float
    seed: int
    truth: int
    predicted: int
    bytes_error: float
    density: float
    work: float

    @property
    def error(self) -> float:
        return self.predicted / self.truth - 1.0


def published(
    job: str, algorithm: Algorithm, name: str, ratio: float, seed: int, sampler: str = "brj"
) -> Point:
    """Count the iterations of one walk sample, and scale its bytes by e_E (sections 3.2, 3.4)."""
    graph, real = graph_for(algorithm, name), truth(algorithm, name)
    sample = draw_sample(graph, sampler, ratio, np.random.default_rng(seed))
    run = run_sample(
        sample,
        algorithm,
        LocalEngine(),
        default_transform(algorithm.convergence),
        algorithm.threshold(graph.vertices),
        purpose="iterations",
    ).profile
    small = sample.graph
    scale = Extrapolator.between(graph.vertices, graph.edges, small.vertices, small.edges)
    predicted_bytes = remote_bytes(run) * scale.edge_factor
    density = (small.edges / small.vertices) / (graph.edges / graph.vertices)
    return Point(
        job,
        name,
        sampler,
        ratio,
        seed,
        real.iterations,
        run.iterations,
        predicted_bytes / remote_bytes(real) - 1.0,
        density,
        messages(run) / messages(real),
    )


def ours(job: str, algorithm: Algorithm, name: str, ratio: float, seed: int) -> Point:
    """Estimate by our method for the algorithm, within the default budget of edges."""
    graph, real = graph_for(algorithm, name), truth(algorithm, name)
    estimate = estimated(graph, algorithm, ratio, seed)
    if estimate.counters is None:  # every iteration sends the same
        predicted_bytes = remote_bytes(real) / real.iterations * estimate.iterations
    else:
        predicted_bytes = float(estimate.counters["remote_message_bytes"].sum())
    return Point(
        job,
        name,
        OURS,
        ratio,
        seed,
        real.iterations,
        estimate.iterations,
        predicted_bytes / remote_bytes(real) - 1.0,
        0.0,
        estimate.edge_steps / messages(real),
    )


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
