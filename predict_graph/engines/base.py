"""The interface of an engine and of the callbacks that follow a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from predict_graph.algorithms import Algorithm
from predict_graph.engines.profile import RunProfile
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.plugins import Registry

IterationCallback = Callable[[int, float], None]
"""Called after each iteration with its number and the convergence aggregate."""


@runtime_checkable
class RunFollower(Protocol):
    """A progress callback that is also notified when the supersteps of each algorithm start.

    Engines that only call it after each iteration are followed in less detail.
    """

    def __call__(self, iteration: int, aggregate: float) -> None:
        """Record an iteration, like any progress callback."""

    def begins(self, algorithm: Algorithm, graph: Any, threshold: float, limit: int) -> None:
        """Record that the supersteps of an algorithm start, on a graph with its sizes."""

    def superstep(self, iteration: int, ended: float) -> None:
        """Record the time at which an iteration ended, in seconds since 1970.

        An iteration number that is repeated discards the later ones recorded before.
        """


# Who follows a run in detail, if anyone does.
Follower = RunFollower | None


def follower_of(progress: IterationCallback | None) -> Follower:
    """Return the callback if it is a `RunFollower`, else None."""
    return progress if isinstance(progress, RunFollower) else None


@runtime_checkable
class Engine(Protocol):
    """Runs algorithms on graphs.

    An engine may declare a runtime model in the attribute ``runtime_model``, a class or
    ``"module:attribute"`` (:class:`~predict_graph.engines.runtime_model.RuntimeModel`). For other
    engines the runtime is estimated from sample runs.
    """

    name: str
    virtual_workers: bool
    """Whether one machine, this one, does the work of all workers."""

    @property
    def workers(self) -> int:
        """The number of machines, or of workers whose messages are counted."""

    def describe(self) -> dict[str, Any]:
        """Return name and settings, for JSON and to match earlier runs."""

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
    """Return the threshold and iteration limit of a run: the given ones, or the algorithm's own."""
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
