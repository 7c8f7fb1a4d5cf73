"""A completed sample: a small weighted operator that mixes as fast as the whole graph.

An edge from a sampled vertex *v* to a vertex *w* outside the sample leaves a cut end (stub) that
requires the profile of *w*. It is joined with a stub of a sampled vertex with this profile that
requires the profile of *v*. Unmatched stubs are matched at the next coarser level of the profile,
so that the joint distribution of profiles over edges is kept as closely as possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from predict_graph.arrays import BoolArray, FloatArray, IndexArray, IntArray
from predict_graph.graph.csr import Graph, edges_of, inbound_rows
from predict_graph.iterations.completion.profiles import FIELD, LEVELS, profile_key
from samplers.csr import induced_csr

Stubs = tuple[IndexArray, IndexArray]
"""The position of the owner of each cut edge end, and the vertex that it has lost."""


@dataclass(frozen=True)
class CompletedSample:
    """The operator of a sample that represents a graph.

    Entry (w, v) is the rank that v sends to each of the ``weights[w]`` vertices that w represents,
    per unit; the weights sum to the vertices of the graph.
    """

    operator: sparse.csr_array
    weights: FloatArray
    dangling: BoolArray
    graph: Graph
    vertices: IndexArray


class Completer:
    """Draws stratified samples of one graph and completes them.

    A sample holds every hub, and a stratified sample of the other vertices, which represent
    ``(n - hubs) / sampled`` vertices each. Edges with both ends in the sample are kept. The stubs
    of all others are joined by matching profiles, so that every sampled vertex keeps its degree and
    the profiles of its neighbours, unlike in a subgraph, which becomes sparser or denser than the
    graph (docs/design-notes.md, fact 2).
    """

    def __init__(self, graph: Graph, profiles: npt.NDArray[np.int32], hubs: IndexArray) -> None:
        self.graph = graph
        self.profiles = profiles
        self.hubs = hubs
        self._position = np.full(graph.vertices, -1, np.int32)
        self._position[hubs] = np.arange(len(hubs), dtype=np.int32)
        others = np.flatnonzero(self._position < 0)
        self.others = others[np.argsort(profiles[others], kind="stable")]
        indptr, among, _ = induced_csr(graph.indptr, graph.indices, hubs)
        self._among_hubs = np.repeat(np.arange(len(hubs)), np.diff(indptr)), among

    def draw_all(
        self, size: int, count: int, rng: np.random.Generator
    ) -> Iterator[CompletedSample]:
        """Yield completed samples of the hubs and of `size` other vertices each.

        The inbound edges of all of them are found in one pass over the graph.
        """
        several = [self._chosen(size, rng) for _ in range(count)]
        members = np.unique(np.concatenate(several))
        starts, sources = inbound_rows(self.graph, members)
        shape = len(members), self.graph.vertices
        inbound = sparse.csr_array((np.ones(len(sources), np.int8), sources, starts), shape=shape)
        for chosen in several:
            yield self._complete(chosen, inbound[np.searchsorted(members, chosen)], rng)

    def _chosen(self, size: int, rng: np.random.Generator) -> IndexArray:
        """Return some other vertices, ascending: one of each stratum of profiles."""
        size = min(size, len(self.others))
        edges = np.arange(size + 1, dtype=np.int64) * len(self.others) // max(size, 1)
        return np.sort(self.others[rng.integers(edges[:-1], edges[1:])]).astype(np.int64)

    def _complete(
        self, chosen: IndexArray, inbound: sparse.csr_array, rng: np.random.Generator
    ) -> CompletedSample:
        """Return the sample of the hubs and of these vertices, with joined stubs."""
        vertices = np.concatenate((self.hubs, chosen))
        weights = np.ones(len(vertices))
        weights[len(self.hubs) :] = len(self.others) / max(len(chosen), 1)
        sources, targets, stubs = self._collected(chosen, inbound)
        degrees = self.graph.indptr[vertices + 1] - self.graph.indptr[vertices]
        # A hub has all its neighbours, but the sample has only one in `weight` of them.
        thinned = np.where(targets < len(self.hubs), weights[sources], 1.0)
        # Stubs are joined by the profiles of their owners and of the vertices that they have lost.
        kind, own = self.profiles, self.profiles[vertices]
        (mine, theirs), (source, to), (target, of) = stubs
        one, other = match_mutual(own[mine], kind[theirs], rng)
        out, into = match_one_way((own[source], kind[to]), (own[target], kind[of]), rng)
        sources = np.concatenate((sources, mine[one], mine[other], source[out]))
        targets = np.concatenate((targets, mine[other], mine[one], target[into]))
        values = 1.0 / np.maximum(degrees[sources], 1)
        values[: len(thinned)] *= thinned
        size = len(weights)
        sent = np.bincount(sources, values * weights[targets], minlength=size) / weights
        dangling = sent == 0
        values /= np.where(dangling, 1.0, sent)[sources]  # so that rank is conserved
        operator = sparse.csr_array((values, (targets, sources)), shape=(size, size))
        return CompletedSample(operator, weights, dangling, self.graph, vertices)

    def _collected(
        self, others: IndexArray, inbound: sparse.csr_array
    ) -> tuple[IndexArray, IndexArray, list[Stubs]]:
        """Return the edges of a sample, and its stubs: of both directions, outbound, inbound.

        All hubs are in the sample, so only edges between two other vertices leave stubs.
        """
        hubs, position = len(self.hubs), self._position
        position[others] = np.arange(hubs, hubs + len(others), dtype=np.int32)
        lengths, places = edges_of(self.graph.indptr, others)
        owners = np.repeat(np.arange(hubs, hubs + len(others)), lengths)
        out = owners, self.graph.indices[places].astype(np.int64)
        rows, ends = (each.astype(np.int64) for each in inbound.tocoo().coords)
        into = hubs + rows, ends
        out_at, in_at = position[out[1]], position[into[1]]
        position[others] = -1
        one, other = (owner * self.graph.vertices + end for owner, end in (out, into))
        found = np.intersect1d(one, other, assume_unique=True, return_indices=True)
        inside, from_hub = out_at >= 0, (in_at >= 0) & (in_at < hubs)
        mutual = found[1][~inside[found[1]]]
        outward, inward = ~inside, in_at < 0
        outward[found[1]] = inward[found[2]] = False
        return (
            # Between two other vertices the edge is seen from its source.
            np.concatenate((self._among_hubs[0], out[0][inside], in_at[from_hub])),
            np.concatenate((self._among_hubs[1], out_at[inside], into[0][from_hub])),
            [
                (out[0][mutual], out[1][mutual]),
                (out[0][outward], out[1][outward]),
                (into[0][inward], into[1][inward]),
            ],
        )


ProfileArray = npt.NDArray[np.int32]
StubProfiles = tuple[ProfileArray, ProfileArray]
Pairs = tuple[IntArray, IntArray]

_KEY_BITS = FIELD * 3


def match_mutual(owner: ProfileArray, wanted: ProfileArray, rng: np.random.Generator) -> Pairs:
    """Pair stubs of edges that run in both directions; `rng` breaks ties.

    `owner` and `wanted` are the packed profiles of the vertex of each stub, and of its lost vertex.
    """
    left, found = rng.permutation(len(owner)).astype(np.int64), []
    for level in LEVELS:
        mine, theirs = profile_key(owner[left], level), profile_key(wanted[left], level)
        other = mine < theirs
        alike = np.flatnonzero(mine == theirs)
        other[alike] = _ranks(mine[alike]) % 2 == 1  # these are joined with each other
        keys = np.minimum(mine, theirs) << _KEY_BITS | np.maximum(mine, theirs)
        sides = np.flatnonzero(~other), np.flatnonzero(other)
        at = _equal(keys[sides[0]], keys[sides[1]])
        places = sides[0][at[0]], sides[1][at[1]]
        found.append((left[places[0]], left[places[1]]))
        left = np.delete(left, np.concatenate(places))
    return _joined(found)


def match_one_way(outward: StubProfiles, inward: StubProfiles, rng: np.random.Generator) -> Pairs:
    """Pair out-stubs with in-stubs of edges that run in one direction only, likewise."""
    (out_owner, out_wanted), (in_owner, in_wanted) = outward, inward
    out, into = (rng.permutation(len(each)).astype(np.int64) for each in (out_owner, in_owner))
    found = []
    for level in LEVELS:
        at = _equal(
            profile_key(out_owner[out], level) << _KEY_BITS | profile_key(out_wanted[out], level),
            profile_key(in_wanted[into], level) << _KEY_BITS | profile_key(in_owner[into], level),
        )
        found.append((out[at[0]], into[at[1]]))
        out, into = np.delete(out, at[0]), np.delete(into, at[1])
    return _joined(found)


def _equal(one: IntArray, other: IntArray) -> Pairs:
    """Return positions of equal keys in two lists; each position occurs in one pair at most."""
    one, other = (keys << _KEY_BITS | _ranks(keys) for keys in (one, other))
    _, first, second = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return first, second


def _ranks(keys: IntArray) -> IntArray:
    """Return how many equal keys are before each key."""
    order = np.argsort(keys, kind="stable")
    places = np.arange(len(keys))
    first = np.diff(keys[order], prepend=-1) != 0
    ranks = np.empty_like(places)
    ranks[order] = places - np.maximum.accumulate(np.where(first, places, 0))
    return ranks


def _joined(found: list[Pairs]) -> Pairs:
    first, second = zip(*found, strict=True)
    return np.concatenate(first), np.concatenate(second)
