"""The edges of a stratified sample, and the cut edge ends (stubs) at its border."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph
from samplers.induced import induced_csr

IntArray = npt.NDArray[np.int64]
InboundRows = tuple[IntArray, npt.NDArray[np.integer]]
"""The start of the row of each vertex, and its in-neighbours."""


@dataclass(frozen=True)
class SampleEdges:
    """Edges and stubs of a sample.

    Sources, targets and owners are positions in the sample; wanted vertices are those of the graph
    that a stub has lost: by an edge in both directions, an outbound one, or an inbound one.
    """

    sources: IntArray
    targets: IntArray
    mutual_owner: IntArray
    mutual_wanted: IntArray
    out_owner: IntArray
    out_wanted: IntArray
    in_owner: IntArray
    in_wanted: IntArray


def hub_edges(graph: Graph, hubs: IntArray) -> tuple[IntArray, IntArray]:
    """Return the edges among hubs, as positions in `hubs`."""
    ascending = np.sort(hubs)
    indptr, indices, _ = induced_csr(graph.indptr, graph.indices, ascending)
    place = np.argsort(hubs)  # where each of them is in `hubs`
    sources = np.repeat(place, np.diff(indptr))
    order = np.argsort(sources, kind="stable")
    return sources[order], place[indices[order]]


def collect_edges(
    graph: Graph,
    hubs: int,
    others: IntArray,
    inbound: InboundRows,
    among_hubs: tuple[IntArray, IntArray],
    position: npt.NDArray[np.int32],
) -> SampleEdges:
    """Return the edges and stubs of a sample of all hubs and some `others`.

    All hubs are in the sample, so only edges between two other vertices leave stubs.
    Cost: the edges of `others`, in both directions.
    """
    position[others] = np.arange(hubs, hubs + len(others), dtype=np.int32)
    arrays = (graph.indptr, graph.indices, *inbound)
    edges, mutual, outward, inward = _collect(*arrays, others, position, hubs)
    position[others] = -1
    return SampleEdges(
        sources=np.concatenate((among_hubs[0], edges[0])),
        targets=np.concatenate((among_hubs[1], edges[1])),
        mutual_owner=mutual[0],
        mutual_wanted=mutual[1],
        out_owner=outward[0],
        out_wanted=outward[1],
        in_owner=inward[0],
        in_wanted=inward[1],
    )


@numba.njit(cache=True, nogil=True)
def _collect(
    indptr: IntArray,
    indices: npt.NDArray[np.int32],
    in_starts: IntArray,
    in_sources: npt.NDArray[np.int32],
    others: IntArray,
    position: npt.NDArray[np.int32],
    hubs: int,
) -> tuple[
    tuple[IntArray, IntArray],
    tuple[IntArray, IntArray],
    tuple[IntArray, IntArray],
    tuple[IntArray, IntArray],
]:
    """Merge the sorted out-row and in-row of each vertex; every neighbour falls in one of four."""
    outs, ins = 0, in_starts[len(others)]
    for v in others:
        outs += indptr[v + 1] - indptr[v]
    edge_source, edge_target = np.empty(outs + ins, np.int64), np.empty(outs + ins, np.int64)
    mutual_owner, mutual_wanted = (
        np.empty(min(outs, ins), np.int64),
        np.empty(min(outs, ins), np.int64),
    )
    out_owner, out_wanted = np.empty(outs, np.int64), np.empty(outs, np.int64)
    in_owner, in_wanted = np.empty(ins, np.int64), np.empty(ins, np.int64)
    edges = mutual = outward = inward = 0
    for i in range(len(others)):
        v = others[i]
        own = hubs + i
        a, a_stop = indptr[v], indptr[v + 1]
        b, b_stop = in_starts[i], in_starts[i + 1]
        while a < a_stop or b < b_stop:
            to = indices[a] if a < a_stop else np.iinfo(np.int32).max
            of = in_sources[b] if b < b_stop else np.iinfo(np.int32).max
            w = min(to, of)
            has_out = a < a_stop and to == w
            has_in = b < b_stop and of == w
            a += has_out
            b += has_in
            other = position[w]
            if other >= 0:
                if has_out:
                    edge_source[edges], edge_target[edges] = own, other
                    edges += 1
                if has_in and other < hubs:
                    # Between two other vertices the edge is seen from its source.
                    edge_source[edges], edge_target[edges] = other, own
                    edges += 1
            elif has_out and has_in:
                mutual_owner[mutual], mutual_wanted[mutual] = own, w
                mutual += 1
            elif has_out:
                out_owner[outward], out_wanted[outward] = own, w
                outward += 1
            else:
                in_owner[inward], in_wanted[inward] = own, w
                inward += 1
    return (
        (edge_source[:edges], edge_target[:edges]),
        (mutual_owner[:mutual], mutual_wanted[:mutual]),
        (out_owner[:outward], out_wanted[:outward]),
        (in_owner[:inward], in_wanted[:inward]),
    )
