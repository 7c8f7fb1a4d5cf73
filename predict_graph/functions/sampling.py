"""Samples that stand for a graph: walks through it, and samples whose lost edges are put back.

A walk keeps triangles and communities and is denser or sparser than the graph; a completed sample
has the density and the degrees of the graph, and few triangles. Growth that holds on both holds on
the graph.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from predict_graph.functions.drivers import drivers_of, neighbour_work
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.build import from_edges
from predict_graph.iterations import draw_sample
from predict_graph.iterations.completion.completed import Completer
from predict_graph.iterations.completion.profiles import vertex_profiles

WALKS = ("mhrw", "rj")


@lru_cache(maxsize=2)
def load_compiled(directed: bool) -> None:
    """Draw small samples: loading compiled code is no part of what a prediction takes."""
    graph, rng = check_graph("cycle:n=60", directed=directed), np.random.default_rng(0)
    drivers_of(graph, rng)
    spread_order(graph, rng)
    completed_sample(graph, 20, rng)
    for sampler in WALKS:
        draw_sample(graph, sampler, 1 / 3, rng)


def spread_order(
    graph: Graph, rng: np.random.Generator, part: float = 1.0
) -> npt.NDArray[np.int64]:
    """Return the vertices in an order in which the first ones are always like the whole.

    Only a part of them is reordered; the others follow as they are, because iterations get slower
    where neighbours in memory are separated (by a third for closeness in igraph, by a tenth where
    nine in ten stay).

    Vertices are ranked by the degrees of their neighbours, and taken in the order of their ranks'
    reversed bits, from a random rank on: the first k of them are spread evenly over the ranks
    (van der Corput's sequence), so their mean cost varies less than that of k random vertices.
    """
    n = graph.vertices
    work = neighbour_work(graph) + rng.random(n)
    ranked = np.argsort(work, kind="stable")
    bits = max(int(n - 1).bit_length(), 1)
    shifted = (np.arange(n, dtype=np.int64) + int(rng.integers(n))) % n
    order = ranked[np.argsort(_reversed_bits(shifted, bits), kind="stable")].astype(np.int64)
    order[int(part * n) :].sort()
    return order


def connected_vertices(graph: Graph, connection: str) -> npt.NDArray[np.int64]:
    """Return the vertices of the largest connected part, by a connection as scipy names it."""
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(graph.to_scipy(), graph.directed, connection)
    return np.flatnonzero(labels == np.bincount(labels).argmax())


def _reversed_bits(values: npt.NDArray[np.int64], bits: int) -> npt.NDArray[np.int64]:
    reversed_ = np.zeros_like(values)
    for _ in range(bits):
        reversed_ = (reversed_ << 1) | (values & 1)
        values = values >> 1
    return reversed_


def completed_sample(graph: Graph, size: int, rng: np.random.Generator) -> Graph:
    """Return a sample whose vertices keep their degrees: cut edges are joined, like with like."""
    no_hubs = np.empty(0, np.int64)
    completer = Completer(graph, vertex_profiles(graph), no_hubs)
    drawn = next(completer.draw_all(max(size, 2), 1, rng))
    targets, sources = drawn.operator.nonzero()
    if not graph.directed:
        once = sources <= targets
        sources, targets = sources[once], targets[once]
    weights = None
    if graph.weights is not None:
        weights = rng.choice(graph.weights, len(sources)).astype(np.float64)
    return from_edges(
        sources,
        targets,
        vertices=len(drawn.vertices),
        weights=weights,
        directed=graph.directed,
        name=f"{graph.name}, completed",
    )
