"""Sampling for neighborhood estimation, with the hashes that determine its counters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.neighborhood.local import hashed
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.recipes import Recipe, deepest, hubs, largest, middle_trees
from predict_graph.iterations.rooted.sample import RootedSampler

IntArray = npt.NDArray[np.integer]

_HOLDERS = 4  # vertices with large hashes per register: trades off as in docs/studies/constants.md
_AT_ONCE = 1 << 16  # vertices whose counters are held at once: limits memory


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples that include the vertices with the largest hashes.

    A counter changes for the last time when the largest hash that can reach it arrives.
    """
    trees = middle_trees(graph)
    certain = np.concatenate(
        (deepest(graph, trees[0]), hubs(graph), _largest_hashes(algorithm, graph))
    )
    return Recipe(RootedSampler(graph, trees, certain))


def _largest_hashes(algorithm: Any, graph: Graph) -> IntArray:
    """Return the vertices with the largest hashes in each register of a counter."""
    tops = np.empty(graph.vertices, np.uint8)
    for first in range(0, graph.vertices, _AT_ONCE):
        some = np.arange(first, min(first + _AT_ONCE, graph.vertices))
        tops[some] = hashed(some, algorithm.registers).max(axis=1)
    return largest(tops.astype(np.int16), _HOLDERS * algorithm.registers)
