"""Semi-clustering on one graph, and on a block of one (PREDIcT, section 4.2).

Each vertex pulls the messages of its neighbours.

A semi-cluster holds its members, the weights of its inner and boundary edges, its score and a key
(the sum of a hash of its members). Adding a vertex takes one look-up of each member among its
neighbours, and equal keys identify equal semi-clusters. Look-ups are skipped for a vertex that
could not reach a sufficient score even if all members were its neighbours; this holds for most
hubs, whose boundary is large.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.arrays import Array, FloatArray, IndexArray
from predict_graph.builtin.semi_clustering.definition import SemiClustering
from predict_graph.engines.local import kernel
from predict_graph.engines.spark.blocks.program import BlockProgram
from predict_graph.graph.csr import Graph, edge_weights
from samplers.csr import frozen
from samplers.splitmix import splitmix64

# By definition: the id of the receiver; inner weight, boundary weight, score; the id of a member.
_HEADER_BYTES, _CLUSTER_BYTES, _MEMBER_BYTES = 8, 24, 8
# Work relative to looking at one received semi-cluster, measured: more for its first occurrence,
# and for its score with the vertex added; for sorting and writing what a vertex stores and sends.
_FIRST_WORK, _SCORED_WORK, _VERTEX_WORK = 15.0, 43.0, 27.0
_SEEN = 256  # semi-clusters that a vertex remembers: bounds memory; others are read again


class Clusters(NamedTuple):
    """The semi-clusters of each vertex: arrays of shape (n, places) and one of members.

    An entry of size 0 is empty.
    """

    members: IndexArray  # (n, places, v_max)
    sizes: npt.NDArray[np.int32]
    inner: FloatArray
    boundary: FloatArray
    scores: FloatArray
    keys: npt.NDArray[np.uint64]


class SemiClusteringKernel(kernel.SharedRows):
    """Semi-clustering on one undirected graph."""

    values_are_vertices = True

    def __init__(
        self, algorithm: SemiClustering, graph: Graph, team: kernel.Team | None = None
    ) -> None:
        super().__init__(graph, team)
        weights = frozen(np.empty(0, np.float32) if graph.weights is None else graph.weights)
        self._graph = (graph.indptr, graph.indices, weights)
        ids = np.arange(graph.vertices, dtype=graph.indices.dtype)
        self._degrees = edge_weights(graph, ids)
        limits, self._sent, self._lists = begun(algorithm, ids, weights, self._degrees)
        self._next = deepcopy(self._sent)
        self._fixed = (self._graph, self._graph[1], ids, limits)

    @staticmethod
    def footprint(algorithm: SemiClustering, id_bytes: int) -> kernel.Footprint:
        """Return its memory: entries for semi-clusters, and the counts of a superstep."""
        parameters: Any = algorithm.parameters
        places = 2 * int(parameters["s_max"]) + int(parameters["c_max"])
        a_place = int(parameters["v_max"]) * id_bytes + 4 + 4 * 8
        # Degrees and a mark; three counts of 32 bits, four of 64; four of the previous superstep.
        return kernel.Footprint(places * a_place + 8 + 4 + 3 * 4 + 4 * 8 + 4 * 8, reverse=False)

    @property
    def values(self) -> Array:
        """The members of the best semi-cluster of each vertex, -1 for none, shape (n, v_max)."""
        return self._lists.members[:, 0]

    def summary(self) -> dict[str, Any]:
        """Return the score and the size of the best semi-cluster, and the mean score of lists."""
        return summary_of(sums_of(self._lists, self._fixed[2]))

    def step(self) -> kernel.Superstep:
        """Run one superstep; its aggregate is the share of list entries that changed."""
        counts = updated, first, scored = tuple(np.zeros((3, len(self._degrees)), np.int32))
        state = (self._degrees, self._sent, self._next, self._lists)
        self._share(superstep, self._fixed, state, counts)
        sizes = self._sent.sizes
        clusters = np.count_nonzero(sizes, axis=1)
        message_bytes = _HEADER_BYTES + (
            _CLUSTER_BYTES * clusters + _MEMBER_BYTES * sizes.sum(axis=1)
        )
        self._sent, self._next = self._next, self._sent
        held = np.count_nonzero(self._lists.sizes, axis=1)
        changed = int(updated.sum()) / max(int(held.sum()), 1)
        looked = float(clusters @ np.diff(self._graph[0])) + _FIRST_WORK * float(first.sum())
        per_message = looked / max(len(self._graph[1]), 1)
        work = kernel.Work(vertices=_VERTEX_WORK + _SCORED_WORK * scored, messages=per_message)
        return kernel.Superstep(changed, message_bytes, changes=updated, places=held, work=work)

    def stand_for(self, sample: kernel.WeightedSample) -> None:
        """Count the edges of the whole graph as boundary, so that scores equal those of the graph.

        Inner edges of a semi-cluster are those of the whole graph already, because the subgraph is
        induced.
        """
        self._degrees = sample.edge_weights.copy()
        for clusters in (self._sent, self._next, self._lists):
            clusters.boundary[:, 0] = self._degrees


def begun(
    algorithm: SemiClustering, ids: Array, weights: Array, degrees: FloatArray
) -> tuple[tuple[int, float, float], Clusters, Clusters]:
    """Return limits of semi-clusters, and those that vertices first send and list: themselves."""
    parameters: Any = algorithm.parameters
    v_max, largest = parameters["v_max"], float(weights.max()) if len(weights) else 1.0
    sent, lists = (singletons(parameters[name], ids, v_max, degrees) for name in ("s_max", "c_max"))
    return (v_max, parameters["boundary_factor"], largest), sent, lists


def sums_of(lists: Clusters, ids: Array, updated: int = 0) -> dict[str, Any]:
    """Sum the changed list entries, all entries, and their scores; find the best."""
    scores, held = lists.scores, lists.sizes > 0
    best = (-np.inf, 0, 0)
    if len(scores):
        v = int(scores[:, 0].argmax())  # lists are sorted
        best = (float(scores[v, 0]), -int(ids[v]), int(lists.sizes[v, 0]))
    return {
        "updated": float(updated),
        "held": float(np.count_nonzero(held)),
        "total_score": float(scores[held].sum()),
        "best": best,
    }


def summary_of(sums: Mapping[str, Any]) -> dict[str, Any]:
    """Return the score and the size of the best semi-cluster, and the mean score of lists."""
    score, _, size = sums["best"]
    mean = sums["total_score"] / sums["held"]
    return {"best_score": score, "best_size": size, "mean_score": mean}


def singletons(places: int, vertices: Array, v_max: int, degrees: Array) -> Clusters:
    """Return one semi-cluster of each vertex: itself."""
    shape = len(vertices), places
    members, sizes = np.full((*shape, v_max), -1, vertices.dtype), np.zeros(shape, np.int32)
    inner, boundary, scores = np.zeros((3, *shape))
    keys = np.zeros(shape, np.uint64)
    members[:, 0, 0], sizes[:, 0], boundary[:, 0] = vertices, 1, degrees
    keys[:, 0] = hashes(vertices.astype(np.int64))
    return Clusters(members, sizes, inner, boundary, scores, keys)


@numba.vectorize(cache=True)
def hashes(vertex: Any) -> Any:
    """Return the hash of a vertex."""
    return splitmix64(vertex)


@numba.njit(cache=True, nogil=True)
def _weight_between(first: Any, stop: Any, indices: Any, weights: Any, w: Any) -> float:
    """Return the weight of the edge to `w` in an ascending row, 0 if there is none."""
    place = first + np.searchsorted(indices[first:stop], w)
    if place == stop or indices[place] != w:
        return 0.0
    return weights[place] if len(weights) else 1.0


class _Ranking(NamedTuple):
    """The best semi-clusters so far, best first: key; score, inner, boundary; and members."""

    keys: Any
    values: Any
    members: Any


@numba.njit(cache=True, nogil=True)
def _insert(ranking: Any, count: int, key: Any, values: Any, members: Any, added: Any) -> int:
    """Insert a semi-cluster into a ranking of `count` unless present; return the new count.

    Its members are given, and a vertex that is added to them, or -1.
    """
    places = len(ranking.keys)
    at = count
    while at > 0 and (-values[0], key) < (-ranking.values[at - 1, 0], ranking.keys[at - 1]):
        at -= 1
    if at == places:
        return count
    for i in range(count):
        if ranking.keys[i] == key:
            return count
    for i in range(min(count, places - 1), at, -1):
        ranking.keys[i] = ranking.keys[i - 1]
        ranking.values[i] = ranking.values[i - 1]
        ranking.members[i] = ranking.members[i - 1]
    ranking.keys[at] = key
    for j in range(3):
        ranking.values[at, j] = values[j]
    for j in range(len(members)):
        member = members[j]
        if member < 0:
            member, added = added, -1
        ranking.members[at, j] = member
    return min(count + 1, places)


@numba.njit(cache=True, nogil=True)
def _ranking(places: int, v_max: int) -> Any:
    members = np.empty((places, v_max), np.int64)
    return _Ranking(np.empty(places, np.uint64), np.empty((places, 3)), members)


@numba.njit(cache=True, nogil=True)
def _write(into: Any, v: Any, ranking: Any, count: int) -> None:
    """Write a ranking into the entries of `v`."""
    for place in range(into.sizes.shape[1]):
        into.sizes[v, place] = 0
        if place < count:
            for i in range(into.members.shape[2]):
                into.members[v, place, i] = ranking.members[place, i]
                into.sizes[v, place] += ranking.members[place, i] >= 0
            values = ranking.values[place]
            into.scores[v, place], into.inner[v, place], into.boundary[v, place] = values
            into.keys[v, place] = ranking.keys[place]


@numba.njit(cache=True, nogil=True)
def superstep(first: int, last: int, fixed: Any, state: Any, counts: Any) -> None:
    """Run the vertices of some rows: PREDIcT, section 4.2, steps i to iii.

    Vertex v is ``ids[v]``; `senders` has the place in `sent` of each neighbour in the graph.
    """
    (indptr, indices, weights), senders, ids, (v_max, factor, largest) = fixed
    degrees, sent, following, lists = state
    updated, received, scored = counts
    s_max, c_max = following.sizes.shape[1], lists.sizes.shape[1]
    to_send, to_keep = _ranking(s_max, v_max), _ranking(c_max, v_max)
    alone = np.int64(-1)  # no vertex is added
    # Neighbours often send the same semi-cluster: those read lately are skipped.
    seen_keys, seen_by = np.zeros(_SEEN, np.uint64), np.full(_SEEN, -1, np.int64)
    for v in range(first, last):
        vertex = np.int64(ids[v])
        row, stop = indptr[v], indptr[v + 1]
        sending, keeping = 0, 0
        for place in range(c_max):
            if lists.sizes[v, place] > 0:
                inner, boundary = lists.inner[v, place], lists.boundary[v, place]
                values = (lists.scores[v, place], inner, boundary)
                key, members = lists.keys[v, place], lists.members[v, place]
                keeping = _insert(to_keep, keeping, key, values, members, alone)
        own_hash = splitmix64(vertex)
        read, grown = 0, 0
        for e in range(row, stop):
            u = senders[e]
            if u == v:
                continue
            for slot in range(sent.sizes.shape[1]):
                size = sent.sizes[u, slot]
                if size == 0:
                    break
                score, key = sent.scores[u, slot], sent.keys[u, slot]
                spot = key & np.uint64(_SEEN - 1)
                if seen_keys[spot] == key and seen_by[spot] == v:
                    continue
                seen_keys[spot], seen_by[spot] = key, v
                read += 1
                inner, boundary = sent.inner[u, slot], sent.boundary[u, slot]
                values, members = (score, inner, boundary), sent.members[u, slot]
                sending = _insert(to_send, sending, key, values, members, alone)
                belongs = False
                for i in range(size):
                    belongs |= members[i] == vertex
                if belongs:
                    keeping = _insert(to_keep, keeping, key, values, members, alone)
                    continue
                if size >= v_max:
                    continue
                pairs = 0.5 * size * (size + 1)
                most = min(largest * size, degrees[v])
                bound = (inner + most - factor * (boundary + degrees[v] - 2 * most)) / pairs
                if (
                    sending == s_max
                    and bound < to_send.values[s_max - 1, 0]
                    and keeping == c_max
                    and bound < to_keep.values[c_max - 1, 0]
                ):
                    continue
                grown += 1
                between = 0.0
                for i in range(size):
                    between += _weight_between(row, stop, indices, weights, members[i])
                new_inner = inner + between
                new_boundary = boundary + degrees[v] - 2.0 * between
                new_score = (new_inner - factor * new_boundary) / pairs
                new_key = key + own_hash
                values = (new_score, new_inner, new_boundary)
                sending = _insert(to_send, sending, new_key, values, members, vertex)
                keeping = _insert(to_keep, keeping, new_key, values, members, vertex)
        if sending > 0:
            _write(following, v, to_send, sending)
        received[v], scored[v] = read, grown
        fresh = 0
        for place in range(keeping):
            known = False
            for i in range(c_max):
                known |= lists.sizes[v, i] > 0 and lists.keys[v, i] == to_keep.keys[place]
            fresh += not known
        updated[v] = fresh
        if fresh > 0:
            _write(lists, v, to_keep, keeping)


class SemiClusteringProgram(BlockProgram):
    """Every vertex sends its best semi-clusters, and adds itself to received ones."""

    algorithm: SemiClustering
    kept = ("state", "lists", "updated")

    def first(self, prior: Array | None) -> None:
        """Let every vertex hold the semi-cluster of itself."""
        block, (indptr, sources) = self.block, self.rows
        weights = block.weights if len(block.weights) else np.ones(len(sources), np.float32)
        owners = np.repeat(np.arange(block.count), np.diff(indptr))
        others = sources != owners  # columns begin with the own vertices
        # Integers where there are no edges, for which another superstep would be compiled.
        self._degrees = np.bincount(owners[others], weights[others], block.count).astype(float)
        self._graph = (indptr, block.ids[sources], block.weights)
        given = self.algorithm, block.rows, weights, self._degrees
        self._limits, self.state, self.lists = begun(*given)
        self.updated = 0

    def receive(self, offers: Clusters, senders: Array, sums: Mapping[str, Any]) -> None:
        """Extend the received semi-clusters."""
        n = self.block.count
        counts = updated, *_ = tuple(np.zeros((3, n), np.int32))
        fixed = (self._graph, self.rows[1], self.block.rows, self._limits)
        superstep(0, n, fixed, (self._degrees, offers, self.state, self.lists), counts)
        self.updated = int(updated.sum())

    def sums(self) -> dict[str, Any]:
        """Sum the changed list entries, all entries, and their scores; find the best."""
        return sums_of(self.lists, self.block.rows, self.updated)

    @classmethod
    def convergence(cls, sums: Mapping[str, Any], vertices: int) -> float:
        """Return the share of list entries that changed."""
        return float(sums["updated"] / max(sums["held"], 1.0))

    @staticmethod
    def width(algorithm: SemiClustering) -> int:
        """Return the most members of a semi-cluster."""
        return int(str(algorithm.parameters["v_max"]))

    def values(self) -> Array:
        """Return the members of the best semi-cluster of each vertex, -1 for none."""
        return self.lists.members[:, 0]

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the score and the size of the best semi-cluster, and the mean score of lists."""
        return summary_of(sums[-1])
