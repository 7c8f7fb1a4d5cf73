"""What every engine does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines.profile import RunProfile
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.plugins import Registry

__all__ = ["ENGINES", "Engine", "IterationCallback", "IterationProbe", "stopping_rule"]

IterationCallback = Callable[[int, float], None]
"""Called after each iteration with its number and the convergence aggregate."""


@dataclass(frozen=True)
class IterationProbe:
    """What one iteration on the whole graph takes, from a small part of it.

    Parameters
    ----------
    seconds : float
    relative_std : float
        Standard error of `seconds`, relative.
    idle_seconds : float
        Of an iteration in which nothing is sent.
    rows : DataFrame
        What was measured: counters, working set and seconds of each part, as in a profile.
    """

    seconds: float
    relative_std: float
    rows: pd.DataFrame
    idle_seconds: float = 0.0


@runtime_checkable
class Engine(Protocol):
    """Runs algorithms on graphs."""

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

    def prepare(self, algorithm: Algorithm, graph: Graph) -> float:
        """Set an algorithm up on a graph as a run would, and return the seconds that it took."""

    def probe(
        self, algorithm: Algorithm, graph: Graph, rng: np.random.Generator
    ) -> IterationProbe | None:
        """Measure what an iteration takes on a small part of the graph; None if that cannot be."""


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
