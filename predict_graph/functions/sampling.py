"""Samples that stand for a graph: walks through it, and samples whose lost edges are put back.

A walk keeps triangles and communities and is denser or sparser than the graph; a completed sample
has the density and the degrees of the graph, and few triangles. Growth that holds on both holds on
the graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.functions.drivers import neighbour_work
from predict_graph.graph import Graph
from predict_graph.graph.build import from_edges
from predict_graph.iterations import draw_sample

__all__ = ["SAMPLERS", "connected_part", "connected_vertices", "draw", "spread_order"]

SAMPLERS = ("completed", "mhrw", "rj")


def draw(graph: Graph, sampler: str, size: int, rng: np.random.Generator) -> Graph:
    """Return a sample of a graph.

    Parameters
    ----------
    graph : Graph
    sampler : str
        ``completed``, or a registered walk such as ``mhrw``.
    size : int
        Vertices.
    rng : Generator
    """
    if sampler == "completed":
        return _completed(graph, size, rng)
    return draw_sample(graph, sampler, min(size / graph.vertices, 1.0), rng).graph


def spread_order(
    graph: Graph, rng: np.random.Generator, part: float = 1.0
) -> npt.NDArray[np.int64]:
    """Return the vertices in an order whose every beginning is like the whole.

    Of a part of the vertices, that is; the others follow as they are, because rounds get dearer
    where all that lies side by side in memory is torn apart (by a third for closeness in igraph, by
    a tenth where nine in ten stay).

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


def connected_part(graph: Graph) -> Graph:
    """Return the largest connected part of a graph; strongly, if edges have a direction."""
    return graph.subgraph(connected_vertices(graph))


def connected_vertices(graph: Graph) -> npt.NDArray[np.int64]:
    """Return the vertices of :func:`connected_part`."""
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(graph.to_scipy(), directed=graph.directed, connection="strong")
    return np.flatnonzero(labels == np.bincount(labels).argmax())


def _reversed_bits(values: npt.NDArray[np.int64], bits: int) -> npt.NDArray[np.int64]:
    reversed_ = np.zeros_like(values)
    for _ in range(bits):
        reversed_ = (reversed_ << 1) | (values & 1)
        values = values >> 1
    return reversed_


def _completed(graph: Graph, size: int, rng: np.random.Generator) -> Graph:
    """Return a sample whose vertices keep their degrees: what they lost is joined, like with like.

    Vertices are spread evenly over the ranks of their neighbours' degrees. Edges inside the sample
    stay. Every other edge of a sampled vertex leaves an open end that looks for a vertex of some
    degree; open ends whose own and wanted degrees are swapped are joined.
    """
    size = int(min(max(size, 2), graph.vertices))
    chosen = np.sort(spread_order(graph, rng)[:size])
    inside = np.full(graph.vertices, -1, np.int64)
    inside[chosen] = np.arange(size)
    degrees = graph.out_degrees + (graph.in_degrees if graph.directed else 0)
    level = np.log2(degrees + 1.0)
    rows = np.repeat(np.arange(size), graph.out_degrees[chosen])
    ends = np.concatenate([graph.neighbors(int(v)) for v in chosen]).astype(np.int64)
    kept = inside[ends] >= 0
    sources, targets = [rows[kept]], [inside[ends[kept]]]
    owner, wanted = rows[~kept], ends[~kept]
    if graph.directed:
        reverse = graph.reverse
        back = np.repeat(np.arange(size), reverse.out_degrees[chosen])
        heads = np.concatenate([reverse.neighbors(int(v)) for v in chosen]).astype(np.int64)
        lost = inside[heads] < 0
        joined = _joined_ways(
            level[chosen[owner]], level[wanted], level[chosen[back[lost]]], level[heads[lost]], rng
        )
        sources.append(owner[joined[0]])
        targets.append(back[lost][joined[1]])
    else:
        first, second = _joined_pairs(level[chosen[owner]], level[wanted], rng)
        sources.append(owner[first])
        targets.append(owner[second])
    made_sources, made_targets = np.concatenate(sources), np.concatenate(targets)
    proper = np.ones(len(made_sources), bool)
    new = slice(len(sources[0]), None)
    proper[new] = made_sources[new] != made_targets[new]
    weights = None
    if graph.weights is not None:
        weights = rng.choice(graph.weights, len(made_sources)).astype(np.float64)[proper]
    return from_edges(
        made_sources[proper],
        made_targets[proper],
        vertices=size,
        weights=weights,
        directed=graph.directed,
        name=f"{graph.name}, completed",
    )


def _joined_pairs(own: Any, wanted: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """Pair open ends: one that is like what the other wants, and the other way round."""
    low, high = np.minimum(own, wanted), np.maximum(own, wanted)
    noise = rng.random(len(own)) * 0.5
    order = np.lexsort((high + rng.random(len(own)) * 0.5, np.floor((low + noise) * 2.0)))
    side = (own > wanted).astype(np.int8)
    side[own == wanted] = rng.integers(0, 2, int(np.count_nonzero(own == wanted)))
    first, second = _pair_up(order, side)
    return first, second


def _joined_ways(
    out_own: Any, out_wanted: Any, in_own: Any, in_wanted: Any, rng: np.random.Generator
) -> tuple[Any, Any]:
    """Pair open ends that go out with open ends that come in."""
    keys = []
    for near, far in ((out_own, out_wanted), (in_wanted, in_own)):
        noise = rng.random((2, len(near))) * 0.5
        keys.append(np.lexsort((far + noise[0], np.floor((near + noise[1]) * 2.0))))
    count = min(len(keys[0]), len(keys[1]))
    if not count:
        nothing = np.empty(0, np.int64)
        return nothing, nothing
    out_places = np.linspace(0, len(keys[0]) - 1, count).astype(np.int64)
    in_places = np.linspace(0, len(keys[1]) - 1, count).astype(np.int64)
    return keys[0][out_places], keys[1][in_places]


@njit(cache=True, nogil=True)
def _pair_up(order: Any, side: Any) -> tuple[Any, Any]:
    """Go through open ends in order, and join each with the last open one of the other side."""
    first = np.empty(len(order) // 2, np.int64)
    second = np.empty(len(order) // 2, np.int64)
    stack = np.empty(len(order), np.int64)
    depth = pairs = 0
    for place in range(len(order)):
        end = order[place]
        if depth and side[stack[depth - 1]] != side[end]:
            depth -= 1
            first[pairs] = stack[depth]
            second[pairs] = end
            pairs += 1
        else:
            stack[depth] = end
            depth += 1
    while depth > 1:  # those without a partner of the other side join one another
        first[pairs] = stack[depth - 1]
        second[pairs] = stack[depth - 2]
        pairs += 1
        depth -= 2
    return first[:pairs], second[:pairs]
