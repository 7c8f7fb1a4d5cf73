"""The vertices that a parameter names, in tables of a graph."""

from __future__ import annotations

from predict_graph.algorithms.naming import NamedVertices
from predict_graph.engines.spark.tables.graph_tables import GraphTables

__all__ = ["vertices_in_tables"]


def vertices_in_tables(algorithm: NamedVertices, tables: GraphTables) -> list[int]:
    """Return the vertices that an algorithm names, or what stands for them in these tables.

    As :meth:`~predict_graph.algorithms.naming.NamedVertices.vertices_in` does: where they were not
    looked up in this graph, those with most out-edges.
    """
    from pyspark.sql import functions as F

    known = algorithm.known_in(tables.count)
    if known is not None:
        return [int(vertex) for vertex in known]
    ordered = tables.vertices.orderBy(F.desc("degree"), "id").limit(algorithm.count).collect()
    return [int(ordered[place % len(ordered)]["id"]) for place in range(algorithm.count)]
