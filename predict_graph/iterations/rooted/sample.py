"""Rooted samples: uniform vertices, and the shortest paths that join them to roots.

The subgraph of a tenth of the vertices says nothing about how far things are: paths break. A rooted
sample adds the vertices on a shortest path from a root, a hub in the middle of the graph, to each
vertex drawn, so that every one of them is as far from the middle as in the whole graph, at the end
of a long chain too. What is added is there for the way only: it has weight 0, and what happens is
seen on the vertices drawn, each of which stands for the vertices it was drawn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph
from predict_graph.iterations.rooted.hops import HopTree, add_paths

__all__ = ["RootedSample", "RootedSampler", "degrees_of", "edges_of", "small_neighbours"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.integer]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RootedSample:
    """A sample whose distances to the roots are those of the graph.

    Parameters
    ----------
    vertices : ndarray of int, shape (k,)
        In ascending order; vertex *i* of `graph` is ``vertices[i]``.
    graph : Graph
        The subgraph that they induce.
    weights : ndarray of float64, shape (k,)
        How many vertices of the whole graph each stands for; 0 for one that is on a path only.
        They sum to the vertices of the whole graph.
    degrees : ndarray of int64, shape (k,)
        Out-degrees in the whole graph.
    """

    vertices: IntArray
    graph: Graph
    weights: FloatArray
    degrees: npt.NDArray[np.int64]


class RootedSampler:
    """Draws rooted samples of one graph.

    Parameters
    ----------
    graph : Graph
    trees : sequence of HopTree
        Shortest paths from, or to, the roots.
    certain : ndarray of int
        Vertices that are in every sample and stand for themselves alone: those at the ends of the
        longest paths, and hubs.
    near : int
        Neighbours of drawn vertices are taken in, with weight 0, where both ends of the edge have
        at most so many edges: for algorithms whose first iterations depend on what is around small
        vertices.
    """

    def __init__(
        self,
        graph: Graph,
        trees: Sequence[HopTree],
        certain: IntArray,
        near: int = 0,
    ) -> None:
        self.graph = graph
        self.trees = list(trees)
        self.certain = np.unique(certain)
        self.near = near
        self._others = graph.vertices - len(self.certain)
        # Vertices before each certain one that are not certain.
        self._before = self.certain - np.arange(len(self.certain))

    def draw(self, size: int, rng: np.random.Generator) -> RootedSample:
        """Return a sample with `size` vertices drawn beside the certain ones."""
        size = min(size, self._others)
        drawn = rng.choice(self._others, size, replace=False, shuffle=False)
        drawn += np.searchsorted(self._before, drawn, side="right")
        members: BoolArray = np.zeros(self.graph.vertices, bool)
        members[self.certain] = True
        members[drawn] = True
        if self.near:
            members[small_neighbours(self.graph, np.flatnonzero(members), self.near)] = True
        for tree in self.trees:
            add_paths(members, tree)
        vertices = np.flatnonzero(members)
        weights = np.zeros(len(vertices))
        weights[np.searchsorted(vertices, self.certain)] = 1.0
        if size:
            weights[np.searchsorted(vertices, drawn)] = self._others / size
        return RootedSample(
            vertices, self.graph.subgraph(vertices), weights, degrees_of(self.graph, vertices)
        )


def small_neighbours(graph: Graph, vertices: IntArray, most: int) -> IntArray:
    """Return the neighbours of small vertices that are small too: at most `most` edges."""
    _, places = edges_of(graph, vertices[degrees_of(graph, vertices) <= most])
    neighbours = graph.indices[places]
    found: IntArray = neighbours[degrees_of(graph, neighbours) <= most]
    return found


def degrees_of(graph: Graph, vertices: IntArray) -> npt.NDArray[np.int64]:
    """Return the out-degrees of some vertices."""
    degrees: npt.NDArray[np.int64] = graph.indptr[vertices + 1] - graph.indptr[vertices]
    return degrees


def edges_of(graph: Graph, vertices: IntArray) -> tuple[IntArray, IntArray]:
    """Return the out-edges of some vertices, one after the other.

    Returns
    -------
    owners : ndarray of int64
        Position in `vertices` of the one that each edge is of.
    places : ndarray of int64
        Where the edge is in ``graph.indices``.
    """
    lengths = degrees_of(graph, vertices)
    starts = np.cumsum(lengths) - lengths
    owners = np.repeat(np.arange(len(vertices)), lengths)
    return owners, (graph.indptr[vertices] - starts)[owners] + np.arange(len(owners))
