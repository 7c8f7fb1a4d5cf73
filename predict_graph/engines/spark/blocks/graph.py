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
_SAMPLED = 1 << 20  # edges sampled to estimate locality; limits the driver's memory


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
    degrees = packed.in_degrees()
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
    in_degrees = packed.in_degrees()
    out_degrees = packed.out_degrees() if packed.directed else in_degrees
    total = out_degrees + in_degrees if packed.directed else out_degrees
    every = max(packed.edges // _SAMPLED, 1)
    single = (out_degrees == 1) & (total == 1)
    paired, sources, targets = 0, [], []
    shared = (single, total == 1, every)
    for counts, ends in packed.passed(_sampled_edges, shared, ("i8", "i4")):
        paired += int(counts[0])
        sources.append(ends[: len(ends) // 2])
        targets.append(ends[len(ends) // 2 :])
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
        ends=(np.concatenate(sources), np.concatenate(targets)),
        dust_share=dust / max(packed.vertices, 1),
        labels=packed.labels,
        notes=packed.notes,
    )


def _sampled_edges(block: Block, shared: Any) -> tuple[Any, Any]:
    """Count the edges between pairs of degree one; return every n-th edge."""
    single, lonely, every = shared
    targets = np.repeat(block.rows, block.in_degrees)
    alone = lonely[targets] & single[block.sources] & (targets != block.sources)
    first = int(block.rows[0]) % every if len(block.rows) else 0
    chosen = np.concatenate((block.sources[first::every], targets[first::every]))
    return np.array([np.count_nonzero(alone)], np.int64), chosen


def with_rows(packed: PackedGraph, kept: npt.NDArray[np.integer]) -> Graph:
    """Return a graph of all vertices with the out-edges of some of them."""
    return _some_edges(packed, _from_members, _mask(packed, kept), packed.name)


def induced_graph(packed: PackedGraph, members: npt.NDArray[np.integer]) -> Graph:
    """Return the subgraph that some vertices induce."""
    found = _some_edges(packed, _among_members, _mask(packed, members), packed.name)
    return found.subgraph(members)


def _mask(packed: PackedGraph, members: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    mask = np.zeros(packed.vertices, bool)
    mask[members] = True
    return mask


def _some_edges(packed: PackedGraph, function: Any, mask: Any, name: str) -> Graph:
    from predict_graph.graph.build import from_edges

    sources, targets = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for ends, others in packed.passed(function, mask, ("i4", "i4")):
        sources.append(ends)
        targets.append(others)
    return from_edges(
        np.concatenate(sources), np.concatenate(targets), vertices=packed.vertices, name=name
    )


def _from_members(block: Block, mask: Any) -> tuple[Any, Any]:
    chosen = mask[block.sources]
    return block.sources[chosen], np.repeat(block.rows, block.in_degrees)[chosen]


def _among_members(block: Block, mask: Any) -> tuple[Any, Any]:
    targets = np.repeat(block.rows, block.in_degrees)
    chosen = mask[block.sources] & mask[targets]
    return block.sources[chosen], targets[chosen]
