"""The vertices that a parameter names, in the tables of a graph."""

from __future__ import annotations

from predict_graph.algorithms.naming import NamedVertices
from predict_graph.engines.spark.tables.graph_tables import GraphTables


def vertices_in_tables(algorithm: NamedVertices, tables: GraphTables) -> list[int]:
    """Return the vertices that an algorithm names, or those with most out-edges if they were not
    looked up in this graph; see :meth:`~predict_graph.algorithms.naming.NamedVertices.vertices_in`.
    """
    from pyspark.sql import functions as F

    known = algorithm.known_in(tables.count)
    if known is not None:
        return [int(vertex) for vertex in known]
    ordered = tables.vertices.orderBy(F.desc("degree"), "id").limit(algorithm.count).collect()
    return [int(ordered[place % len(ordered)]["id"]) for place in range(algorithm.count)]
