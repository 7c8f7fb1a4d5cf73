"""What every engine does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from predict_graph.algorithms import Algorithm
from predict_graph.engines.profile import RunProfile
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.plugins import Registry

__all__ = [
    "ENGINES",
    "Engine",
    "IterationCallback",
    "RunFollower",
    "follower_of",
    "stopping_rule",
    "supersteps_begin",
]

IterationCallback = Callable[[int, float], None]
"""Called after each iteration with its number and the convergence aggregate."""


@runtime_checkable
class RunFollower(Protocol):
    """A callback that also follows the runs before, in a chain, and is told when each begins.

    An engine that only calls it after each iteration is followed as well, but less closely.
    """

    def __call__(self, iteration: int, aggregate: float) -> None:
        """Take note of an iteration, as any callback."""

    def begins(self, algorithm: Algorithm, graph: Any, threshold: float, limit: int) -> None:
        """Take note that the supersteps of an algorithm begin, on a graph with its sizes."""

    def superstep(self, iteration: int, ended: float) -> None:
        """Take note of an iteration that ended at a moment, in seconds since 1970.

        One that comes again takes those after it back.
        """


def follower_of(progress: IterationCallback | None) -> RunFollower | None:
    """Return a callback if it follows the runs before, too."""
    return progress if isinstance(progress, RunFollower) else None


def supersteps_begin(
    progress: IterationCallback | RunFollower | None,
    algorithm: Algorithm,
    graph: Any,
    threshold: float,
    limit: int,
) -> None:
    """Tell a follower that the supersteps of an algorithm begin."""
    follower = follower_of(progress)
    if follower is not None:
        follower.begins(algorithm, graph, threshold, limit)


@runtime_checkable
class Engine(Protocol):
    """Runs algorithms on graphs.

    An engine that has an attribute ``costing``, a class or ``"module:attribute"``, says itself what
    it charges (:class:`~predict_graph.engines.costing.Costing`); any other is learned from sample
    runs on it.
    """

    name: str
    workers: int
    virtual_workers: bool
    """Whether one machine does the work of all workers."""

    def describe(self) -> dict[str, Any]:
        """Return name and settings, for JSON and for telling histories apart."""

    def run(
        self,
        algorithm: Algorithm,
        graph: Graph,
        *,
        threshold: float | None = None,
        max_iterations: int | None = None,
        progress: IterationCallback | None = None,
        write_to: Path | None = None,
    ) -> RunProfile:
        """Run an algorithm on a graph.

        Parameters
        ----------
        algorithm : Algorithm
        graph : Graph
        threshold : float, optional
            Convergence threshold; the algorithm's own for this graph by default.
        max_iterations : int, optional
            Stop after so many iterations; the algorithm's limit by default.
        progress : callable, optional
        write_to : Path, optional
            Where the result goes.
        """


def stopping_rule(
    algorithm: Algorithm, vertices: int, threshold: float | None, max_iterations: int | None
) -> tuple[float, int]:
    """Return the threshold and the most iterations of a run: those given, or the algorithm's own.

    Raises
    ------
    RequestError
        If one is out of range.
    """
    target = algorithm.threshold(vertices) if threshold is None else threshold
    limit = algorithm.max_iterations if max_iterations is None else max_iterations
    if not target >= 0.0:
        raise RequestError(f"threshold is {target}; accepted: a number of at least 0")
    if limit < 1:
        raise RequestError(f"max_iterations is {limit}; accepted: at least 1")
    return target, limit


ENGINES: Registry[Callable[..., Engine]] = Registry(
    "engine",
    "predict_graph.engines",
    {
        "local": "predict_graph.engines.local:LocalEngine",
        "spark": "predict_graph.engines.spark:SparkEngine",
    },
)
