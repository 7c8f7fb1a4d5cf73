"""How label propagation is sampled: with a vertex in place of each neighbour that is missing.

A label is what most neighbours say, and a vertex of a subgraph has lost most of its neighbours. So
every vertex of the sample keeps all its edges; one to a vertex that is not in the sample leads to
another that stands for it, of about the same degree and with the same label after the first
superstep. Those labels are exact, and known before anything runs: all ids differ, so each vertex
takes its smallest neighbour (where edges have weights, the heaviest). They tell early communities
apart, and the leaves of one hub from those of another, where labels go to and fro for ever.

Small vertices echo: a leaf, or a pair, sends back what it was told. Nothing can stand for the one
that does, so small neighbours of small vertices are in the sample themselves, with weight 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.label_propagation.local import vote
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.recipes import Recipe, hubs
from predict_graph.iterations.rooted.sample import (
    RootedSample,
    RootedSampler,
    edges_of,
    small_neighbours,
)

__all__ = ["RepresentedSampler", "recipe"]

IntArray = npt.NDArray[np.integer]

_NEAR = 30  # edges of a small vertex: with 10, ways back were missing on p2p-Gnutella31
# Both were chosen on soc-Epinions1, email-Enron, musae_git, p2p-Gnutella31, uk-2007-05@100000 and
# rmat:scale=16, eight values of tau each; docs/studies/features.md has the other graphs too.
_LEVEL_STD = 0.45  # of log(share that changes in the sample / in the graph)


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples whose vertices have all their edges, and the labels after one superstep."""
    labels = _first_labels(graph)
    kinds = np.where(graph.out_degrees > 0, labels, -1)

    def inputs(sample: RootedSample) -> IntArray:
        return labels[sample.vertices]

    sampler = RepresentedSampler(graph, kinds)
    return Recipe(sampler, graph.vertices, inputs, level_std=_LEVEL_STD)


class RepresentedSampler(RootedSampler):
    """Draws samples in which vertices stand for the neighbours that are missing.

    Parameters
    ----------
    graph : Graph
        Undirected.
    kinds : ndarray of int, shape (n,)
        Vertices of one kind, and of about one degree, stand for each other.
    near : int
        Neighbours of drawn vertices are in a sample where both have at most so many edges.
    """

    def __init__(self, graph: Graph, kinds: IntArray, near: int = _NEAR) -> None:
        super().__init__(graph, [], hubs(graph), near)
        others = self._others
        self._order = others[np.lexsort((self._degrees[others], kinds[others]))]

    def draw(self, size: int, rng: np.random.Generator) -> RootedSample:
        """Return a sample with `size` vertices drawn beside the hubs, each from a run of its like.

        Its graph has a row for each vertex with the edges of the whole graph; they lead to vertices
        in place of others, so that they do not come both ways.
        """
        n, size = self.graph.vertices, min(size, len(self._order))
        cuts = np.arange(size + 1) * len(self._order) // max(size, 1)
        lengths = np.diff(cuts)
        drawn = self._order[rng.integers(cuts[:-1], cuts[1:])]
        weights = np.zeros(n)
        weights[self.certain] = 1.0
        weights[drawn] = lengths
        members = weights > 0.0
        members[small_neighbours(self.graph, np.flatnonzero(members), self.near)] = True
        vertices = np.flatnonzero(members)
        standing = np.empty(n, np.int64)
        at = np.flatnonzero(members[self._order])
        halves = (at[:-1] + at[1:] + 1) // 2
        nearest = np.diff(np.concatenate(([0], halves, [len(self._order)])))
        standing[self._order] = np.repeat(self._order[at], nearest)
        standing[vertices] = vertices
        place = np.empty(n, self.graph.indices.dtype)
        place[vertices] = np.arange(len(vertices))
        degrees = self._degrees[vertices]
        _, places = edges_of(self.graph, vertices)
        found = self.graph.weights
        rows = Graph(
            np.concatenate(([0], np.cumsum(degrees))),
            place[standing[self.graph.indices[places]]],
            None if found is None else found[places],
            directed=False,
        )
        return RootedSample(vertices, rows, weights[vertices], degrees)


def _first_labels(graph: Graph) -> IntArray:
    """Return the labels after the first superstep: the smallest, or heaviest, neighbours."""
    labels = np.arange(graph.vertices, dtype=graph.indices.dtype)
    if graph.weights is not None:
        ids = labels.copy()
        vote(0, graph.vertices, graph.indptr, graph.indices, graph.weights, ids, labels)
        return labels
    joined = np.flatnonzero(graph.out_degrees)
    labels[joined] = graph.indices[graph.indptr[joined]]  # rows are in ascending order
    return labels
