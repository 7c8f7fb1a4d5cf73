"""Methods that estimate iterations: interface, budget of their samples, and registry."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Real

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Engine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.errors import RequestError, unknown_name
from predict_graph.graph import Graph
from predict_graph.iterations.estimate import IterationEstimate, Progress
from predict_graph.plugins import Registry, blamed_on, loaded
from predict_graph.transforms import Transform

DEFAULT_MAX_OVERHEAD = 0.6  # documented default: docs/studies/overhead.md has its cost
# Edges that samples of any graph may have: limits them to a few milliseconds an iteration.
FREE_EDGES = 600_000

# Overhead up to which even a large graph has a small sample: docs/studies/overhead.md.
LEAN = 0.02


@dataclass(frozen=True)
class EdgeBudget:
    """Edges per iteration that all samples together may have, and how they are shared.

    A tenth of the vertices can be much more than a tenth of the work: 10% of the vertices of an
    R-MAT graph, drawn by biased random jump, hold 66% of its edges (docs/design-notes.md, fact 3).

    Parameters
    ----------
    edges : int
        Edges of the graph.
    max_overhead : float
        Edges of all samples / edges of the graph, at most; 0.6 by default. Samples of a
        graph with fewer than a million edges may have 600,000 in any case.
    named : bool
        Whether the user chose it. Other samples of a low overhead may have 300,000 edges in any
        case: they cost as much as none.

    Examples
    --------
    >>> EdgeBudget(64_000_000, 0.5).total
    32000000
    """

    edges: int
    max_overhead: float = DEFAULT_MAX_OVERHEAD
    named: bool = True

    def overhead_of(self, iterations: float, long: int = 20, overhead: float = 0.1) -> float:
        """Return the overhead of samples of a run of so many iterations.

        By default, samples of a long run cost at most a tenth of it (docs/studies/overhead.md).

        Examples
        --------
        >>> EdgeBudget(64_000_000).overhead_of(30)
        0.1
        >>> EdgeBudget(64_000_000, 0.2, named=False).overhead_of(30)
        0.1
        """
        usual = not self.named or self.max_overhead == DEFAULT_MAX_OVERHEAD
        share = overhead if usual and iterations >= long else self.max_overhead
        return min(share, self.max_overhead)

    @property
    def total(self) -> int:
        """Edges per iteration over all samples."""
        free = 0 if self.named else FREE_EDGES // 2
        if self.max_overhead >= DEFAULT_MAX_OVERHEAD:
            free = FREE_EDGES
        return max(int(self.max_overhead * self.edges), free, 1)

    @property
    def for_completion(self) -> int:
        """Edges of the completed samples (their share: docs/studies/overhead.md)."""
        return int(0.58 * self.total)

    @property
    def for_costs(self) -> int:
        """Edges of the samples that train the cost model, likewise."""
        return int(0.17 * self.total)


def check_max_overhead(value: float | None, most: float = 1e6) -> float:
    """Return a valid overhead.

    Raises
    ------
    RequestError
        If it is not a positive number, or so large that edges could not be counted.
    """
    if value is None:
        return DEFAULT_MAX_OVERHEAD
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value <= most:
        raise RequestError(
            f"max overhead is {value!r}; accepted: a positive number, such as 0.6, up to {most:g}"
        )
    return float(value)


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


def _spreads(algorithm: Algorithm) -> bool:
    """Whether it propagates changes until few are left, by a kernel that begins with the graph."""
    changes = algorithm.convergence in ("ratio", "fixed-point")
    begins = algorithm.prior is None or "rooted" in algorithm.sampled_by
    return changes and begins and runs_here(algorithm)


_OWN = (
    Method(
        "completion",
        "stratified samples with their border completed",
        frozenset({"ratio", "max_overhead"}),
        lambda algorithm: "completion" in algorithm.sampled_by,
        f"{__package__}.completion.estimator:estimate_by_completion",
    ),
    Method(
        "rooted",
        "uniform samples with the shortest paths that join them to hubs",
        frozenset({"ratio", "max_overhead"}),
        _spreads,
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
        lambda algorithm: "observed" in algorithm.sampled_by,
        None,
    ),
    Method(
        "replay",
        "the compiled replay of an algorithm of GraphX or GraphFrames, by the same rules: exact",
        frozenset(),
        lambda algorithm: "replay" in algorithm.sampled_by,
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
        If only the engine can observe them.
    JobError
        If a registered method fails, or does not return an estimate.
    """
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
