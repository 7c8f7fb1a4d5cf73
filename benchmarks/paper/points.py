"""One prediction of iterations and bytes, by the method of the paper or by ours."""

from __future__ import annotations

import numpy as np

from benchmarks.common import Row
from benchmarks.paper.graphs import graph_for, truth
from predict_graph import iterations as sampling
from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import Graph
from predict_graph.transforms import default_transform

OURS = "ours"


def point(algorithm: Algorithm, name: str, method: str, ratio: float, seed: int) -> Row:
    """Return a prediction beside the truth.

    `density` is edges a vertex of the sample over those of the graph, 0 for our method, whose
    samples differ in kind; `work` the messages of the sample runs over those of the real run.
    """
    graph, real = graph_for(algorithm, name), truth(algorithm, name)
    rng = np.random.default_rng(seed)
    if method == OURS:
        iterations, sent, density, work = ours(algorithm, graph, real, ratio, rng)
    else:
        iterations, sent, density, work = published(algorithm, graph, method, ratio, rng)
    return {
        "graph": name,
        "method": method,
        "ratio": ratio,
        "seed": seed,
        "truth": real.iterations,
        "error": iterations / real.iterations - 1.0,
        "bytes_error": sent / remote_bytes(real) - 1.0,
        "density": density,
        "work": work / messages(real),
    }


def published(
    algorithm: Algorithm, graph: Graph, sampler: str, ratio: float, rng: np.random.Generator
) -> tuple[int, float, float, float]:
    """Count the iterations of one walk sample, and scale its bytes by e_E (sections 3.2, 3.4)."""
    sample = sampling.draw_sample(graph, sampler, ratio, rng)
    run = sampling.run_sample(
        sample,
        algorithm,
        LocalEngine(),
        default_transform(algorithm.convergence),
        algorithm.threshold(graph.vertices),
        purpose="iterations",
    ).profile
    small = sample.graph
    density = (small.edges / small.vertices) / (graph.edges / graph.vertices)
    volume = remote_bytes(run) * graph.edges / max(small.edges, 1)
    return run.iterations, volume, density, messages(run)


def ours(
    algorithm: Algorithm, graph: Graph, real: RunProfile, ratio: float, rng: np.random.Generator
) -> tuple[int, float, float, float]:
    """Estimate by our method for the algorithm, within the default budget of edges."""
    case = sampling.SamplingCase(
        graph=graph,
        algorithm=algorithm,
        engine=LocalEngine(),
        transform=default_transform(algorithm.convergence),
        sampler="brj",
        ratio=ratio,
        budget=sampling.EdgeBudget(graph.edges),
        rng=rng,
        progress=lambda text, fraction: None,
    )
    found = sampling.estimate_iterations(sampling.check_method(None, algorithm), case)
    if found.counters is None:  # every iteration sends the same
        sent = remote_bytes(real) / real.iterations * found.iterations
    else:
        sent = float(found.counters["remote_message_bytes"].sum())
    work = sum(float(each.edges * each.iterations) for each in found.samples)
    return found.iterations, sent, 0.0, work


def messages(profile: RunProfile) -> float:
    """Return the messages of a run, with those of its prior."""
    total = profile.features_total()
    own = float(total["local_messages"] + total["remote_messages"])
    return own + (0.0 if profile.prior is None else messages(profile.prior))


def remote_bytes(profile: RunProfile) -> float:
    """Return the bytes that a run sends to other workers."""
    return float(profile.features_total()["remote_message_bytes"])
