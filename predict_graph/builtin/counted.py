"""Replicas of the algorithms on a graph that stays on the cluster.

Each executes the supersteps of the local kernel of its algorithm.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any, ClassVar

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.builtin.connected_components.definition import ConnectedComponents
from predict_graph.builtin.connected_components.local import ComponentsKernel
from predict_graph.builtin.k_core.definition import KCore
from predict_graph.builtin.k_core.local import KCoreKernel, first_estimates, lower_rows, members
from predict_graph.builtin.label_propagation.definition import LabelPropagation
from predict_graph.builtin.label_propagation.local import message_bytes, vote
from predict_graph.builtin.merging import (
    FAR,
    HOPS,
    MAXIMUM,
    UNION,
    merged_rows,
    message_sizes,
    pull,
)
from predict_graph.builtin.neighborhood.definition import Neighborhood
from predict_graph.builtin.neighborhood.local import hashed
from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.builtin.pagerank.local import PageRankKernel
from predict_graph.builtin.personalised_pagerank.definition import PersonalisedPageRank
from predict_graph.builtin.shortest_paths.definition import ShortestPaths
from predict_graph.builtin.topk_ranking.definition import TopKRanking
from predict_graph.builtin.triangle_count.definition import TriangleCount
from predict_graph.builtin.triangle_count.local import TriangleCountKernel, set_bytes
from predict_graph.engines.local.kernel import Superstep
from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.engines.spark.blocks.replica import Question, Replica
from predict_graph.graph.on_cluster import ClusterGraph

Array = npt.NDArray[Any]
Answer = tuple[Array, Array]


class UpdatingReplica(Replica):
    """A replica for which executors return the new state of each vertex that changes.

    They read the states of all neighbours, including those that send nothing, which the driver has
    received before.
    """

    function: ClassVar[Any]
    """Module-level: from a block and the states of all vertices to vertices and new states."""
    message_bytes: int
    all_send: ClassVar[bool] = False

    def __init__(
        self, algorithm: Any, graph: ClusterGraph, prior_values: Array | None = None
    ) -> None:
        super().__init__(algorithm, graph, prior_values)
        n = graph.vertices
        self._state = self.first().astype(np.int32)
        self._following = self._state.copy()
        self._senders = np.ones(n, bool)
        self.working_set_bytes = 5 * n

    @classmethod
    def vertex_bytes(cls, algorithm: Any) -> float:
        """Return the bytes of states, now and next, received states, and marks."""
        return 4 + 4 + 8 + 2

    def first(self) -> Array:
        """Return the state of each vertex before the first superstep: its id by default."""
        return np.arange(self.graph.vertices)

    def ask(self) -> Question:
        """Send all states."""
        return Question(type(self).function, self._state, ("i4", "i4"), 8.0 * len(self._state))

    def take(self, places: Array, values: Array) -> None:
        """Store the new states of some vertices."""
        self._following[places] = values

    def settle(self) -> Superstep:
        """Return the share of vertices whose state changed."""
        sent, self._senders = self._senders, self._following != self._state
        self._state[:] = self._following
        share = int(np.count_nonzero(self._senders)) / max(len(sent), 1)
        return Superstep(share, self.message_bytes, None if self.all_send else sent)

    @property
    def values(self) -> Array:
        """The state of each vertex."""
        return self._state


def _smallest_labels(block: Block, labels: Any) -> Answer:
    smallest = np.minimum.reduceat(labels[block.sources], block.starts[:-1])
    falls = smallest < labels[block.rows]
    return block.rows[falls], smallest[falls]


class ComponentsReplica(UpdatingReplica):
    """Connected components: labels are sent."""

    algorithm: ConnectedComponents
    function = staticmethod(_smallest_labels)
    message_bytes = ComponentsKernel.message_bytes


def _winning_labels(block: Block, labels: Any) -> Answer:
    following = np.empty(len(block.rows), labels.dtype)
    heard = np.zeros(len(block.rows), np.int32)
    rows = (block.starts, block.sources, block.weights)
    vote(0, len(block.rows), *rows, labels, following, heard)
    changed = following != labels[block.rows]
    return block.rows[changed], following[changed]


class LabelPropagationReplica(UpdatingReplica):
    """Label propagation: labels are sent."""

    algorithm: LabelPropagation
    weights = True
    all_send = True
    function = staticmethod(_winning_labels)

    def __init__(
        self, algorithm: Any, graph: ClusterGraph, prior_values: Array | None = None
    ) -> None:
        super().__init__(algorithm, graph, prior_values)
        self.message_bytes = message_bytes(graph.weighted)
        self.working_set_bytes = 4 * graph.vertices


def _lower_estimates(block: Block, estimates: Any) -> Answer:
    lower = np.empty(len(block.rows), np.int32)
    lower_rows(block.rows, block.starts, block.sources, estimates, lower)
    falls = lower < estimates[block.rows]
    return block.rows[falls], lower[falls]


class KCoreReplica(UpdatingReplica):
    """Core numbers: estimates are sent."""

    algorithm: KCore
    function = staticmethod(_lower_estimates)
    message_bytes = KCoreKernel.message_bytes

    def first(self) -> Array:
        """Return the first estimates: the degrees."""
        return first_estimates(self.graph.out_degrees, self.algorithm.most)

    @property
    def values(self) -> Array:
        """The core number of each vertex, or 1 for those in the k-core and 0 for the others."""
        return members(self._state, self.algorithm.most)


class MergingReplica(Replica):
    """A replica whose vertices merge received rows and send changed ones.

    Only the rows of senders go to the executors, and only received rows come back.
    """

    pulling: ClassVar[Any]
    """:func:`_pulled` with the rule and the row that merging leaves unchanged."""
    merge: ClassVar[Any]
    """Function from rows and received rows to merged rows."""
    columns: ClassVar[str]
    """Attribute of the algorithm that is the length of a row."""
    kind: ClassVar[type] = np.int32

    def __init__(
        self, algorithm: Any, graph: ClusterGraph, prior_values: Array | None = None
    ) -> None:
        super().__init__(algorithm, graph, prior_values)
        n = graph.vertices
        shape = n, getattr(algorithm, self.columns)
        self._state: Array = np.full(shape, FAR).astype(self.kind)
        self._senders, self._changed = np.ones(n, bool), np.zeros(n, bool)
        self.start(prior_values)
        self.working_set_bytes = (self._state.itemsize * self._state.shape[1] + 1) * n

    @classmethod
    def vertex_bytes(cls, algorithm: Any) -> float:
        """Return the bytes of rows, sent rows, prior values, sizes of messages, and marks."""
        return 2 * np.dtype(cls.kind).itemsize * float(getattr(algorithm, cls.columns)) + 32

    @abstractmethod
    def start(self, prior_values: Array | None) -> None:
        """Set the rows, and the vertices that send, before the first superstep."""

    def sizes(self) -> int | npt.NDArray[np.int64]:
        """Return the message bytes of each vertex: of its known entries by default."""
        return message_sizes(np.count_nonzero(self._state < FAR, axis=1))

    def ask(self) -> Question:
        """Send the rows of the sending vertices."""
        self._sizes, state = self.sizes(), self._state
        places = np.flatnonzero(self._senders).astype(np.int32)
        rows = state if len(places) == len(state) else state[places]
        size = float(len(state)) * (4 + state.itemsize * state.shape[1])
        kinds = ("i4", state.dtype.str)
        return Question(type(self).pulling, (places, rows, len(state)), kinds, size)

    def take(self, places: Array, values: Array) -> None:
        """Merge the received rows of some vertices."""
        before = self._state[places]
        merged = type(self).merge(before, values.reshape(before.shape))
        self._state[places] = merged
        self._changed[places[(merged != before).any(axis=1)]] = True

    def settle(self) -> Superstep:
        """Return the share of vertices whose row changed."""
        sent, self._senders = self._senders, self._changed
        self._changed = np.zeros_like(sent)
        share = int(np.count_nonzero(self._senders)) / max(len(sent), 1)
        return Superstep(share, self._sizes, sent)

    @property
    def values(self) -> Array:
        """The row of each vertex."""
        return self._state


def _pulled(block: Block, shared: Any, rule: Any, empty: int) -> Answer:
    """Pull the rows sent to the vertices of a block, as the local engine does."""
    places, rows, vertices = shared
    senders = np.zeros(vertices, np.uint8)
    senders[places] = 1
    state = rows
    if len(rows) < vertices:  # pages that are never written take no memory
        state = np.zeros((vertices, rows.shape[1]), rows.dtype)
        state[places] = rows
    heard = np.full((len(block.rows), rows.shape[1]), empty, rows.dtype)
    changed = np.zeros(len(block.rows), np.uint8)
    rows = (block.starts, block.sources)
    pull(rule, 0, len(block.rows), *rows, senders, state, heard, changed)
    chosen = changed.astype(bool)
    return block.rows[chosen], heard[chosen]


class NeighborhoodReplica(MergingReplica):
    """Neighborhood estimation: counters are sent."""

    algorithm: Neighborhood
    pulling = partial(_pulled, rule=MAXIMUM, empty=0)
    merge = staticmethod(np.maximum)
    columns, kind = "registers", np.uint8

    def start(self, prior_values: Array | None) -> None:
        """Set counters of the vertices alone."""
        self._state = hashed(np.arange(self.graph.vertices), self.algorithm.registers)

    def sizes(self) -> int:
        """Return the bytes of a message."""
        return 8 + self.algorithm.registers


class ShortestPathsReplica(MergingReplica):
    """Shortest paths: hops are sent."""

    algorithm: ShortestPaths
    pulling = partial(_pulled, rule=HOPS, empty=FAR)
    merge = staticmethod(np.minimum)
    columns = "count"

    def start(self, prior_values: Array | None) -> None:
        """Set the hops of the landmarks to themselves; only landmarks send."""
        landmarks = self.algorithm.landmarks_in(self.graph.out_degrees)
        self._state[landmarks, np.arange(len(landmarks))] = 0
        self._senders[:] = (self._state < FAR).any(axis=1)

    @property
    def values(self) -> npt.NDArray[np.int32]:
        """The hops, as in the kernel."""
        hops = np.where(self._state < FAR, self._state, np.int32(-1))
        return hops[:, 0] if hops.shape[1] == 1 else hops


class TopKRankingReplica(MergingReplica):
    """Top-k ranking: lists are sent."""

    algorithm: TopKRanking
    pulling = partial(_pulled, rule=UNION, empty=FAR)
    merge = partial(merged_rows, UNION)
    columns = "k"

    def start(self, prior_values: Array | None) -> None:
        """Set lists of the vertices alone, by the order of their ranks."""
        assert prior_values is not None  # the algorithm has a prior
        order = np.argsort(-prior_values, kind="stable")
        self._state[order, 0] = np.arange(len(order))


def _sums(block: Block, offers: Any) -> Answer:
    return block.rows, np.add.reduceat(offers[block.sources], block.starts[:-1])


class PageRankReplica(Replica):
    """PageRank, from all vertices or one: contributions are sent."""

    algorithm: PageRank

    def __init__(
        self, algorithm: Any, graph: ClusterGraph, prior_values: Array | None = None
    ) -> None:
        super().__init__(algorithm, graph, prior_values)
        n = graph.vertices
        self._restarts: Any = slice(None)
        if isinstance(algorithm, PersonalisedPageRank):
            self._restarts = [algorithm.source_in(graph.out_degrees)]
        self._dangling = graph.out_degrees == 0
        self._rank, self._next = np.zeros(n), np.empty(n)
        self._rank[self._restarts] = 1.0 / self._shares
        self._begin()
        self.working_set_bytes = 8 * n

    @classmethod
    def vertex_bytes(cls, algorithm: PageRank) -> float:
        """Return the bytes of ranks, old and new, contributions, and received sums."""
        return 8 + 8 + 8 + 12 + 1

    @property
    def _shares(self) -> int:
        """The number of vertices that share the base rank."""
        return max(len(self._rank[self._restarts]), 1)

    def _begin(self) -> None:
        """Set the base rank, which does not depend on messages."""
        damping, leaked = self.algorithm.damping, 0.0
        if self.algorithm.spread_dangling:
            leaked = float(self._rank[self._dangling].sum())
        self._next.fill(0.0)
        self._next[self._restarts] = (
            1.0 - damping
        ) / self._shares + damping * leaked / self._shares

    def ask(self) -> Question:
        """Send the contribution of each vertex along its edges."""
        offers = self._rank / np.maximum(self.graph.out_degrees, 1)
        offers *= self.algorithm.damping
        return Question(_sums, offers, ("i4", "f8"), 12.0 * len(offers))

    def take(self, places: Array, values: Array) -> None:
        """Add the received sums of some vertices."""
        self._next[places] += values

    def settle(self) -> Superstep:
        """Return the mean change of rank."""
        self._rank -= self._next
        np.abs(self._rank, out=self._rank)
        change = float(self._rank.sum()) / max(len(self._rank), 1)
        self._rank, self._next = self._next, self._rank
        self._begin()
        return Superstep(change, PageRankKernel.message_bytes)

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The rank of each vertex."""
        return self._rank


def _higher_neighbours(block: Block, degrees: Any) -> Answer:
    counts = np.zeros(len(block.rows), np.int32)
    if degrees is None:  # in the second superstep
        return block.rows[:0], counts[:0]
    _counted(block.rows, block.starts, block.sources, degrees, counts)
    return block.rows, counts


@numba.njit(cache=True, nogil=True)
def _counted(rows: Any, starts: Any, sources: Any, degrees: Any, counts: Any) -> None:
    for i in range(len(rows)):
        v = rows[i]
        for e in range(starts[i], starts[i + 1]):
            w = sources[e]
            counts[i] += degrees[w] > degrees[v] or (degrees[w] == degrees[v] and w > v)


class TriangleCountReplica(Replica):
    """Triangle counting: degrees are sent, sets are not.

    The first superstep finds the sizes of the sets. Triangles are not counted, because no
    prediction depends on them.
    """

    algorithm: TriangleCount

    def __init__(
        self, algorithm: Any, graph: ClusterGraph, prior_values: Array | None = None
    ) -> None:
        super().__init__(algorithm, graph, prior_values)
        self._counts = np.zeros(graph.vertices, np.int64)
        self._steps = 0
        self.working_set_bytes = 12 * graph.vertices

    @classmethod
    def vertex_bytes(cls, algorithm: TriangleCount) -> float:
        """Return the bytes of sizes of sets, of messages, and of received sizes."""
        return 8 + 8 + 8

    def ask(self) -> Question:
        """Request the neighbours above each vertex; nothing in the second superstep."""
        degrees = None if self._steps else self.graph.out_degrees
        return Question(_higher_neighbours, degrees, ("i4", "i4"), 8.0 * self.graph.vertices)

    def take(self, places: Array, values: Array) -> None:
        """Store how many neighbours are above some vertices."""
        self._counts[places] = values

    def settle(self) -> Superstep:
        """Return the messages of the superstep."""
        self._steps += 1
        if self._steps == 1:
            return Superstep(1.0, TriangleCountKernel.message_bytes)
        return Superstep(0.0, set_bytes(self._counts))

    @property
    def values(self) -> npt.NDArray[np.int64]:
        """The size of the set that each vertex sends."""
        return self._counts
