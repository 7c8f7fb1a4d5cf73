"""Methods that estimate iterations: their interface, and their registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Engine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.errors import RequestError, unknown_name
from predict_graph.graph import Graph
from predict_graph.iterations.budget import EdgeBudget
from predict_graph.iterations.estimate import IterationEstimate, Progress
from predict_graph.plugins import Registry, blamed_on, loaded
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
    _imported("whole_run:estimate_by_replay"),
)

OBSERVED = Method(
    "observed",
    "a function that only the engine can run is watched while its samples run",
    frozenset({"sampler", "ratio"}),
    lambda algorithm: "observed" in algorithm.sampled_by,
    None,
)


_REPLAY = "replay"  # exact, so that it excludes all other methods

METHODS: Registry[Method] = Registry(
    "method",
    "predict_graph.methods",
    {
        "completion": "predict_graph.iterations.method:COMPLETION",
        "rooted": "predict_graph.iterations.method:ROOTED",
        "published": "predict_graph.iterations.published:PUBLISHED",
        "observed": "predict_graph.iterations.method:OBSERVED",
        _REPLAY: "predict_graph.iterations.method:TWIN",
    },
)
"""In order of preference: the first one that suits an algorithm is its default."""


def methods_for(algorithm: Algorithm) -> list[str]:
    """Return the names of the methods that suit an algorithm, the default first."""
    found = [name for name in METHODS.names() if METHODS.get(name).suits(algorithm)]
    return [_REPLAY] if _REPLAY in found else found


def check_method(method: str | None, algorithm: Algorithm) -> Method:
    """Return a method; by default the preferred one of an algorithm.

    Completion if the algorithm runs on completed samples, rooted samples if it propagates changes
    until few are left, otherwise the published method.

    Raises
    ------
    RequestError
        If the method is unknown, or does not suit the algorithm.
    """
    accepted = methods_for(algorithm)
    if method is None:
        return METHODS.get(METHODS.preferred(algorithm.name) or accepted[0])
    if method not in accepted:
        raise unknown_name(f"method for {algorithm.name}", method, accepted)
    return METHODS.get(method)


def estimate_iterations(method: Method, case: SamplingCase) -> IterationEstimate:
    """Estimate the iterations of a run.

    Raises
    ------
    RequestError
        If the graph has no vertices.
    JobError
        If a registered method fails, or does not return an estimate.
    """
    if case.graph.vertices == 0:
        raise RequestError(f"the graph {case.graph.name!r} has no vertices")
    if method.estimate is None:
        raise RequestError(f"{case.algorithm.name} is observed by its engine; accepted: predict")
    if METHODS.origin(method.name) == "built-in":
        return method.estimate(case)
    with blamed_on("method", method.name):
        found = method.estimate(case)
        if not isinstance(found, IterationEstimate):
            raise TypeError(f"returned {type(found).__name__}; accepted: an IterationEstimate")
        return found
