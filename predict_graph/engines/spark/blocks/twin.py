"""Running an algorithm where the graph is, only to count: compiled, block by block.

A *twin* of an algorithm does the same supersteps as its kernel on this machine. The executors keep
the edges, the driver what each vertex holds: a superstep sends it to them, and they answer with
what each vertex hears.
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

__all__ = ["CountedRun", "Question", "Twin", "check_twin", "count_run", "twin_of"]

_DEGREES = 24  # by definition, bytes of a vertex: degrees, ids, and a mark in passing


@dataclass(frozen=True)
class Question:
    """What the executors are asked in a superstep.

    Parameters
    ----------
    function : callable
        From a :class:`~predict_graph.engines.spark.blocks.on_executors.Block` and `shared` to
        vertices and what they hear.
    shared : object
    kinds : tuple of str
        Types of both.
    answer_bytes : float
        Of all answers, at most.
    """

    function: Callable[[Block, Any], tuple[Any, Any]]
    shared: Any
    kinds: tuple[str, str]
    answer_bytes: float


class Twin(ABC):
    """One algorithm on a graph that stays on the cluster.

    Parameters
    ----------
    algorithm : Algorithm
    graph : ClusterGraph
    prior_values : ndarray, optional
        Result of the algorithm that runs before.
    """

    weights: ClassVar[bool] = False
    """Whether it reads weights of edges."""

    working_set_bytes: int

    def __init__(
        self, algorithm: Any, graph: ClusterGraph, prior_values: npt.NDArray[Any] | None = None
    ) -> None:
        self.algorithm, self.graph = algorithm, graph

    @classmethod
    @abstractmethod
    def vertex_bytes(cls, algorithm: Any) -> float:
        """Return the bytes that the driver holds for each vertex."""

    @abstractmethod
    def ask(self) -> Question:
        """Return what to ask the executors in this superstep."""

    @abstractmethod
    def take(self, places: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Take an answer in: what some vertices hear, each of them in one answer only."""

    @abstractmethod
    def settle(self) -> Superstep:
        """End the superstep."""

    @property
    @abstractmethod
    def values(self) -> npt.NDArray[Any]:
        """Result of each vertex so far."""


@dataclass(frozen=True)
class CountedRun:
    """What the first supersteps of a run do: counted, not sampled.

    Parameters
    ----------
    curve : ndarray of float64, shape (k,)
        Convergence aggregate.
    counters : DataFrame
        A row a superstep: active vertices, messages and bytes of all workers together.
    values : ndarray
        Result of each vertex after them.
    converged : bool
        Whether the run ends with the last of them by convergence.
    ended : bool
        Whether it ends there at all: by its limit otherwise.
    """

    curve: npt.NDArray[np.float64]
    counters: pd.DataFrame
    values: npt.NDArray[Any]
    converged: bool
    ended: bool


def twin_of(algorithm: Algorithm) -> type[Twin] | None:
    """Return the twin of an algorithm, None if it has none."""
    found: type[Twin] | None = loaded(algorithm.counted_by)
    return found


def check_twin(algorithm: Algorithm, packed: PackedGraph) -> type[Twin]:
    """Return the twin of an algorithm, if what it holds fits at the driver.

    Raises
    ------
    RequestError
        If there is none, or it would hold too much.
    """
    twin = twin_of(algorithm)
    if twin is None:
        raise RequestError(
            f"{packed.source} has {packed.edges:,} edges, too many for this process, and "
            f"{algorithm.name} cannot be counted on the cluster; accepted: a larger limit "
            "driver_bytes (--limit driver_bytes=N), 12 bytes an edge and 64 a vertex"
        )
    each = _DEGREES + twin.vertex_bytes(algorithm)
    check_driver_bytes(
        f"{algorithm.name} on {packed.vertices:,} vertices, {each:.0f} bytes each,",
        each * packed.vertices,
    )
    return twin


def count_run(
    twin: Twin,
    packed: PackedGraph,
    goes_on: Callable[[list[float]], bool],
    progress: Callable[[int], None],
) -> CountedRun:
    """Do the supersteps of a run until it ends, or until it is told not to go on.

    Parameters
    ----------
    twin : Twin
    packed : PackedGraph
    goes_on : callable
        Whether to do another superstep, from the convergence curve so far.
    progress : callable
        Told the number of each superstep.

    Raises
    ------
    JobError
        If Spark fails.
    """
    algorithm, graph = twin.algorithm, twin.graph
    target, limit = algorithm.threshold(graph.vertices), algorithm.max_iterations
    curve: list[float] = []
    rows: list[dict[str, float]] = []
    converged = False
    while not converged and len(curve) < limit and (not curve or goes_on(curve)):
        progress(len(curve) + 1)
        asked = twin.ask()
        answers = packed.passed(
            asked.function, asked.shared, asked.kinds, answer_bytes=asked.answer_bytes
        )
        del asked
        for places, values in answers:
            twin.take(places, values)
        step = twin.settle()
        curve.append(step.convergence)
        rows.append(_counted(step, graph))
        converged = step.convergence < target
    return CountedRun(
        curve=np.array(curve),
        counters=pd.DataFrame(rows).assign(
            total_vertices=graph.vertices, working_set_bytes=twin.working_set_bytes
        ),
        values=twin.values,
        converged=converged,
        ended=converged or len(curve) >= limit,
    )


def _counted(step: Superstep, graph: ClusterGraph) -> dict[str, float]:
    """Return active vertices, messages and their bytes; a vertex sends along all its edges."""
    size = step.message_bytes
    if step.senders is None:
        sent, active, degrees = float(graph.edges), float(graph.vertices), graph.out_degrees
    else:
        senders = step.senders.astype(bool)
        active = float(np.count_nonzero(senders))
        degrees = np.where(senders, graph.out_degrees, 0)
        sent = float(degrees.sum(dtype=np.int64))
    if isinstance(size, np.ndarray):
        bytes_ = float(degrees.astype(np.float64) @ size)
    else:
        bytes_ = sent * float(size)
    return {"active_vertices": active, "messages": sent, "message_bytes": bytes_}
