"""A completed sample: a small weighted operator that mixes as fast as the whole graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy import sparse

from predict_graph.algorithms import Algorithm
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.graph.inbound import inbound_rows
from predict_graph.iterations.completion.matching import match_mutual, match_one_way
from predict_graph.iterations.completion.stubs import (
    InboundRows,
    SampleEdges,
    collect_edges,
    hub_edges,
)

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CompletedSample:
    """The operator of a sample that represents a graph.

    Entry (w, v) is the rank that v sends to each of the ``weights[w]`` vertices that w represents,
    per unit; the weights sum to the vertices of the graph.
    """

    operator: sparse.csr_array
    weights: FloatArray
    dangling: npt.NDArray[np.bool_]
    graph: Graph
    vertices: IntArray

    @property
    def edges(self) -> int:
        """Number of entries of the operator."""
        return int(self.operator.nnz)


class Completer:
    """Draws stratified samples of one graph and completes them.

    A sample holds every hub, and a stratified sample of the other vertices, which represent
    ``(n - hubs) / sampled`` vertices each. Edges with both ends in the sample are kept. The stubs
    of all others are joined by matching profiles, so that every sampled vertex keeps its degree and
    the profiles of its neighbours, unlike in a subgraph, which becomes sparser or denser than the
    graph (docs/design-notes.md, fact 2).
    """

    def __init__(self, graph: Graph, profiles: npt.NDArray[np.int32], hubs: IntArray) -> None:
        self.graph = graph
        self.profiles = profiles
        self.hubs = hubs
        self._position = np.full(graph.vertices, -1, np.int32)
        self._position[hubs] = np.arange(len(hubs), dtype=np.int32)
        self.others = np.empty(graph.vertices - len(hubs), graph.indices.dtype)
        _sort_by_profile(profiles, self._position, self.others)
        self._among_hubs = hub_edges(graph, hubs)

    def draw(self, size: int, rng: np.random.Generator) -> CompletedSample:
        """Return a completed sample of the hubs and of `size` other vertices."""
        return next(self.draw_all(size, 1, rng))

    def draw_all(
        self, size: int, count: int, rng: np.random.Generator
    ) -> Iterator[CompletedSample]:
        """Yield completed samples of the hubs and of `size` other vertices each.

        The inbound edges of all of them are found in one pass over the graph.
        """
        several = [self._chosen(size, rng) for _ in range(count)]
        members = np.unique(np.concatenate(several))
        starts, sources = inbound_rows(self.graph, members)
        for chosen in several:
            at = np.searchsorted(members, chosen)
            rows = [sources[starts[i] : starts[i + 1]] for i in at.tolist()]
            own = np.concatenate(([0], np.cumsum(np.diff(starts)[at])))
            yield self._complete(chosen, (own, np.concatenate([sources[:0], *rows])), rng)

    def _chosen(self, size: int, rng: np.random.Generator) -> IntArray:
        """Return some other vertices, ascending: one of each stratum of profiles."""
        size = min(size, len(self.others))
        drawn = self.others[_one_in_each_stratum(len(self.others), size, rng)]
        return np.sort(drawn).astype(np.int64)

    def _complete(
        self, chosen: IntArray, inbound: InboundRows, rng: np.random.Generator
    ) -> CompletedSample:
        """Return the sample of the hubs and of these vertices, with joined stubs."""
        size = len(chosen)
        seen = collect_edges(
            self.graph, len(self.hubs), chosen, inbound, self._among_hubs, self._position
        )
        vertices = np.concatenate((self.hubs, chosen))
        weights = np.ones(len(vertices))
        if size:
            weights[len(self.hubs) :] = len(self.others) / size
        sources, targets, values = self._edges(seen, vertices, weights, rng)
        operator, dangling = _conserving(sources, targets, values, weights)
        return CompletedSample(operator, weights, dangling, self.graph, vertices)

    def _edges(
        self,
        seen: SampleEdges,
        vertices: IntArray,
        weights: FloatArray,
        rng: np.random.Generator,
    ) -> tuple[IntArray, IntArray, FloatArray]:
        kind, own = self.profiles, self.profiles[vertices]
        mutual = match_mutual(own[seen.mutual_owner], kind[seen.mutual_wanted], rng)
        one_way = match_one_way(
            own[seen.out_owner],
            kind[seen.out_wanted],
            own[seen.in_owner],
            kind[seen.in_wanted],
            rng,
        )
        first, second = seen.mutual_owner[mutual[0]], seen.mutual_owner[mutual[1]]
        outward, inward = seen.out_owner[one_way[0]], seen.in_owner[one_way[1]]
        degrees = self.graph.indptr[vertices + 1] - self.graph.indptr[vertices]
        sources = np.concatenate((seen.sources, first, second, outward))
        targets = np.concatenate((seen.targets, second, first, inward))
        values = 1.0 / np.maximum(degrees[sources], 1)
        # A hub has all its neighbours, but the sample has only one in `weight` of them.
        real = slice(0, len(seen.sources))
        to_hub = targets[real] < len(self.hubs)
        values[real] *= np.where(to_hub, weights[sources[real]], 1.0)
        return sources, targets, values


def _conserving(
    sources: IntArray, targets: IntArray, values: FloatArray, weights: FloatArray
) -> tuple[sparse.csr_array, npt.NDArray[np.bool_]]:
    """Scale the rank that each vertex sends so that it is conserved."""
    size = len(weights)
    sent = np.bincount(sources, values * weights[targets], minlength=size) / weights
    dangling = sent == 0
    values = values / np.where(dangling, 1.0, sent)[sources]
    operator = sparse.csr_array((values, (targets, sources)), shape=(size, size))
    return operator, dangling


def _one_in_each_stratum(total: int, size: int, rng: np.random.Generator) -> IntArray:
    """Divide 0 … total - 1 into `size` ranges of almost equal length, and draw one from each."""
    edges = np.arange(size + 1, dtype=np.int64) * total // max(size, 1)
    return rng.integers(edges[:-1], edges[1:])


@njit(cache=True, nogil=True)
def _sort_by_profile(
    profiles: npt.NDArray[np.int32],
    position: npt.NDArray[np.int32],
    order: npt.NDArray[np.integer],
) -> None:
    """Write the other vertices in the order of profiles, then ids."""
    most = 0
    for v in range(len(profiles)):
        most = max(most, profiles[v])
    place = np.zeros(most + 2, np.int64)
    for v in range(len(profiles)):
        if position[v] < 0:
            place[profiles[v] + 1] += 1
    for kind in range(most + 1):
        place[kind + 1] += place[kind]
    for v in range(len(profiles)):
        if position[v] < 0:
            order[place[profiles[v]]] = v
            place[profiles[v]] += 1


def completed_curve(algorithm: Algorithm, sample: CompletedSample, threshold: float) -> FloatArray:
    """Return the convergence curve of an algorithm on a completed sample."""
    curve_of = algorithm.part_of("completion")
    if curve_of is None:
        raise RequestError(f"{algorithm.name} has no form for completed samples")
    curve: FloatArray = curve_of(algorithm, sample, threshold)
    return curve
