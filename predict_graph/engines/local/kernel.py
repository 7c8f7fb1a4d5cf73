"""The kernel interface of the local engine: one compiled algorithm, run superstep by superstep.

And the bases of kernels, whose threads share blocks of rows, with deterministic sums over them.

A kernel may declare its peak memory in addition to the graph::

    @staticmethod
    def footprint(algorithm, id_bytes):
        return Footprint(vertex_bytes=40)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from predict_graph.algorithms import SPARK_LIBRARIES, Algorithm
from predict_graph.arrays import Array, FloatArray, IndexArray, IntArray
from predict_graph.deadline import StopRun
from predict_graph.engines.local.team import Team as Team
from predict_graph.errors import RequestError
from predict_graph.graph import Graph

TALLY_BYTES = 8  # per vertex, by definition: its worker, and its edges that stay there


@dataclass(frozen=True)
class Footprint:
    """Bytes that a kernel allocates at its peak."""

    vertex_bytes: float
    edge_bytes: float = 0.0
    reverse: bool = True
    thread_bytes: float = 0.0
    """Of a vertex, for each thread."""

    def beside(self, vertices: int, edges: int, threads: int) -> float:
        """Return the bytes in addition to the graph."""
        each = self.vertex_bytes + threads * self.thread_bytes
        return each * vertices + self.edge_bytes * edges


@dataclass(frozen=True)
class Work:
    """The work of a superstep, split by the size it scales with on a larger graph.

    The time of a superstep on a sample is scaled to the whole graph in proportion to this work. The
    unit is the work of handling one message.
    """

    vertices: float | Array = 0.0
    edges: float = 0.0
    messages: float = 1.0

    def amount(self, weights: FloatArray, edges: float, messages: float) -> float:
        """Return the units of work, with each vertex counted by its weight."""
        at_vertices = np.broadcast_to(self.vertices, weights.shape)
        return float(weights @ at_vertices) + self.edges * edges + self.messages * messages


@dataclass(frozen=True)
class Superstep:
    """Counters and convergence of one superstep.

    A vertex that sends puts one message on each of its outbound edges. The engine counts messages
    from this; kernels do not handle workers.

    Parameters
    ----------
    convergence : float
        The aggregate that is compared with the threshold.
    message_bytes : int or ndarray of int, shape (n,)
        Size of a message, or of the messages of each vertex: by default of one number, and of the
        id of its receiver.
    senders : ndarray of bool or uint8, shape (n,), optional
        Vertices that sent in this superstep; all by default. Read before the next superstep.
    changes : ndarray of bool or int, shape (n,), optional
        Changes at each vertex, if `convergence` is their sum divided by the sum of `places`;
        needed on samples, where vertices have different weights.
    places : int or ndarray of int, shape (n,)
        Number of values at each vertex that could have changed.
    work : Work
        Proportional to messages by default.
    """

    convergence: float
    message_bytes: int | Array = Algorithm.message_bytes
    senders: Array | None = None
    changes: Array | None = None
    places: int | Array = 1
    work: Work = Work()

    def totals(self, weights: Array, sent: Array) -> tuple[float, float, float]:
        """Return active vertices, messages and their bytes.

        A vertex counts by its weight, and sends as many messages as `sent` has for it.
        """
        sizes = np.broadcast_to(self.message_bytes, weights.shape)
        if self.senders is not None:
            mask = self.senders.astype(bool)
            weights, sent, sizes = weights[mask], sent[mask], sizes[mask]
        return float(weights.sum()), float(sent.sum()), float(sent.astype(np.float64) @ sizes)


@dataclass(frozen=True)
class WeightedSample:
    """A sample whose vertices represent different numbers of vertices of the whole graph.

    Vertex i of `graph` is ``vertices[i]``, in ascending order; it represents ``weights[i]``
    vertices, and has ``degrees[i]`` out-edges in the whole graph; those to others weigh
    ``edge_weights[i]`` together.

    A kernel whose result depends on the weights has a method ``stand_for(sample)``, which is called
    before the first superstep.
    """

    graph: Graph
    vertices: IndexArray
    weights: FloatArray
    degrees: IndexArray
    edge_weights: FloatArray


class Kernel(Protocol):
    """One algorithm on one graph: built by ``Kernel(algorithm, graph, team)``, then stepped.

    If the algorithm has a prior (:attr:`Algorithm.prior`), the kernel is built by
    ``Kernel(algorithm, graph, team, values)`` with the result of the prior.
    """

    @property
    def values(self) -> Array:
        """Result of each vertex, shape (n,) or (n, columns)."""

    def step(self) -> Superstep:
        """Run one superstep."""

    def summary(self) -> Mapping[str, Any]:
        """Return a summary of the result for JSON; called once, after the last superstep."""


def supersteps(kernel: Kernel, team: Team, limit: int) -> Iterator[tuple[Superstep, float]]:
    """Run supersteps and yield each with its seconds; raise StopRun before a deadline.

    It has the seconds of a superstep that was begun.
    """
    seconds = 0.0
    for _ in range(limit):
        team.allow(seconds)
        started = time.perf_counter()
        try:
            superstep = kernel.step()
        except StopRun:
            raise StopRun(time.perf_counter() - started) from None
        seconds = time.perf_counter() - started
        if not getattr(superstep, "convergence", np.nan) > -np.inf:  # that of a user's kernel
            raise TypeError(f"step returned {superstep!r:.80}; accepted: a Superstep")
        yield superstep, seconds


def kernel_of(algorithm: Algorithm) -> Callable[..., Kernel]:
    """Return the kernel class or factory of an algorithm."""
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
    """Whether the local engine can run an algorithm and its priors."""
    return "local" in algorithm.runs_on and (algorithm.prior is None or runs_here(algorithm.prior))


def row_blocks(
    indptr: IntArray, fewest: int = 64, least: int = 1_024, most: int = 16_384
) -> IntArray:
    """Split rows into blocks of about equal edges + vertices; rows are never split.

    A block has at most about `most` of them (tens of microseconds), and at least `least`, so that
    scheduling takes little; in between there are `fewest` blocks, for an even split among threads.

    Examples
    --------
    >>> row_blocks(np.array([0, 3, 6, 9]), most=4).tolist()
    [0, 1, 2, 3]
    """
    n = len(indptr) - 1
    work = indptr + np.arange(n + 1)
    size = min(max(work[-1] // fewest, least), most)
    count = max(1, int(np.ceil(work[-1] / size)))
    cuts = np.searchsorted(work, np.linspace(0, work[-1], count + 1)[1:-1])
    return np.unique(np.concatenate(([0], cuts, [n]))).astype(np.int64)


def unsigned(indices: IndexArray) -> Array:
    """Return a view that spares a compiled loop the check for negative indices."""
    return indices.view(np.dtype(f"u{indices.itemsize}"))


class SharedRows:
    """A kernel whose threads share the rows of a graph, some blocks at a time."""

    def __init__(self, rows: Graph, team: Team | None) -> None:
        self._team = team or Team()
        self._blocks = row_blocks(rows.indptr)

    def summary(self) -> Mapping[str, Any]:
        """Return nothing: the result consists of the values alone."""
        return {}

    def _share(self, work: Callable[..., Any], *arrays: Any) -> None:
        """Call ``work(first, last, *arrays)`` for ranges of rows that cover all of them."""
        self._share_blocks(lambda a, b, blocks: work(blocks[a], blocks[b], *arrays))

    def _share_blocks(self, work: Callable[..., Any], *arrays: Any) -> None:
        """Call ``work(first, last, starts of blocks, *arrays)`` for ranges of blocks likewise."""
        blocks = self._blocks
        self._team.share(lambda first, last: work(first, last, blocks, *arrays), len(blocks) - 1)


class SpreadingKernel(SharedRows):
    """A kernel that tracks which vertices send and which have changed."""

    def __init__(self, rows: Graph, team: Team | None) -> None:
        super().__init__(rows, team)
        self._senders = np.ones(rows.vertices, np.uint8)
        self._changed = np.zeros(rows.vertices, np.uint8)

    def rest(self) -> None:
        """Let no vertex send in the next superstep, to time its fixed costs."""
        self._senders = np.zeros_like(self._senders)

    def _turn(self, work: Work, message_bytes: Any = Algorithm.message_bytes) -> Superstep:
        """Make the changed vertices the next senders; return the superstep, with their share."""
        sent = self._senders
        self._senders, self._changed = self._changed, np.zeros_like(sent)
        share = int(np.count_nonzero(self._senders)) / max(len(sent), 1)
        return Superstep(share, message_bytes, sent, self._senders, work=work)


def ordered_sum(values: FloatArray) -> float:
    """Add in the order of `values`, so that the sum does not depend on the number of threads."""
    return float(np.cumsum(np.append(0.0, values))[-1])
