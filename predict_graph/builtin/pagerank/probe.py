"""The time of an iteration on the whole graph, measured on a few of its rows.

The time per edge depends on whether the ranks that it reads are in a cache or in memory. A sample
graph has smaller arrays, so its edges take less time (a half to a sixth). The probe keeps the
arrays of the whole graph and omits most of the rows: it runs the compiled superstep of the real run
on evenly spread ranges of vertices whose inbound edges read the whole array of contributions.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.builtin.pagerank.local import PageRankKernel, superstep
from predict_graph.builtin.pagerank.rows import inbound_rows
from predict_graph.engines.local.probing import IterationProbe, counted_rows
from predict_graph.engines.local.team import Team, available_threads
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.table import Table

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# Edges + vertices of a measurement (a millisecond or more): limits timer error.
_LEAST_WORK = 1 << 19
# Ranges of vertices in a measurement: trades off error (measured: up to 30%) for overhead.
_LEAST_RANGES = 32
_PIECES = 4  # one in so many ranges is the short piece of a measurement; not tuned
_LEAST_SHARE = 0.6  # bounds the share of a piece's time that is due to edges from below; not tuned
_MOST_BITS = 11  # limits a range to 2048 vertices
# By definition: indptr, scale, rank, contributions of this superstep and the next
_VERTEX_BYTES = 5 * 8
_LARGEST_CACHE = 96 << 20  # bytes; limits the scan that evicts the caches to the largest cache size


@dataclass(frozen=True)
class CostProbe:
    """The time of a PageRank superstep at the working set of a graph."""

    seconds_per_edge: float
    seconds_per_vertex: float
    seconds_per_superstep: float
    working_set_bytes: int
    table: Table = field(repr=False)
    overhead_seconds: float

    def iteration_seconds(self, vertices: float, edges: float) -> float:
        """Return the seconds of an iteration that updates `vertices` along `edges`."""
        return (
            self.seconds_per_superstep
            + self.seconds_per_vertex * vertices
            + self.seconds_per_edge * edges
        )


def probe_cost(
    graph: Graph,
    fraction: float = 0.02,
    repeats: int = 3,
    random_state: int | np.random.Generator | None = None,
    *,
    algorithm: PageRank | None = None,
    threads: int | None = None,
) -> CostProbe:
    """Measure the time of PageRank per edge and per vertex at the working set of `graph`.

    Each repeat uses other rows, which are not in a cache yet. Rows are taken at regular distances
    from a random start. It costs a few passes over the vertices and 2 (`repeats` + 1) x `fraction`
    of an iteration; without a reverse graph, also two passes over ``indices`` to find the inbound
    edges.
    """
    if not 0.0 < fraction <= 1.0:
        raise RequestError(f"fraction is {fraction}; accepted: greater than 0 and at most 1")
    if repeats < 1:
        raise RequestError(f"repeats is {repeats}; accepted: at least 1")
    if graph.vertices == 0:
        raise RequestError(f"the graph {graph.name!r} has no vertices")
    began = time.perf_counter()
    rng = np.random.default_rng(random_state)
    with Team(threads or available_threads()) as team:
        probe = _Probe(graph, algorithm or PageRank(), fraction, repeats, rng, team)
        launch, per_vertex = probe.launch_seconds(), probe.vertex_seconds()
        rows = probe.measure()
    vertices, edges, seconds = (
        np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)
    )
    along_edges = np.maximum(seconds - per_vertex * vertices, 0.0)
    per_edge, launch = _slope(edges, along_edges, launch)
    table = Table(
        {
            "active_vertices": vertices.astype(np.int64),
            "messages": edges.astype(np.int64),
            "message_bytes": edges.astype(np.int64) * PageRankKernel.message_bytes,
            "working_set_bytes": 8 * graph.vertices,
            "seconds": seconds,
        }
    )
    return CostProbe(
        per_edge, per_vertex, launch, 8 * graph.vertices, table, time.perf_counter() - began
    )


def probe_pagerank(
    algorithm: PageRank, graph: Graph, workers: int, threads: int, rng: np.random.Generator
) -> IterationProbe:
    """Return the time of an iteration of PageRank on a graph; see :func:`probe_cost`."""
    probe = probe_cost(graph, random_state=rng, algorithm=algorithm, threads=threads)
    table = probe.table.take(probe.table["active_vertices"] > 0)
    rates = table["seconds"] / (table["messages"] + table["active_vertices"])
    error = float(rates.std() / rates.mean()) / max(len(rates) - 1, 1) ** 0.5
    rows = counted_rows(
        table["active_vertices"],
        table["messages"],
        PageRankKernel.message_bytes,
        probe.working_set_bytes,
        table["seconds"],
        workers,
    )
    return IterationProbe(probe.iteration_seconds(graph.vertices, graph.edges), error, rows)


def _slope(edges: FloatArray, seconds: FloatArray, least_launch: float) -> tuple[float, float]:
    """Return the seconds per edge and the fixed seconds of a superstep, from pairs of pieces."""
    together = max(float(edges.sum()), 1.0)
    most = max(float((seconds.sum() - len(seconds) * least_launch) / together), 0.0)
    short, long = slice(0, None, 2), slice(1, None, 2)
    more_edges = float(edges[long].sum() - edges[short].sum())
    # Limits the error of the slope: the pieces are too similar; not tuned
    if more_edges < 0.2 * together:
        return most, least_launch
    # Computed from sums because a single piece takes a fraction of a millisecond.
    slope = float(seconds[long].sum() - seconds[short].sum()) / more_edges
    per_edge = min(max(slope, _LEAST_SHARE * most), most)
    on_top = float(seconds.sum() - per_edge * edges.sum()) / len(seconds)
    return per_edge, max(on_top, least_launch)


class _Probe:
    """The arrays of a real run with only some of its rows."""

    def __init__(
        self,
        graph: Graph,
        algorithm: PageRank,
        fraction: float,
        repeats: int,
        rng: np.random.Generator,
        team: Team,
    ) -> None:
        n = graph.vertices
        work = graph.edges + n
        stride = max(1, min(int(1 / fraction), work // _LEAST_WORK))
        # Ranges are as long as possible: neighbours of web pages have close ids, which stay in a
        # cache.
        self._bits = min(max(n // (stride * _LEAST_RANGES), 1).bit_length() - 1, _MOST_BITS)
        ranges = np.arange(-(-n >> self._bits))
        offsets = rng.permutation(stride)
        # One more part than is timed: the first one warms up the caches.
        self._offsets = offsets[np.arange(repeats + 1) % stride]
        self._stride = stride
        self._ranges = ranges[np.isin(ranges % stride, self._offsets)]
        vertices, self._indptr, sources = inbound_rows(
            graph, self._ranges, self._bits, team.threads
        )
        self._sources = sources.view(np.dtype(f"u{sources.itemsize}"))
        degrees = graph.out_degrees
        self._all_scale = np.where(degrees > 0, algorithm.damping / np.maximum(degrees, 1), 0.0)
        self._all_rank = np.full(n, 1.0 / n)
        self._offer = self._all_rank * self._all_scale
        self._scale = self._all_scale[vertices]
        self._rank = self._all_rank[vertices]
        self._next_offer = self._offer[vertices]
        self._team = team
        streamed = graph.edges * sources.itemsize + n * _VERTEX_BYTES
        own = len(sources) * sources.itemsize + n * 3 * 8
        self._filler = np.ones(min(max(streamed - own, 0), _LARGEST_CACHE) // 8)

    def launch_seconds(self) -> float:
        """Return the time of a superstep on blocks without rows."""
        nothing = np.zeros(8 * self._team.threads, np.int64)
        # The first two measurements are warm-ups.
        return float(np.median([self._timed(self._indptr, nothing, nothing) for _ in range(9)][2:]))

    def vertex_seconds(self) -> float:
        """Return the time per vertex without edges."""
        starts, stops = self._blocks(np.arange(len(self._ranges)))
        edgeless = np.zeros_like(self._indptr)
        times = [self._timed(edgeless, starts, stops) for _ in range(3)]
        return max(float(np.median(times)) - self.launch_seconds(), 0.0) / len(self._rank)

    def measure(self) -> list[tuple[int, int, float]]:
        """Return vertices, edges and seconds of a superstep: two pieces of each repeat's rows."""
        chosen = [np.flatnonzero(self._ranges % self._stride == offset) for offset in self._offsets]
        # A short and a long piece of each part: their fixed time, such as waking threads, is not
        # due to edges.
        parts = [
            self._blocks(piece)
            for part in chosen
            for piece in (part[::_PIECES], np.delete(part, slice(None, None, _PIECES)))
        ]
        # Bring the caches into the state of a running superstep: the rows were used one superstep
        # ago, then as many bytes as all other rows were read, then all contributions were written
        # in order.
        for part in parts:
            self._timed(self._indptr, *part)
        self._filler.sum()
        np.multiply(self._all_rank, self._all_scale, out=self._offer)
        seconds = [self._timed(self._indptr, *part) for part in parts]
        return [
            (
                int((stops - starts).sum()),
                int((self._indptr[stops] - self._indptr[starts]).sum()),
                seconds_taken,
            )
            for (starts, stops), seconds_taken in zip(parts[2:], seconds[2:], strict=True)
        ]

    def _blocks(self, chosen: IntArray) -> tuple[IntArray, IntArray]:
        """Return the first rows of ranges, and the rows after their last."""
        starts = chosen << self._bits
        return starts, np.minimum(starts + (1 << self._bits), len(self._rank))

    def _timed(self, indptr: IntArray, starts: IntArray, stops: IntArray) -> float:
        blocks = len(starts)
        rows = (indptr, self._sources, starts, stops)
        ranks = (self._scale, self._offer, 0.0, self._rank, self._next_offer)
        sums = (np.zeros(blocks), np.zeros(blocks))
        started = time.perf_counter()
        self._team.share(lambda first, last: superstep(first, last, *rows, *ranks, *sums), blocks)
        return time.perf_counter() - started
