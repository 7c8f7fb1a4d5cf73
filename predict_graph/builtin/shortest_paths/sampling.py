"""Sampling for shortest paths: from its landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph
from predict_graph.iterations.rooted.hops import HopTree, hop_tree
from predict_graph.iterations.rooted.recipes import Recipe, deepest, hubs, middle_trees
from predict_graph.iterations.rooted.sample import RootedSampler

_MOST_ROOTS = 5  # limits overhead, like the ranks of top-k ranking (docs/studies/constants.md)


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples rooted in the landmarks, with the vertices that are farthest from each.

    The iterations are then exact, for as many landmarks as have a tree. With more landmarks, the
    first ones and the middle of the graph have trees.
    """
    landmarks = algorithm.landmarks_in(graph.out_degrees)
    trees = [hop_tree(graph, int(root)) for root in np.unique(landmarks[:_MOST_ROOTS])]
    tails = [part for tree in trees for part in (deepest(graph, tree), _longest_way(tree))]
    if len(landmarks) > _MOST_ROOTS:
        trees += middle_trees(graph)
    certain = np.concatenate((*tails, hubs(graph), landmarks))
    return Recipe(RootedSampler(graph, trees, certain))


def _longest_way(tree: HopTree) -> npt.NDArray[np.int64]:
    """Return the vertices on the path to one that is farthest away.

    Each of them gets a shorter path in a superstep of its own: without them, a superstep in which
    only vertices of weight 0 change would look like the end.
    """
    way = [int(tree.distance.argmax())]
    while tree.parent[way[-1]] >= 0:
        way.append(int(tree.parent[way[-1]]))
    return np.array(way, np.int64)
