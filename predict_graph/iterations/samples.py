"""Drawing a walk sample and running the algorithm on it."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Engine, RunProfile
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.iterations.estimate import SampleSummary
from predict_graph.plugins import Registry
from predict_graph.transforms import Transform
from samplers import SAMPLERS as BUILT_IN_SAMPLERS
from samplers import Sampler

__all__ = ["SAMPLERS", "SampleRun", "WalkSample", "check_ratio", "draw_sample", "run_sample"]

SAMPLERS: Registry[type[Sampler]] = Registry(
    "sampler", "predict_graph.samplers", BUILT_IN_SAMPLERS
)


@dataclass(frozen=True)
class WalkSample:
    """A sample of a graph's vertices, with the subgraph that they induce."""

    sampler: str
    ratio: float
    graph: Graph
    seconds: float
    note: str


@dataclass(frozen=True)
class SampleRun:
    """The run of an algorithm on a sample, and the threshold it ran to."""

    profile: RunProfile
    threshold: float
    summary: SampleSummary


def check_ratio(ratio: float) -> float:
    """Return a sampling ratio.

    Raises
    ------
    RequestError
        If it is outside (0, 1].
    """
    if not 0.0 < ratio <= 1.0:
        raise RequestError(f"ratio is {ratio}; accepted: greater than 0 and at most 1")
    return float(ratio)


def draw_sample(
    graph: Graph,
    sampler: str,
    ratio: float,
    rng: np.random.Generator,
    max_edges: int | None = None,
) -> WalkSample:
    """Draw a sample and induce its subgraph.

    Parameters
    ----------
    graph : Graph
    sampler : str
        Name of a registered sampler.
    ratio : float
        Vertices to draw / vertices of the graph.
    rng : Generator
    max_edges : int, optional
        Stop earlier when the vertices drawn touch so many edges.
    """
    started = time.perf_counter()
    drawn = SAMPLERS.get(sampler)().sample(
        graph, check_ratio(ratio), random_state=rng, max_edges=max_edges
    )
    subgraph = graph.subgraph(np.sort(drawn.vertices))
    seconds = time.perf_counter() - started
    actual = len(drawn.vertices) / max(graph.vertices, 1)
    return WalkSample(sampler, actual, subgraph, seconds, drawn.note)


def run_sample(
    sample: WalkSample,
    algorithm: Algorithm,
    engine: Engine,
    transform: Transform,
    threshold: float,
    *,
    purpose: str,
    max_iterations: int | None = None,
) -> SampleRun:
    """Run an algorithm on a sample under the transformed threshold."""
    started = time.perf_counter()
    threshold_of_sample = transform.sample_threshold(threshold, sample.ratio)
    profile = engine.run(
        algorithm, sample.graph, threshold=threshold_of_sample, max_iterations=max_iterations
    )
    summary = SampleSummary(
        sampler=sample.sampler,
        ratio=sample.ratio,
        vertices=sample.graph.vertices,
        edges=sample.graph.edges,
        iterations=profile.iterations,
        seconds=sample.seconds + time.perf_counter() - started,
        purpose=purpose,
        note=sample.note,
    )
    return SampleRun(profile, threshold_of_sample, summary)
