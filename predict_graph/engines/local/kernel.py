"""What a kernel of the local engine does: one algorithm, compiled, superstep by superstep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import SPARK_LIBRARIES, Algorithm
from predict_graph.errors import RequestError
from predict_graph.graph import Graph

__all__ = ["Kernel", "Superstep", "Weighting", "Work", "kernel_of", "runs_here"]


@dataclass(frozen=True)
class Work:
    """What a superstep did, told apart by what it grows with on a larger graph.

    The seconds of a superstep on a sample are carried over to the whole graph in proportion. Any
    unit serves; ours is what handling one message takes.

    Parameters
    ----------
    vertices : float or ndarray of float, shape (n,)
        At each vertex, whatever it receives.
    edges : float
        For each edge, whether or not a message comes along it.
    messages : float
        For each message.
    """

    vertices: float | npt.NDArray[Any] = 0.0
    edges: float = 0.0
    messages: float = 1.0

    def amount(self, weights: npt.NDArray[np.float64], edges: float, messages: float) -> float:
        """Return the units of work, each vertex counted as often as its weight says."""
        at_vertices = np.broadcast_to(self.vertices, weights.shape)
        return float(weights @ at_vertices) + self.edges * edges + self.messages * messages


@dataclass(frozen=True)
class Superstep:
    """What one superstep did, as far as counters and convergence go.

    A vertex that sends puts one message on each of its outbound edges. The engine counts messages
    from this; a kernel need not know of workers.

    Parameters
    ----------
    convergence : float
        The aggregate that the threshold is on.
    message_bytes : int or ndarray of int, shape (n,)
        Size of a message, or of the messages of each vertex.
    senders : ndarray of bool or uint8, shape (n,), optional
        Vertices that sent in this superstep; all by default. Read before the next superstep.
    changes : ndarray of bool or int, shape (n,), optional
        What changed at each vertex, if `convergence` is the sum of it over the sum of `places`: on
        a sample, some vertices count more than others.
    places : int or ndarray of int, shape (n,)
        What could have changed at each vertex.
    work : Work
        In proportion to messages by default.
    """

    convergence: float
    message_bytes: int | npt.NDArray[Any]
    senders: npt.NDArray[Any] | None = None
    changes: npt.NDArray[Any] | None = None
    places: int | npt.NDArray[Any] = 1
    work: Work = Work()

    def messages(self, graph: Graph) -> int:
        """Return how many messages were sent along the edges of the graph."""
        if self.senders is None:
            return graph.edges
        return int(graph.out_degrees[self.senders.astype(bool)].sum())


@dataclass(frozen=True)
class Weighting:
    """What the vertices of a sample stand for in the whole graph.

    A kernel whose result depends on it has a method ``stand_for(weighting)``, called before the
    first superstep.

    Parameters
    ----------
    vertices : ndarray of int, shape (k,)
        Which vertices of the whole graph they are.
    weights : ndarray of float64, shape (k,)
        Number of vertices that each stands for; 0 for one that only connects others.
    degrees : ndarray of int64, shape (k,)
        Out-degrees in the whole graph.
    edge_weights : ndarray of float64, shape (k,)
        Weight of all edges of each vertex in the whole graph, self-loops left out.
    """

    vertices: npt.NDArray[np.integer]
    weights: npt.NDArray[np.float64]
    degrees: npt.NDArray[np.int64]
    edge_weights: npt.NDArray[np.float64]


class Kernel(Protocol):
    """One algorithm on one graph: built by ``Kernel(algorithm, graph, team)``, then stepped.

    A kernel of an algorithm with a prior (:attr:`Algorithm.prior`) is built by ``Kernel(algorithm,
    graph, team, values)``, with the result of that one.
    """

    working_set_bytes: int
    """Bytes that a superstep reads at random."""

    @property
    def values(self) -> npt.NDArray[Any]:
        """Result of each vertex, shape (n,) or (n, columns)."""

    def step(self) -> Superstep:
        """Run one superstep."""

    def summary(self) -> Mapping[str, Any]:
        """Return figures of the whole result, for JSON; called once, after the last superstep."""


def kernel_of(algorithm: Algorithm) -> Callable[..., Kernel]:
    """Return the kernel of an algorithm: a class, or what makes one.

    Raises
    ------
    RequestError
        If there is none.
    """
    kernel: Callable[..., Kernel] | None = algorithm.part_for("local")
    if kernel is None and algorithm.name.partition(":")[0] in SPARK_LIBRARIES:
        raise RequestError(f"{algorithm.name} runs on Spark alone; accepted: --engine spark")
    if kernel is None:
        raise RequestError(
            f"{algorithm.name} declares no kernel for the local engine; accepted: a vertex "
            "program, or runs_on = {'local': a class built by Kernel(algorithm, graph, team)}"
        )
    return kernel


def runs_here(algorithm: Algorithm) -> bool:
    """Whether the local engine has something to run an algorithm, and its priors, with."""
    return "local" in algorithm.runs_on and (algorithm.prior is None or runs_here(algorithm.prior))
