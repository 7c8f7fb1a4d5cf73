"""The interface of a method that estimates iterations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Engine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.graph import Graph
from predict_graph.iterations.budget import EdgeBudget
from predict_graph.iterations.estimate import IterationEstimate, Progress
from predict_graph.plugins import loaded
from predict_graph.transforms import Transform


@dataclass(frozen=True)
class SamplingCase:
    """The input of a method.

    Parameters
    ----------
    graph : Graph
    algorithm : Algorithm
    engine : Engine
        Runs samples: the compiled kernels of this machine, if the algorithm has one.
    transform : Transform
        Returns the threshold of a sample run (PREDIcT, section 3.2.2).
    sampler : str
    ratio : float
        Vertices of a sample / vertices of the graph.
    budget : EdgeBudget
        Edges that samples may have.
    rng : Generator
    progress : callable
    """

    graph: Graph
    algorithm: Algorithm
    engine: Engine
    transform: Transform
    sampler: str
    ratio: float
    budget: EdgeBudget
    rng: np.random.Generator = field(repr=False)
    progress: Progress = field(repr=False)

    @property
    def threshold(self) -> float:
        """Convergence threshold of the run on the whole graph."""
        return self.algorithm.threshold(self.graph.vertices)


@dataclass(frozen=True)
class Method:
    """A method that estimates the iterations of a run, and their counters.

    Parameters
    ----------
    name : str
    summary : str
        One-line description.
    reads : frozenset of str
        Options of a prediction that it reads, of ``sampler``, ``ratio``, ``transform`` and
        ``max_overhead``; the others are refused when the user gives them.
    suits : callable
        Whether it can estimate for an algorithm.
    estimate : callable or None
        From a :class:`SamplingCase` to an
        :class:`~predict_graph.iterations.estimate.IterationEstimate`; None if the runtime model of
        the engine observes the iterations, in its own sample runs.
    """

    name: str
    summary: str
    reads: frozenset[str]
    suits: Callable[[Algorithm], bool]
    estimate: Callable[[SamplingCase], IterationEstimate] | None


def _spreads(algorithm: Algorithm) -> bool:
    """Whether an algorithm propagates changes until few are left, and has a kernel."""
    return algorithm.convergence in ("ratio", "fixed-point") and runs_here(algorithm)


def _imported(reference: str) -> Callable[[Any], Any]:
    """Return a function whose module is imported when it is first called."""

    def call(given: Any) -> Any:
        return loaded(f"predict_graph.iterations.{reference}")(given)

    return call


COMPLETION = Method(
    "completion",
    "stratified samples with their border completed",
    frozenset({"ratio", "max_overhead"}),
    lambda algorithm: "completion" in algorithm.sampled_by,
    _imported("completion.estimator:estimate_by_completion"),
)

ROOTED = Method(
    "rooted",
    "uniform samples with the shortest paths that join them to hubs",
    frozenset({"ratio", "max_overhead"}),
    _spreads,
    _imported("rooted.estimator:estimate_by_rooted_samples"),
)

TWIN = Method(
    "replay",
    "the compiled replay of an algorithm of GraphX or GraphFrames, by the same rules: exact",
    frozenset(),
    lambda algorithm: "replay" in algorithm.sampled_by,
    _imported("replay:estimate_by_replay"),
)

OBSERVED = Method(
    "observed",
    "a function that only the engine can run is watched while its samples run",
    frozenset({"sampler", "ratio"}),
    lambda algorithm: "observed" in algorithm.sampled_by,
    None,
)
