"""Counting the supersteps of an algorithm on a graph that stays on the cluster.

A *replica* of an algorithm executes the supersteps of its local kernel. The executors hold the
edges and the driver the state of each vertex: a superstep sends the state to the executors, which
return what each vertex receives.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.engines.spark.blocks.packing import PackedGraph, check_driver_bytes
from predict_graph.errors import RequestError
from predict_graph.graph.on_cluster import ClusterGraph
from predict_graph.plugins import loaded

_COUNTED = ["active_vertices", "messages", "message_bytes"]
_DEGREES = 24  # bytes per vertex, by definition: degrees, ids, and a temporary mark


@dataclass(frozen=True)
class Question:
    """The request to the executors in a superstep."""

    function: Callable[[Block, Any], tuple[Any, Any]]
    shared: Any
    kinds: tuple[str, str]
    answer_bytes: float


class Replica(ABC):
    """One algorithm on a graph that stays on the cluster."""

    weights: ClassVar[bool] = False
    """Whether it uses edge weights."""

    working_set_bytes: int

    def __init__(
        self, algorithm: Any, graph: ClusterGraph, prior_values: npt.NDArray[Any] | None = None
    ) -> None:
        self.algorithm, self.graph = algorithm, graph

    @classmethod
    @abstractmethod
    def vertex_bytes(cls, algorithm: Any) -> float:
        """Return the bytes per vertex that the driver holds."""

    @abstractmethod
    def ask(self) -> Question:
        """Return the request to the executors in this superstep."""

    @abstractmethod
    def take(self, places: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Merge a result: what some vertices receive; each vertex occurs in one result only."""

    @abstractmethod
    def settle(self) -> Superstep:
        """End the superstep."""

    @property
    @abstractmethod
    def values(self) -> npt.NDArray[Any]:
        """The result of each vertex so far."""


@dataclass(frozen=True)
class CountedRun:
    """Exact counters of the first supersteps of a run."""

    curve: npt.NDArray[np.float64]
    counters: pd.DataFrame
    values: npt.NDArray[Any]
    converged: bool
    ended: bool


def replica_of(algorithm: Algorithm) -> type[Replica] | None:
    """Return the replica of an algorithm, or None."""
    found: type[Replica] | None = loaded(algorithm.counted_by)
    return found


def check_replica(algorithm: Algorithm, packed: PackedGraph) -> type[Replica]:
    """Return the replica of an algorithm if its state fits at the driver."""
    replica = replica_of(algorithm)
    if replica is None:
        raise RequestError(
            f"{packed.source} has {packed.edges:,} edges, too many for this process, and "
            f"{algorithm.name} cannot be counted on the cluster; accepted: a larger limit "
            "driver_bytes (--limit driver_bytes=N), 12 bytes an edge and 64 a vertex"
        )
    each = _DEGREES + replica.vertex_bytes(algorithm)
    check_driver_bytes(
        f"{algorithm.name} on {packed.vertices:,} vertices, {each:.0f} bytes each,",
        each * packed.vertices,
    )
    return replica


def count_run(
    replica: Replica,
    packed: PackedGraph,
    goes_on: Callable[[list[float]], bool],
    progress: Callable[[int], None],
) -> CountedRun:
    """Execute supersteps until the run ends or `goes_on` returns false."""
    algorithm, graph = replica.algorithm, replica.graph
    target, limit = algorithm.threshold(graph.vertices), algorithm.max_iterations
    curve: list[float] = []
    rows: list[tuple[float, float, float]] = []
    converged = False
    while not converged and len(curve) < limit and (not curve or goes_on(curve)):
        progress(len(curve) + 1)
        asked = replica.ask()
        answers = packed.passed(
            asked.function, asked.shared, asked.kinds, answer_bytes=asked.answer_bytes
        )
        del asked
        for places, values in answers:
            replica.take(places, values)
        step = replica.settle()
        curve.append(step.convergence)
        rows.append(step.totals(np.broadcast_to(1.0, graph.vertices), graph.out_degrees))
        converged = step.convergence < target
    return CountedRun(
        curve=np.array(curve),
        counters=pd.DataFrame(rows, columns=_COUNTED).assign(
            total_vertices=graph.vertices, working_set_bytes=replica.working_set_bytes
        ),
        values=replica.values,
        converged=converged,
        ended=converged or len(curve) >= limit,
    )
