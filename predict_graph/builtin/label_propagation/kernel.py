"""Label propagation on one graph, and on a block of one.

Each vertex pulls the labels of its neighbours.

Votes are counted in a table of a few kilobytes, sized by the degree, so that only reading the
labels accesses memory randomly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba
import numpy as np

from predict_graph.arrays import Array
from predict_graph.builtin.label_propagation.definition import LabelPropagation
from predict_graph.engines.local.kernel import SharedRows, Superstep, Team, WeightedSample, Work
from predict_graph.engines.spark.blocks.program import BlockProgram
from predict_graph.graph import Graph
from samplers.csr import frozen

# Work relative to one message, measured by least squares on supersteps of five graphs and their
# samples: relative error 11% (with a constant per vertex: 34%).
_VERTEX, _LABEL = 3.0, 3.5


class LabelPropagationKernel(SharedRows):
    """Label propagation on one undirected graph."""

    values_are_vertices = True

    def __init__(
        self,
        algorithm: LabelPropagation,
        graph: Graph,
        team: Team | None = None,
        first_labels: Array | None = None,
    ) -> None:
        super().__init__(graph, team)
        weights = frozen(np.empty(0, np.float32) if graph.weights is None else graph.weights)
        self._graph = (graph.indptr, graph.indices, weights)
        self.values = np.arange(graph.vertices, dtype=graph.indices.dtype)  # labels
        self._next = self.values.copy()
        self._first_labels = first_labels
        self._heard = np.ones(graph.vertices, np.int32)
        self._others: list[int] = []  # labels of rows that are not those of two supersteps ago
        # A vertex id and a label; the weight of the edge.
        self.message_bytes = 16 + (0 if graph.weights is None else 8)

    def summary(self) -> dict[str, Any]:
        """Return the number of communities (vertices of one label), and the largest."""
        sizes = np.bincount(self.values)
        return {"communities": int(np.count_nonzero(sizes)), "largest": int(sizes.max())}

    def step(self) -> Superstep:
        """Run one superstep; its aggregate is the share of vertices whose label changed."""
        self._others.clear()
        labels = (self.values, self._next, self._heard)
        self._share(lambda a, b: self._others.append(vote(a, b, self._graph, labels)))
        if self._first_labels is not None:
            self._next[:], self._first_labels = self._first_labels, None
        changes = self._next != self.values
        self.values, self._next = self._next, self.values
        share = int(np.count_nonzero(changes)) / max(len(changes), 1)
        work = Work(vertices=_VERTEX + _LABEL * self._heard)
        return Superstep(share, self.message_bytes, changes=changes, work=work)

    @property
    def cycling(self) -> bool:
        """Whether all labels equal those of two supersteps ago, so that they alternate forever."""
        return not any(self._others)

    def stand_for(self, sample: WeightedSample) -> None:
        """Start with the ids that the sampled vertices have in the whole graph."""
        self.values[:] = sample.vertices


@numba.njit(cache=True, nogil=True)
def vote(first: int, last: int, graph: Any, states: Any) -> int:
    """Give the vertices of some rows the label with most votes, or weight, among neighbours.

    `graph` has rows and weights; `states` the labels, the next ones, and how many were heard.
    Return how many labels changed.
    """
    indptr, indices, weights = graph
    labels, following, heard = states
    others = 0
    keys, votes = np.full(16, -1, labels.dtype), np.zeros(16)
    for v in range(first, last):
        start, stop = indptr[v], indptr[v + 1]
        if stop - start < 2:
            only = labels[v] if start == stop else labels[indices[start]]
            others += following[v] != only
            following[v] = only
            continue
        size = 4
        while size < 2 * (stop - start):
            size *= 2
        if len(keys) < size:
            keys, votes = np.full(size, -1, labels.dtype), np.zeros(size)
        for e in range(start, stop):
            label = labels[indices[e]]
            spot = ((np.int64(label) * 0x9E3779B1) >> 8) & (size - 1)
            while keys[spot] != label and keys[spot] >= 0:
                spot = (spot + 1) & (size - 1)
            keys[spot] = label
            votes[spot] += weights[e] if len(weights) else 1.0
        best, most, different = keys[0], -np.inf, 0
        for slot in range(size):
            found, count = keys[slot], votes[slot]
            if found >= 0:
                if count > most or (count == most and found < best):
                    best, most = found, count
                keys[slot], votes[slot] = -1, 0.0
                different += 1
        heard[v] = different
        others += following[v] != best
        following[v] = best
    return others


class LabelPropagationProgram(BlockProgram):
    """Every vertex sends its label, and takes the one with most votes or weight."""

    kept = ("state", "changed")

    def first(self, prior: Array | None) -> None:
        """Set the label of each vertex to its own id."""
        self.state, self.changed = np.array(self.block.rows, np.int64), 0

    def receive(self, offers: Array, senders: Array, sums: Mapping[str, float]) -> None:
        """Sum votes, and take the label with most; the smallest of several."""
        following = self.state.copy()
        heard = np.empty(self.block.count, np.int32)
        vote(0, self.block.count, (*self.rows, self.block.weights), (offers, following, heard))
        self.changed = int(np.count_nonzero(following != self.state))
        self.state = following

    def sums(self) -> dict[str, float]:
        """Count the labels that changed."""
        return {"changed": float(self.changed)}

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the number of communities and the size of the largest."""
        from pyspark.sql import functions as F

        sizes = values.groupBy("value").count()
        found = sizes.agg(F.count("*"), F.max("count")).collect()[0]
        return {"communities": int(found[0]), "largest": int(found[1])}
