"""How label propagation is sampled: with a vertex in place of each neighbour that is missing.

A label is what most neighbours say, and a vertex of a subgraph has lost most of its neighbours. So
every vertex of the sample keeps all its edges; one to a vertex that is not in the sample leads to
another that stands for it, of about the same degree and with the same label after the first
superstep. Those labels are exact, and known before anything runs: all ids differ, so each vertex
takes its smallest neighbour (where edges have weights, the heaviest). They tell early communities
apart, and the leaves of one hub from those of another, where labels go to and fro for ever. The
label of the label, and so on, tells which communities are near each other.

Small vertices echo: a leaf, or a pair, sends back what it was told. Nothing can stand for the one
that does, so small neighbours of small vertices are in the sample themselves, with weight 0.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.builtin.label_propagation.local import vote
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.recipes import Recipe, hubs
from predict_graph.iterations.rooted.sample import (
    RootedSample,
    RootedSampler,
    small_neighbours,
)

__all__ = ["RepresentedSampler", "recipe"]

IntArray = npt.NDArray[np.integer]

_NO_WEIGHTS = np.empty(0, np.float32)
_NEAR = 30  # edges of a small vertex: with 10, ways back were missing on p2p-Gnutella31 (measured)
_GENERATIONS = 4  # chosen on meshes too: docs/studies/features.md; docs/studies/constants.md
# They were chosen on soc-Epinions1, email-Enron, musae_git, p2p-Gnutella31, uk-2007-05@100000 and
# rmat:scale=16, eight values of tau each; docs/studies/features.md has the other graphs too.
_LEVEL_STD = 0.45  # of log(share that changes in the sample / in the graph)


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples whose vertices have all their edges, and the labels after one superstep."""
    labels = _first_labels(graph)

    def inputs(sample: RootedSample) -> IntArray:
        return labels[sample.vertices]

    sampler = RepresentedSampler(graph, _by_family(graph, labels))
    return Recipe(sampler, graph.vertices, inputs, level_std=_LEVEL_STD)


class RepresentedSampler(RootedSampler):
    """Draws samples in which vertices stand for the neighbours that are missing.

    Parameters
    ----------
    graph : Graph
        Undirected.
    order : ndarray of int, shape (n,)
        All vertices, like ones beside each other: they stand for their neighbours in it.
    near : int
        Neighbours of drawn vertices are in a sample where both have at most so many edges.
    """

    def __init__(self, graph: Graph, order: IntArray, near: int = _NEAR) -> None:
        super().__init__(graph, [], hubs(graph), near)
        is_other = np.ones(graph.vertices, bool)
        is_other[self.certain] = False
        self._order = order[is_other[order]]

    def draw(self, size: int, rng: np.random.Generator) -> RootedSample:
        """Return a sample with `size` vertices drawn beside the hubs, each from a run of its like.

        Its graph has a row for each vertex with the edges of the whole graph; they lead to vertices
        in place of others, so that they do not come both ways.
        """
        graph, order = self.graph, self._order
        size = min(max(size, 1), len(order))
        cuts = np.linspace(0, len(order), size + 1).astype(np.int64)
        drawn = order[rng.integers(cuts[:-1], cuts[1:])]
        members = np.zeros(graph.vertices, bool)
        members[self.certain] = True
        members[drawn] = True
        members[small_neighbours(graph, np.flatnonzero(members), self.near)] = True
        vertices = np.flatnonzero(members)
        weights = np.zeros(len(vertices))
        weights[np.searchsorted(vertices, self.certain)] = 1.0
        weights[np.searchsorted(vertices, drawn)] = np.diff(cuts)
        place = np.empty(graph.vertices, graph.indices.dtype)
        place[vertices] = np.arange(len(vertices))
        at = np.flatnonzero(members[order])
        if len(at):
            halves = (at[:-1] + at[1:] + 1) // 2
            nearest = np.diff(np.concatenate(([0], halves, [len(order)])))
            place[order] = np.repeat(place[order[at]], nearest)
        degrees = graph.indptr[vertices + 1] - graph.indptr[vertices]
        starts = np.concatenate(([0], np.cumsum(degrees)))
        found = _NO_WEIGHTS if graph.weights is None else graph.weights
        indices, values = _rows(vertices, starts, graph.indptr, graph.indices, found, place)
        kept = None if graph.weights is None else values
        # Each vertex has all its edges, but a neighbour that stands for others has its own.
        rows = Graph(starts, indices, kept, directed=True)
        return RootedSample(vertices, rows, weights, degrees)


@numba.njit(cache=True, nogil=True)
def _rows(
    vertices: Any, starts: Any, indptr: Any, indices: Any, weights: Any, place: Any
) -> tuple[IntArray, npt.NDArray[np.float32]]:
    """Return the rows of some vertices, with places instead of vertices, and their weights."""
    targets = np.empty(starts[-1], indices.dtype)
    values = np.empty(starts[-1] if len(weights) else 0, np.float32)
    for i in range(len(vertices)):
        first = indptr[vertices[i]]
        for e in range(starts[i + 1] - starts[i]):
            targets[starts[i] + e] = place[indices[first + e]]
            if len(weights):
                values[starts[i] + e] = weights[first + e]
    return targets, values


def _by_family(graph: Graph, labels: IntArray) -> IntArray:
    """Return the vertices by the label after the first superstep, these by theirs, and by degree.

    Labels go up a tree of smallest neighbours at first, so its branches stand for early
    communities, also for those too small for a vertex of their own in the sample.
    """
    keys: list[npt.NDArray[Any]] = [graph.out_degrees]
    ancestors = labels
    for _ in range(_GENERATIONS):
        keys.append(ancestors)
        ancestors = labels[ancestors]
    return np.lexsort((*keys, graph.out_degrees > 0))


def _first_labels(graph: Graph) -> IntArray:
    """Return the labels after the first superstep: the smallest, or heaviest, neighbours."""
    labels = np.arange(graph.vertices, dtype=graph.indices.dtype)
    if graph.weights is not None:
        ids = labels.copy()
        heard = np.zeros(graph.vertices, np.int32)
        vote(0, graph.vertices, graph.indptr, graph.indices, graph.weights, ids, labels, heard)
        return labels
    joined = np.flatnonzero(graph.out_degrees)
    labels[joined] = graph.indices[graph.indptr[joined]]  # rows are in ascending order
    return labels
