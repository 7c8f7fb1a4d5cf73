"""The time of an iteration on the whole graph, measured on a few of its rows.

The time per edge depends on whether the ranks that it reads are in a cache or in memory. A sample
graph has smaller arrays, so its edges take less time (a half to a sixth). The probe keeps the
arrays of the whole graph and omits most of the rows: it runs the compiled superstep of the real run
on evenly spread ranges of vertices whose inbound edges read the whole array of contributions.
"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.builtin.pagerank.local import PageRankKernel, superstep
from predict_graph.engines.local.probing import IterationProbe, counted_rows
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph
from predict_graph.graph.inbound import inbound_rows

IntArray = npt.NDArray[np.int64]

_REPEATS = 3  # limits overhead; a further measurement warms up the caches
_LAUNCHES = 9  # limits overhead
_FRACTION = 0.02  # of the rows, per measurement; trades off overhead for error
# Edges + vertices of a measurement (a millisecond or more): limits timer error.
_LEAST_WORK = 1 << 19
# Ranges of vertices in a measurement: trades off error (measured: up to 30%) for overhead.
_LEAST_RANGES = 32
_MOST_BITS = 11  # limits a range to 2048 vertices
# By definition: indptr, scale, rank, contributions of this superstep and the next
_VERTEX_BYTES = 5 * 8
_LARGEST_CACHE = 96 << 20  # bytes; limits the scan that evicts the caches to the largest cache size


def probe_pagerank(
    algorithm: PageRank, graph: Graph, workers: int, threads: int, rng: np.random.Generator
) -> IterationProbe:
    """Return the time of an iteration of PageRank on a graph."""
    with Team(threads) as team:
        part = PartialRun(algorithm, graph, team, rng)
        vertices, messages, seconds = part.measure().T
        launch = part.launch_seconds()
    rates = seconds / (messages + vertices)
    error = float(rates.std() / rates.mean()) / max(len(rates) - 1, 1) ** 0.5
    working_set = 8 * graph.vertices
    rows = counted_rows(
        *(vertices.astype(np.int64), messages.astype(np.int64)),
        *(PageRankKernel.message_bytes, working_set, seconds, workers),
    )
    whole = float(rates.mean()) * (graph.edges + graph.vertices) + launch
    return IterationProbe(whole, error, rows)


class PartialRun:
    """The arrays of a real run with only some of its rows."""

    def __init__(
        self, algorithm: PageRank, graph: Graph, team: Team, rng: np.random.Generator
    ) -> None:
        n = graph.vertices
        self._team = team
        stride = max(1, min(int(1 / _FRACTION), (graph.edges + n) // _LEAST_WORK))
        # Ranges are as long as possible: neighbours of web pages have close ids, which stay in a
        # cache.
        self._bits = min(max(n // (stride * _LEAST_RANGES), 1).bit_length() - 1, _MOST_BITS)
        ranges = np.arange(-(-n >> self._bits))
        offsets = rng.permutation(stride)[np.arange(_REPEATS + 1) % stride]
        ranges = ranges[np.isin(ranges % stride, offsets)]
        self._parts = [np.flatnonzero(ranges % stride == offset) for offset in offsets]
        vertices = ((ranges << self._bits)[:, None] + np.arange(1 << self._bits)).ravel()
        vertices = vertices[vertices < n]
        self._indptr, sources = inbound_rows(graph, vertices)
        self._sources = sources.view(np.dtype(f"u{sources.itemsize}"))
        degrees = graph.out_degrees
        self._all_scale = np.where(degrees > 0, algorithm.damping / np.maximum(degrees, 1), 0.0)
        self._all_rank = np.full(n, 1.0 / n)
        self._offer = self._all_rank * self._all_scale
        self._scale, self.rank = self._all_scale[vertices], self._all_rank[vertices]
        self._next_offer = self._offer[vertices]
        streamed = graph.edges * sources.itemsize + n * _VERTEX_BYTES
        own = len(sources) * sources.itemsize + n * 3 * 8
        self._filler = np.ones(min(max(streamed - own, 0), _LARGEST_CACHE) // 8)

    def measure(self) -> npt.NDArray[np.float64]:
        """Return vertices, edges and seconds of a superstep on each part of the rows."""
        # Bring the caches into the state of a running superstep: the rows were used one superstep
        # ago, then as many bytes as all other rows were read, then all contributions were written
        # in order.
        for part in self._parts:
            self._timed(part)
        self._filler.sum()
        np.multiply(self._all_rank, self._all_scale, out=self._offer)
        return np.array([self._timed(part) for part in self._parts][1:])

    def launch_seconds(self) -> float:
        """Return the seconds that threads take to start and to wait for each other."""
        seconds = []
        for _ in range(_LAUNCHES):
            started = time.perf_counter()
            self._team.share(lambda first, last: None, _LEAST_RANGES)
            seconds.append(time.perf_counter() - started)
        return float(np.median(seconds))

    def _timed(self, ranges: IntArray) -> tuple[int, int, float]:
        """Return vertices, edges and seconds; without the wait for the last thread."""
        starts = ranges << self._bits
        stops = np.minimum(starts + (1 << self._bits), len(self.rank))
        rows = (self._indptr, self._sources, starts, stops)
        ranks = (self._scale, self._offer, 0.0, self.rank, self._next_offer)
        sums = (np.zeros(len(starts)), np.zeros(len(starts)))
        busy: list[float] = []

        def run(first: int, last: int) -> None:
            started = time.perf_counter()
            superstep(first, last, *rows, *ranks, *sums)
            busy.append(time.perf_counter() - started)

        self._team.share(run, len(starts))
        edges = int((self._indptr[stops] - self._indptr[starts]).sum())
        return int((stops - starts).sum()), edges, sum(busy) / self._team.threads
