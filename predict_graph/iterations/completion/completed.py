"""A completed sample: a small weighted operator that mixes as fast as the whole graph.

An edge from a sampled vertex *v* to a vertex *w* outside the sample leaves a cut end (stub) that
requires the profile of *w*. It is joined with a stub of a sampled vertex with this profile that
requires the profile of *v*. Unmatched stubs are matched at the next coarser level of the profile,
so that the joint distribution of profiles over edges is kept as closely as possible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from predict_graph.arrays import BoolArray, FloatArray, IndexArray, IntArray
from predict_graph.graph.csr import Graph, edges_of, inbound_rows
from predict_graph.iterations.completion.profiles import FIELD, LEVELS, profile_key
from samplers.csr import induced_csr

ProfileArray = npt.NDArray[np.int32]
StubProfiles = tuple[ProfileArray, ProfileArray]
Pairs = IntArray  # of shape (2, n)


class Stubs(NamedTuple):
    """Ends of cut edges: the place of each owner in the sample, and the vertex that it has lost."""

    owners: IndexArray
    lost: IndexArray

    def without(self, places: Any) -> Stubs:
        """Return the others, by places or a mask."""
        return Stubs(np.delete(self.owners, places), np.delete(self.lost, places))


class CutEdges(NamedTuple):
    """The stubs of a sample: of edges that run both ways, out of the sample, and into it."""

    mutual: Stubs
    outbound: Stubs
    inbound: Stubs


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
        hubs, vertices = len(self.hubs), np.concatenate((self.hubs, chosen))
        size = len(vertices)
        weights = np.ones(size)
        weights[hubs:] = len(self.others) / max(len(chosen), 1)
        (sources, targets), cut = self._collected(chosen, inbound)
        # A hub has all its neighbours, but the sample has only one in `weight` of them.
        thinned = np.where(targets < hubs, weights[sources], 1.0)
        rejoined = self._rejoined(self.profiles[vertices], cut, rng)
        sources, targets = np.concatenate(((sources, targets), rejoined), axis=1)
        degrees = self.graph.indptr[vertices + 1] - self.graph.indptr[vertices]
        values = 1.0 / np.maximum(degrees[sources], 1)
        values[: len(thinned)] *= thinned
        sent = np.bincount(sources, values * weights[targets], minlength=size) / weights
        dangling = sent == 0
        values /= np.where(dangling, 1.0, sent)[sources]  # so that rank is conserved
        operator = sparse.csr_array((values, (targets, sources)), shape=(size, size))
        return CompletedSample(operator, weights, dangling, self.graph, vertices)

    def _collected(
        self, others: IndexArray, inbound: sparse.csr_array
    ) -> tuple[tuple[IndexArray, IndexArray], CutEdges]:
        """Return the sources and targets of the edges of a sample, and its stubs.

        All hubs are in the sample, so only edges of other vertices are cut.
        """
        hubs, position = len(self.hubs), self._position
        places = np.arange(hubs, hubs + len(others))
        lengths, edges = edges_of(self.graph.indptr, others)
        out = Stubs(np.repeat(places, lengths), self.graph.indices[edges].astype(np.int64))
        rows, ends = inbound.tocoo().coords
        into = Stubs(places[rows], ends.astype(np.int64))
        position[others] = places
        target, source = position[out.lost], position[into.lost]  # -1 outside the sample
        position[others] = -1
        inside, from_hub = target >= 0, (source >= 0) & (source < hubs)
        # Between two other vertices the edge is seen from its source.
        sources = self._among_hubs[0], out.owners[inside], source[from_hub]
        targets = self._among_hubs[1], target[inside], into.owners[from_hub]
        out, into = out.without(inside), into.without(source >= 0)
        keys = [each.owners * self.graph.vertices + each.lost for each in (out, into)]
        _, back, forth = np.intersect1d(keys[0], keys[1], assume_unique=True, return_indices=True)
        mutual = Stubs(out.owners[back], out.lost[back])
        cut = CutEdges(mutual, out.without(back), into.without(forth))
        return (np.concatenate(sources), np.concatenate(targets)), cut

    def _rejoined(self, own: ProfileArray, cut: CutEdges, rng: np.random.Generator) -> Pairs:
        """Return the sources and targets of edges that join stubs.

        By the profiles of their owners, which are `own`, and of the vertices that they have lost.
        """
        mutual, outbound, inbound = ((own[a], self.profiles[lost]) for a, lost in cut)
        one, other = (cut.mutual.owners[each] for each in match_mutual(*mutual, rng))
        out, into = match_one_way(outbound, inbound, rng)
        sources = one, other, cut.outbound.owners[out]
        targets = other, one, cut.inbound.owners[into]
        return np.stack((np.concatenate(sources), np.concatenate(targets)))


_KEY_BITS = FIELD * 3


def match_mutual(owner: ProfileArray, wanted: ProfileArray, rng: np.random.Generator) -> Pairs:
    """Return pairs of stubs of edges that run in both directions; `rng` breaks ties.

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
    return np.concatenate(found, axis=1)


def match_one_way(outward: StubProfiles, inward: StubProfiles, rng: np.random.Generator) -> Pairs:
    """Return pairs of out-stubs and in-stubs of edges that run in one direction only, likewise.

    Examples
    --------
    The finest level goes first: a stub that has lost `b` is joined with one of `b`, not of `c`.

    >>> a, b, c = (4 << 14 | 4 << 7 | 60), (6 << 14 | 6 << 7 | 60), (6 << 14 | 6 << 7 | 61)
    >>> outward, inward = np.array([[a, a], [b, c]], np.int32), np.array([[c, b], [a, a]], np.int32)
    >>> for seed in range(3):
    ...     pairs = match_one_way(outward, inward, np.random.default_rng(seed))
    ...     print(sorted(zip(*(each.tolist() for each in pairs))))
    [(0, 1), (1, 0)]
    [(0, 1), (1, 0)]
    [(0, 1), (1, 0)]
    """
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
    return np.concatenate(found, axis=1)


def _equal(one: IntArray, other: IntArray) -> Pairs:
    """Return positions of equal keys in two lists; each position occurs in one pair at most."""
    one, other = (keys << _KEY_BITS | _ranks(keys) for keys in (one, other))
    return np.stack(np.intersect1d(one, other, assume_unique=True, return_indices=True)[1:])


def _ranks(keys: IntArray) -> IntArray:
    """Return how many equal keys are before each key."""
    order = np.argsort(keys, kind="stable")
    places = np.arange(len(keys))
    first = np.diff(keys[order], prepend=-1) != 0
    ranks = np.empty_like(places)
    ranks[order] = places - np.maximum.accumulate(np.where(first, places, 0))
    return ranks
