"""Sampling for connected components: from the vertices whose labels spread."""

from __future__ import annotations

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.hops import component_trees
from predict_graph.iterations.rooted.recipes import Recipe, deepest, hubs
from predict_graph.iterations.rooted.sample import RootedSampler


def recipe(algorithm: Algorithm, graph: Graph) -> Recipe:
    """Return samples rooted in the smallest id of each component, where labels start."""
    tree = component_trees(graph)
    certain = np.concatenate((deepest(graph, tree), hubs(graph)))
    return Recipe(RootedSampler(graph, [tree], certain))
