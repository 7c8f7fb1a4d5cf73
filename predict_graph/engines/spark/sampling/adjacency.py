"""Adjacency as Spark walks along it: the targets of a vertex in a few rows of one partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.reading import SparkGraph

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["Adjacency", "adjacency"]

CHUNK_BITS = 10  # a choice: vertices of a row, as a power of two
_CHUNK = 1 << CHUNK_BITS


@dataclass(frozen=True)
class Adjacency:
    """The neighbours of each vertex, in memory, spread by the hash of the vertex.

    Parameters
    ----------
    chunks : DataFrame
        ``id``, ``degree``, ``chunk`` and ``targets``: at most 1024 neighbours, ascending. A row for
        each chunk, so that a vertex of a million neighbours is no row of megabytes.
    degrees : DataFrame
        ``id``, ``degree`` of the vertices that have neighbours.
    """

    chunks: DataFrame
    degrees: DataFrame

    def neighbours(self, walkers: DataFrame, chosen: Column) -> DataFrame:
        """Join each walker with one neighbour of its ``vertex``.

        Parameters
        ----------
        walkers : DataFrame
            With ``vertex`` and ``share``, a number in [0, 1) that says which neighbour.
        chosen : Column
            Which neighbour, by ``degree`` and the columns of the walkers; in [0, degree).

        Returns
        -------
        DataFrame
            The columns of the walkers, ``degree`` and ``neighbour``. Walkers at vertices without
            neighbours are gone.
        """
        from pyspark.sql import functions as F

        # The walkers are hashed and the adjacency streams by: a superstep reads it once, in memory.
        here = (F.col("id") == F.col("vertex")) & (
            F.col("chunk") == F.shiftright(chosen, CHUNK_BITS)
        )
        at = chosen.bitwiseAND(F.lit(_CHUNK - 1)).cast("int")
        return (
            self.chunks.join(walkers.hint("shuffle_hash"), here)
            .withColumn("neighbour", F.get("targets", at).cast("bigint"))
            .drop("id", "chunk", "targets")
        )

    def degrees_of(self, walkers: DataFrame, column: str, name: str) -> DataFrame:
        """Join each walker with the degree of the vertex in a column."""
        degrees = self.degrees.withColumnsRenamed({"id": "_id", "degree": name})
        joined = degrees.join(walkers.hint("shuffle_hash"), degrees["_id"] == walkers[column])
        return joined.drop("_id")

    def forget(self) -> None:
        """Give the memory back."""
        self.chunks.unpersist()
        self.degrees.unpersist()


def adjacency(session: OpenSession, graph: SparkGraph, *, both: bool) -> Adjacency:
    """Return the adjacency of a graph.

    Parameters
    ----------
    session : OpenSession
    graph : SparkGraph
    both : bool
        Whether edges count in both directions; a pair of opposite edges then counts twice.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    edges = graph.edge_table(session).select(F.col("src").alias("id"), F.col("dst").alias("target"))
    if both:
        edges = edges.union(edges.select("target", "id"))
    if graph.vertices < 2**31:
        edges = edges.withColumn("target", F.col("target").cast("int"))
    edges = edges.repartition("id")
    degrees = edges.groupBy("id").agg(F.count("*").alias("degree")).persist()
    place = F.row_number().over(Window.partitionBy("id").orderBy("target")) - 1
    chunks = (
        edges.withColumn("chunk", F.shiftright(place, CHUNK_BITS).cast("bigint"))
        .groupBy("id", "chunk")
        .agg(F.sort_array(F.collect_list("target")).alias("targets"))
        .join(degrees.hint("shuffle_hash"), "id")
        .persist()
    )
    chunks.count()
    return Adjacency(chunks, degrees)
