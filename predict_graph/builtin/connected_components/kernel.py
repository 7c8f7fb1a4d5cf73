"""Connected components on one graph, and on a block of one (PREDIcT, section 5; PEGASUS).

On one graph, changed vertices push their labels along their edges; a block pulls them.

The work is proportional to messages, plus one pass over a byte per vertex. Labels only decrease, so
threads may lower the same label in any order. Vertices send from a second array that is updated
after the superstep, so that messages hold the labels at its start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from predict_graph.arrays import Array
from predict_graph.builtin.connected_components.definition import ConnectedComponents
from predict_graph.engines.local.edge_loops import MIN, identity, pull
from predict_graph.engines.local.kernel import Footprint, SpreadingKernel, Superstep, Team, Work
from predict_graph.engines.spark.blocks.program import BlockProgram
from predict_graph.graph import Graph

_NONE, _NO_WEIGHTS = np.empty(0, np.uint8), np.empty(0, np.float32)


class ComponentsKernel(SpreadingKernel):
    """Smallest-id propagation on one undirected graph."""

    values_are_vertices = True

    def __init__(
        self, algorithm: ConnectedComponents, graph: Graph, team: Team | None = None
    ) -> None:
        n = graph.vertices
        super().__init__(graph, team)
        self._rows = (graph.indptr, graph.indices)
        # The smallest id of the component of each vertex: signed and as wide as ids, as the atomic
        # minimum requires.
        self.values = np.arange(n, dtype=graph.indices.dtype)
        self._sent = self.values.copy()

    @staticmethod
    def footprint(algorithm: ConnectedComponents, id_bytes: int) -> Footprint:
        """Return its memory: two label arrays, three marks; finally labels and sizes of 64 bits."""
        return Footprint(2 * id_bytes + 3 + 2 * 8, reverse=False)

    def summary(self) -> dict[str, Any]:
        """Return the number of components and the size of the largest."""
        sizes = np.bincount(self.values)
        return {"components": int(np.count_nonzero(sizes)), "largest": int(sizes.max())}

    def step(self) -> Superstep:
        """Run one superstep; its aggregate is the share of vertices whose label changed."""
        labels = (self._sent, self.values, self._changed)
        self._share(_push, self._rows, self._senders, labels)
        self._share(_settle, *labels)
        return self._turn(Work())


@numba.njit(cache=True, nogil=True)
def _push(first: int, last: int, rows: Any, senders: Any, labels: Any) -> None:
    """Send from the vertices of some rows: lower the labels of their neighbours."""
    indptr, indices = rows
    sent, lowest, changed = labels
    for v in range(first, last):
        if senders[v] == 0:
            continue
        label = sent[v]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if label < lowest[w]:
                atomic_min(lowest, w, label)
                changed[w] = 1


@numba.njit(cache=True, nogil=True)
def _settle(first: int, last: int, sent: Any, labels: Any, changed: Any) -> None:
    """Publish the changed labels for the next superstep."""
    for v in range(first, last):
        if changed[v] != 0:
            sent[v] = labels[v]


@intrinsic  # type: ignore[untyped-decorator]
def atomic_min(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """Set ``array[index] = min(array[index], value)`` atomically; signed integers only.

    `value` must have the dtype of `array`.
    """
    signature = types.void(array, types.intp, array.dtype)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        view = context.make_array(kind)(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(
            context, builder, kind, view, [arguments[1]], wraparound=False
        )
        builder.atomic_rmw("min", pointer, arguments[2], "monotonic")
        return context.get_dummy_value()

    return signature, generate


class ComponentsProgram(BlockProgram):
    """Vertices whose label decreased send it; a vertex takes the smallest label that it
    receives.
    """

    def first(self, prior: Array | None) -> None:
        """Set the label of each vertex to its own id."""
        self.state = np.array(self.block.rows, np.int64)

    def receive(self, offers: Array, senders: Array, sums: Mapping[str, float]) -> None:
        """Take the smallest received label where it is lower."""
        nothing = identity(MIN, offers.dtype)
        offers[senders == 0] = nothing
        received, heard = np.empty_like(self.state), np.empty(0, bool)
        rows = (self.rows[0], self.rows[1].view(np.uint32), _NO_WEIGHTS)
        pull(0, self.block.count, MIN, rows, (offers, _NONE, nothing), (received, heard), False)
        self.senders = received < self.state
        self.state = np.minimum(self.state, received)

    def sums(self) -> dict[str, float]:
        """Count the decreased labels, and the vertices whose label is their own id."""
        components = np.count_nonzero(self.state == self.block.rows)
        return {**super().sums(), "components": float(components)}

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, float]]) -> dict[str, Any]:
        """Return the number of components and the size of the largest."""
        largest = values.groupBy("value").count().agg({"count": "max"}).collect()[0][0]
        return {"components": int(sums[-1]["components"]), "largest": int(largest)}
