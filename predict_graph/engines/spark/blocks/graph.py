"""The parts of a graph on the cluster that the driver needs; the whole graph where it fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.engines.spark.blocks.packing import PackedGraph
from predict_graph.graph import Graph
from predict_graph.graph.on_cluster import ClusterGraph
from predict_graph.limits import limits

# Bytes: both directions with a working copy; vertex arrays of kernels; limits the driver's memory
_EDGE, _VERTEX = 12, 64


def fits_here(packed: PackedGraph) -> bool:
    """Whether the whole graph fits within the limit ``driver_bytes``.

    It takes twelve bytes per edge for both directions and a temporary part, and 64 per vertex for
    most compiled kernels.
    """
    weight = 8 if packed.weighted else 0
    needed = (_EDGE + weight) * packed.edges + _VERTEX * packed.vertices
    return needed <= limits().driver_bytes


def whole_graph(packed: PackedGraph) -> Graph:
    """Copy a graph to the driver, block by block."""
    degrees = packed.count_in_edges()
    indptr = np.concatenate(([0], np.cumsum(degrees, dtype=np.int64)))
    del degrees
    sources = np.empty(packed.edges, np.int32)
    weights = np.empty(packed.edges, np.float32) if packed.weighted else None
    size = 8.0 * packed.edges  # an upper bound of the allocation
    for rows, found in packed.passed(_edges, packed.weighted, ("i4", "i4"), answer_bytes=size):
        own = found[: len(found) // 2] if packed.weighted else found
        lengths = indptr[rows + 1] - indptr[rows]
        starts = np.cumsum(lengths) - lengths
        places = np.repeat(indptr[rows] - starts, lengths) + np.arange(len(own))
        sources[places] = own
        if weights is not None:
            weights[places] = found[len(own) :].view(np.float32)
    reverse = Graph(indptr, sources, weights, directed=packed.directed, name=packed.name)
    graph = reverse.reverse if packed.directed else reverse
    graph = graph.described_as(
        name=packed.name, labels=packed.labels, read_seconds=packed.seconds, notes=packed.notes
    )
    # The fingerprint of runs in which Spark reads the graph.
    vars(graph)["fingerprint"] = packed.fingerprint
    return graph


def _edges(block: Block, weighted: bool) -> tuple[Any, Any]:
    if not weighted:
        return block.rows, block.sources
    return block.rows, np.concatenate((block.sources, block.weights.view(np.int32)))


def cluster_graph(packed: PackedGraph) -> ClusterGraph:
    """Collect what the driver needs: two passes, three for a directed graph."""
    in_degrees = packed.count_in_edges()
    out_degrees = packed.count_out_edges() if packed.directed else in_degrees
    total = out_degrees + in_degrees if packed.directed else out_degrees
    single = (out_degrees == 1) & (total == 1)
    counted = packed.passed(_pairs, (single, total == 1), ("i8", "i4"))
    paired = sum(int(counts[0]) for counts, _ in counted)
    dust = float(np.count_nonzero(total == 0)) + paired * (2.0 if packed.directed else 1.0)
    return ClusterGraph(
        name=packed.name,
        fingerprint=packed.fingerprint,
        vertices=packed.vertices,
        edges=packed.edges,
        directed=packed.directed,
        weighted=packed.weighted,
        read_seconds=packed.seconds,
        out_degrees=out_degrees,
        in_degrees=in_degrees,
        dust_share=dust / max(packed.vertices, 1),
        labels=packed.labels,
        notes=packed.notes,
    )


def _pairs(block: Block, shared: Any) -> tuple[Any, Any]:
    """Count the edges between pairs of degree one."""
    single, lonely = shared
    targets = np.repeat(block.rows, block.in_degrees)
    alone = lonely[targets] & single[block.sources] & (targets != block.sources)
    return np.array([np.count_nonzero(alone)], np.int64), np.empty(0, np.int32)


def induced_graph(packed: PackedGraph, members: npt.NDArray[np.integer]) -> Graph:
    """Return the subgraph that some vertices induce."""
    from predict_graph.graph.build import from_edges

    mask = np.zeros(packed.vertices, bool)
    mask[members] = True
    none = np.empty(0, np.int32)
    found = [(none, none), *packed.passed(_among_members, mask, ("i4", "i4"))]
    sources, targets = (np.concatenate(each) for each in zip(*found, strict=True))
    edges = from_edges(sources, targets, vertices=packed.vertices, name=packed.name)
    return edges.subgraph(members)


def _among_members(block: Block, mask: Any) -> tuple[Any, Any]:
    targets = np.repeat(block.rows, block.in_degrees)
    chosen = mask[block.sources] & mask[targets]
    return block.sources[chosen], targets[chosen]
