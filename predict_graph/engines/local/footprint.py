"""Peak memory of a kernel in addition to the graph.

A kernel may declare it::

    @staticmethod
    def footprint(algorithm, id_bytes):
        return Footprint(vertex_bytes=40)
"""

from __future__ import annotations

from dataclasses import dataclass

TALLY_BYTES = 8  # per vertex, by definition: its worker, and its edges that stay there


@dataclass(frozen=True)
class Footprint:
    """Bytes that a kernel allocates at its peak."""

    vertex_bytes: float
    edge_bytes: float = 0.0
    reverse: bool = True

    def beside(self, vertices: int, edges: int) -> float:
        """Return the bytes in addition to the graph."""
        return self.vertex_bytes * vertices + self.edge_bytes * edges
