"""Where walks begin: anywhere, at the vertices of highest out-degree, or where none has been."""

from __future__ import annotations

from typing import TYPE_CHECKING

from predict_graph.engines.spark.sampling.randomness import below, chance
from predict_graph.engines.spark.sampling.walks import WALK_BITS, place_of
from predict_graph.engines.spark.tables.checkpoints import cut_off
from predict_graph.engines.spark.tables.numbering import numbered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["highest_degrees", "start_among", "start_anywhere", "start_unvisited"]


def start_anywhere(
    spark: SparkSession, begin: int, end: int, vertices: int, seed: int
) -> DataFrame:
    """Return first visits of walks, each at a vertex drawn uniformly."""
    from pyspark.sql import functions as F

    walks = spark.range(begin, end).select(place_of(0, F.col("id")).alias("place"))
    return walks.select(
        below(F.lit(vertices), seed, "start", F.col("place")).alias("vertex"), "place"
    )


def start_among(
    spark: SparkSession, begin: int, end: int, seeds: DataFrame, count: int, seed: int
) -> DataFrame:
    """Return first visits of walks, each at one of the seed vertices ``number``, ``id``."""
    from pyspark.sql import functions as F

    walks = spark.range(begin, end).select(place_of(0, F.col("id")).alias("place"))
    drawn = walks.withColumn("_number", below(F.lit(count), seed, "start", F.col("place")))
    joined = seeds.join(drawn.hint("shuffle_hash"), F.col("number") == F.col("_number"))
    return joined.select(F.col("id").alias("vertex"), "place")


def start_unvisited(
    spark: SparkSession, round_: int, visited: DataFrame, vertices: int, share: float, seed: int
) -> DataFrame:
    """Return first visits of walks at a share of the vertices without a visit, in random order."""
    from pyspark.sql import functions as F

    others = spark.range(vertices).join(visited, F.col("id") == F.col("vertex"), "left_anti")
    drawn = others.where(chance(seed, f"fill {round_}", F.col("id")) < share)
    order = F.xxhash64(F.lit(seed), F.lit(f"order {round_}"), F.col("id"))
    walk = F.shiftrightunsigned(order, 64 - WALK_BITS)
    return drawn.select(F.col("id").alias("vertex"), place_of(round_, walk).alias("place"))


def highest_degrees(
    spark: SparkSession, degrees: DataFrame, vertices: int, count: int
) -> DataFrame:
    """Return ``id`` and ``number`` (0, 1, …) of the vertices of highest degree.

    Ties at the last place go to the lower ids. Only how many vertices have which degree comes to
    the driver.

    Parameters
    ----------
    spark : SparkSession
    degrees : DataFrame
        ``id`` and ``degree`` of the vertices that have edges.
    vertices, count : int
        How many there are, and how many to take.
    """
    from pyspark.sql import functions as F

    histogram = degrees.groupBy("degree").count().orderBy(F.desc("degree")).collect()
    least, places = 0, count
    for row in histogram:
        if row["count"] >= places:
            least = row["degree"]
            break
        places -= row["count"]
    if least:
        ties = degrees.where(F.col("degree") == least)
    else:
        ties = spark.range(vertices).join(degrees, "id", "left_anti")
    ties, _ = numbered(cut_off(ties.select("id")), "id", name="place")
    ties = ties.where(F.col("place") < places).select("id")
    above = degrees.where(F.col("degree") > least).select("id")
    return numbered(cut_off(above.union(ties)), "id", name="number")[0]
