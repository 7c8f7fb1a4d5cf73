"""The subgraph of a sample: on Spark as a table, or collected as a graph in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from predict_graph.engines.spark.sampling.sampler import SparkSample
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.reading import SparkGraph
from predict_graph.graph import Graph

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["induced", "to_graph"]


def induced(edges: DataFrame, vertices: DataFrame) -> DataFrame:
    """Return the edges with both ends among some vertices.

    Parameters
    ----------
    edges : DataFrame
        ``src``, ``dst`` and any other columns, which stay.
    vertices : DataFrame
        ``vertex``, distinct.
    """
    from pyspark.sql import functions as F

    vertices = vertices.select("vertex")
    for end in ("src", "dst"):
        edges = edges.join(
            vertices.hint("shuffle_hash"), F.col(end) == F.col("vertex"), "left_semi"
        )
    return edges


def to_graph(session: OpenSession, graph: SparkGraph, sample: SparkSample) -> Graph:
    """Collect the subgraph that a sample induces.

    Only the sample comes to this process. Its vertex *i* is the one that was visited as the *i*-th,
    as in the subgraph of a compiled sampler's sample.

    Raises
    ------
    JobError
        If Spark fails, also because the sample is too large for the driver.
    """
    from pyspark.sql import functions as F

    from predict_graph.graph.build import from_edges

    edges = graph.edge_table(session)
    for end in ("src", "dst"):
        places = sample.table.select(
            F.col("vertex").alias("_vertex"), F.col("position").alias(f"new_{end}")
        )
        edges = edges.join(places.hint("shuffle_hash"), F.col(end) == F.col("_vertex")).drop(
            "_vertex"
        )
    weight = ["weight"] if graph.weighted else []
    with spark_failures("collecting the sample from Spark"):
        session.group("collect sample")
        found = edges.select("new_src", "new_dst", *weight).toArrow()
        labels = _labels(session, graph, sample)
    columns = [found.column(name).to_numpy() for name in ("new_src", "new_dst", *weight)]
    return from_edges(
        columns[0],
        columns[1],
        vertices=sample.vertices,
        weights=columns[2] if weight else None,
        directed=graph.directed,
        name=f"{graph.name}[{sample.vertices}]",
        labels=labels,
    )


def _labels(
    session: OpenSession, graph: SparkGraph, sample: SparkSample
) -> npt.NDArray[np.int64] | None:
    """Return the original ids of the sampled vertices; None when they are the vertices."""
    from pyspark.sql import functions as F

    table = graph.label_table(session)
    if table is None:
        return None
    named = sample.table.join(table, F.col("vertex") == F.col("id")).orderBy("position")
    labels: npt.NDArray[np.int64] = named.select("label").toArrow().column("label").to_numpy()
    return labels
