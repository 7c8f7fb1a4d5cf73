"""Methods that estimate iterations: their interface, and their registry."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

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
    estimate : callable, str or None
        From a :class:`SamplingCase` to an
        :class:`~predict_graph.iterations.estimate.IterationEstimate`, or its
        ``"module:attribute"``, loaded on first use; None if the runtime model of the engine
        observes the iterations, in its own sample runs.
    """

    name: str
    summary: str
    reads: frozenset[str]
    suits: Callable[[Algorithm], bool]
    estimate: Callable[[SamplingCase], IterationEstimate] | str | None


def _has_part(name: str) -> Callable[[Algorithm], bool]:
    """Return whether an algorithm has a part for a method."""
    return lambda algorithm: name in algorithm.sampled_by


_OWN = (
    Method(
        "completion",
        "stratified samples with their border completed",
        frozenset({"ratio", "max_overhead"}),
        _has_part("completion"),
        f"{__package__}.completion.estimator:estimate_by_completion",
    ),
    Method(
        "rooted",
        "uniform samples with the shortest paths that join them to hubs",
        frozenset({"ratio", "max_overhead"}),
        # It propagates changes until few are left, and has a kernel that begins with the graph.
        lambda algorithm: (
            algorithm.convergence in ("ratio", "fixed-point")
            and runs_here(algorithm)
            and (algorithm.prior is None or "rooted" in algorithm.sampled_by)
        ),
        f"{__package__}.rooted.estimator:estimate_by_rooted_samples",
    ),
    Method(
        "published",
        "count the iterations of walk samples (PREDIcT, section 3.2)",
        frozenset({"sampler", "ratio", "transform"}),
        lambda algorithm: "observed" not in algorithm.sampled_by,
        f"{__package__}.samples:estimate_by_sample_runs",
    ),
    Method(
        "observed",
        "a function that only the engine can run is watched while its samples run",
        frozenset({"sampler", "ratio"}),
        _has_part("observed"),
        None,
    ),
    Method(
        "replay",
        "the compiled replay of an algorithm of GraphX or GraphFrames, by the same rules: exact",
        frozenset(),
        _has_part("replay"),
        f"{__package__}.whole_run:estimate_by_replay",
    ),
)

METHODS: Registry[Method] = Registry(
    "method", "predict_graph.methods", {method.name: method for method in _OWN}
)
"""In order of preference: the first one that suits an algorithm is its default."""


def methods_for(algorithm: Algorithm) -> list[str]:
    """Return the names of the methods that suit an algorithm, the default first."""
    found = []
    for name in METHODS.names():
        with suppress(RequestError), blamed_on("method", name):  # of one that cannot be loaded
            if METHODS.get(name).suits(algorithm):
                found.append(name)
    return ["replay"] if "replay" in found else found  # which is exact


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
        if method in METHODS.names():
            METHODS.get(method)  # says why if it cannot be loaded
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
    estimate: Callable[[SamplingCase], IterationEstimate] = loaded(method.estimate)
    if METHODS.origin(method.name) == "built-in":
        return estimate(case)
    with blamed_on("method", method.name):
        found = estimate(case)
        if not isinstance(found, IterationEstimate):
            raise TypeError(f"returned {type(found).__name__}; accepted: an IterationEstimate")
        return found
