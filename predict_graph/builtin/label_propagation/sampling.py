"""Sampling for label propagation, with a substitute for each neighbour outside the sample.

A label is the majority of the neighbours, and a vertex of a subgraph has lost most of its
neighbours. Every vertex of the sample therefore keeps all its edges: an edge to a vertex outside
the sample leads to a substitute of about the same degree and with the same label after the first
superstep. Those labels are known exactly before any run: all ids differ, so each vertex takes its
smallest neighbour (on weighted graphs, the heaviest). They separate early communities, and the
leaves of one hub from those of another, where labels alternate forever. Labels of labels, and so
on, indicate which communities are close.

Small vertices echo: a leaf, or a pair, returns the label that it received. A substitute cannot do
that, so small neighbours of small vertices are included in the sample with weight 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.label_propagation.local import vote
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.recipes import Recipe
from predict_graph.iterations.rooted.represented import RepresentedSampler
from predict_graph.iterations.rooted.sample import RootedSample

IntArray = npt.NDArray[np.integer]

_NEAR = 30  # edges of a small vertex: with 10, echoes were missing on p2p-Gnutella31 (measured)
_GENERATIONS = 4  # calibrated on meshes too: docs/studies/constants.md
# Calibrated on soc-Epinions1, email-Enron, musae_git, p2p-Gnutella31, uk-2007-05@100000 and
# rmat:scale=16, with eight values of tau each.
_LEVEL_STD = 0.45  # of log(share that changes in the sample / in the graph)


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples whose vertices have all their edges, and the labels after one superstep."""
    labels = _first_labels(graph)

    def inputs(sample: RootedSample) -> IntArray:
        return labels[sample.vertices]

    sampler = RepresentedSampler(graph, _by_family(graph, labels), _NEAR)
    return Recipe(sampler, graph.vertices, inputs, level_std=_LEVEL_STD)


def _by_family(graph: Graph, labels: IntArray) -> IntArray:
    """Sort the vertices by the chain of labels after the first superstep, then by degree.

    Labels initially move up a tree of smallest neighbours, so its branches represent early
    communities, including those without a vertex of their own in the sample.
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
