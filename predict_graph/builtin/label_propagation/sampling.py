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

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.label_propagation.local import vote
from predict_graph.graph import Graph
from predict_graph.iterations.rooted.recipes import Recipe
from predict_graph.iterations.rooted.represented import RepresentedSampler
from predict_graph.iterations.rooted.sample import RootedSample

__all__ = ["recipe"]

IntArray = npt.NDArray[np.integer]

_NEAR = 30  # edges of a small vertex: with 10, ways back were missing on p2p-Gnutella31 (measured)
_GENERATIONS = 4  # calibrated on meshes too: docs/studies/constants.md
# They were chosen on soc-Epinions1, email-Enron, musae_git, p2p-Gnutella31, uk-2007-05@100000 and
# rmat:scale=16, eight values of tau each; measured.
_LEVEL_STD = 0.45  # of log(share that changes in the sample / in the graph)


def recipe(algorithm: Any, graph: Graph) -> Recipe:
    """Return samples whose vertices have all their edges, and the labels after one superstep."""
    labels = _first_labels(graph)

    def inputs(sample: RootedSample) -> IntArray:
        return labels[sample.vertices]

    sampler = RepresentedSampler(graph, _by_family(graph, labels), _NEAR)
    return Recipe(sampler, graph.vertices, inputs, level_std=_LEVEL_STD)


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
