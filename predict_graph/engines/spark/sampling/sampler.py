"""Samplers for graphs that Spark holds: RJ, BRJ and MHRW, many walks at once."""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from predict_graph.engines.spark.sampling.adjacency import Adjacency, adjacency
from predict_graph.engines.spark.sampling.randomness import below, chance, new_seed
from predict_graph.engines.spark.sampling.starts import (
    highest_degrees,
    start_among,
    start_anywhere,
    start_unvisited,
)
from predict_graph.engines.spark.sampling.walks import STEP_BITS, WALK_BITS, Visits, walk_until
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.checkpoints import cut_off, cutting_off_in_a_row, forget
from predict_graph.engines.spark.tables.numbering import numbered
from predict_graph.engines.spark.tables.reading import SparkGraph
from predict_graph.errors import RequestError, unknown_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SPARK_SAMPLERS", "SparkSample", "SparkSampler"]

SPARK_SAMPLERS = ("rj", "brj", "mhrw")
_LEAST_RESTART = 0.05  # a choice: walks side by side must end (docs/spark-sampling.md)


@dataclass(frozen=True, eq=False, repr=False)
class SparkSample:
    """The vertices that a sampler picked on Spark, and how it came by them.

    Parameters
    ----------
    table : DataFrame
        ``position``, ``vertex`` and ``place``: distinct vertices in the order of their first visit,
        which ``place`` tells (see :mod:`~predict_graph.engines.spark.sampling.walks`); in memory.
    vertices : int
        How many.
    sampler : str
    ratio : float
        Sampling ratio asked for.
    requested : int
        Number of vertices asked for, ``max(1, round(ratio * n))``.
    walks : int
        Walks that were begun; those at unvisited vertices are not among them.
    steps : int
        Visits of all walks, also of those that turned out not to be needed.
    unreached : int
        Vertices of the sample that were filled in, because the walks had stopped finding new ones.
    edges_scanned : int
        Sum of the out-degrees of the sampled vertices.
    supersteps, jobs : int
        Steps that all walks made together, and Spark jobs for them.
    seconds : float
        Wall time, that of the adjacency included if it was not there yet.
    """

    table: DataFrame
    vertices: int
    sampler: str
    ratio: float
    requested: int
    walks: int
    steps: int
    unreached: int
    edges_scanned: int
    supersteps: int
    jobs: int
    seconds: float

    def __len__(self) -> int:
        return self.vertices

    def __repr__(self) -> str:
        filled = f"; {self.unreached} were filled in" if self.unreached else ""
        return (
            f"SparkSample({self.sampler!r}, {self.vertices} vertices, {self.edges_scanned} edges "
            f"scanned, {self.steps} steps in {self.supersteps} supersteps, {self.seconds:.3g} s"
            f"{filled})"
        )

    def forget(self) -> None:
        """Give the memory of the table back."""
        forget(self.table)


class SparkSampler:
    """Samples one graph, several times; keeps its adjacency in the memory of the executors.

    Parameters
    ----------
    session : OpenSession
    graph : SparkGraph
    """

    def __init__(self, session: OpenSession, graph: SparkGraph) -> None:
        self.session = session
        self.graph = graph
        self._adjacencies: dict[bool, Adjacency] = {}

    def __enter__(self) -> SparkSampler:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the memory of the adjacency back; samples stay."""
        while self._adjacencies:
            self._adjacencies.popitem()[1].forget()

    def sample(
        self,
        sampler: str,
        ratio: float,
        random_state: int | np.random.Generator | None = None,
        *,
        restart: float = 0.15,
        seed_fraction: float = 0.01,
        patience: int = 1000,
    ) -> SparkSample:
        """Pick vertices, as the compiled sampler of the same name would.

        The same seed gives the same sample, whatever the cluster and the partitions; but not the
        one that the compiled sampler takes for this seed.

        Parameters
        ----------
        sampler : {"rj", "brj", "mhrw"}
        ratio : float
            Share of the vertices, in (0, 1].
        random_state : int, numpy.random.Generator or None
        restart : float
            Probability, at each step, that a walk ends and another begins; in [0.05, 1].
        seed_fraction : float
            Of BRJ: share of the vertices, those of highest out-degree, at which walks begin.
        patience : int
            Visits without a new vertex, on average, after which walks begin at unvisited vertices.

        Raises
        ------
        RequestError
            If an argument is not accepted.
        JobError
            If Spark fails.
        """
        if sampler not in SPARK_SAMPLERS:
            raise unknown_name("sampler on Spark", sampler, SPARK_SAMPLERS)
        _check_range("ratio", ratio, 0.0, 1.0)
        _check_range("seed_fraction", seed_fraction, 0.0, 1.0)
        if not _LEAST_RESTART <= restart <= 1:
            raise RequestError(
                f"restart is {restart!r}; accepted: a number in [{_LEAST_RESTART}, 1]; walks side "
                "by side must end"
            )
        if patience < 1:
            raise RequestError(f"patience is {patience!r}; accepted: an integer >= 1")
        try:
            seed = new_seed(random_state)
        except ValueError as error:
            raise RequestError(str(error)) from error
        started = time.perf_counter()
        self.session.group(f"sample {sampler}")
        requested = max(1, round(ratio * self.graph.vertices))
        with spark_failures("sampling on Spark"), cutting_off_in_a_row(self.session.spark):
            visits = self._walk(sampler, requested, seed, restart, seed_fraction, patience)
            table, unreached, edges = self._first_visits(visits, requested)
            visits.forget()
        return SparkSample(
            table=table,
            vertices=requested,
            sampler=sampler,
            ratio=float(ratio),
            requested=requested,
            walks=visits.walks,
            steps=visits.made,
            unreached=unreached,
            edges_scanned=edges,
            supersteps=visits.supersteps,
            jobs=visits.jobs,
            seconds=time.perf_counter() - started,
        )

    def _walk(
        self,
        sampler: str,
        target: int,
        seed: int,
        restart: float,
        seed_fraction: float,
        patience: int,
    ) -> Visits:
        """Walk until `target` vertices are visited."""
        from pyspark.sql import functions as F

        spark, vertices = self.session.spark, self.graph.vertices
        both = sampler == "mhrw" and self.graph.directed
        around = self._adjacency(both)
        place = F.col("place")

        def walkers(state: DataFrame) -> DataFrame:
            going = state.where(chance(seed, "restart", place) >= restart)
            return going.withColumn("share", chance(seed, "move", place))

        chosen = F.floor(F.col("share") * F.col("degree")).cast("bigint")

        def move(state: DataFrame) -> DataFrame:
            moved = around.neighbours(walkers(state), chosen)
            return moved.select(F.col("neighbour").alias("vertex"), (place + 1).alias("place"))

        def move_or_stay(state: DataFrame) -> DataFrame:
            proposed = around.neighbours(walkers(state), chosen)
            proposed = around.degrees_of(proposed, "neighbour", "their_degree")
            drawn = below(F.col("their_degree"), seed, "accept", place)
            vertex = F.when(drawn < F.col("degree"), F.col("neighbour")).otherwise(F.col("vertex"))
            return proposed.select(vertex.alias("vertex"), (place + 1).alias("place"))

        def refill(round_: int, visited: DataFrame, missing: int) -> DataFrame:
            # A choice: what is too many is cut.
            share = (1.1 * missing + 64) / max(vertices - (target - missing), 1)
            return start_unvisited(spark, round_, visited, vertices, share, seed)

        def anywhere(begin: int, end: int) -> DataFrame:
            return start_anywhere(spark, begin, end, vertices, seed)

        starts = anywhere
        if sampler == "brj":
            count = max(1, round(seed_fraction * vertices))
            seeds = highest_degrees(spark, around.degrees, vertices, count)

            def starts(begin: int, end: int) -> DataFrame:
                return start_among(spark, begin, end, seeds, count, seed)

        step = move_or_stay if sampler == "mhrw" else move
        return walk_until(target, step, starts, refill, restart=restart, patience=patience)

    def _adjacency(self, both: bool) -> Adjacency:
        if both not in self._adjacencies:
            self._adjacencies[both] = adjacency(self.session, self.graph, both=both)
        return self._adjacencies[both]

    def _out_degrees(self) -> DataFrame:
        """Return ``id`` and ``degree`` of the vertices with out-edges."""
        if False in self._adjacencies:
            return self._adjacencies[False].degrees
        return self.graph.edge_table(self.session).groupBy("src").count().toDF("id", "degree")

    def _first_visits(self, visits: Visits, target: int) -> tuple[DataFrame, int, int]:
        """Return the first `target` vertices, how many were filled in, and their out-edges."""
        from pyspark.sql import functions as F

        ordered, _ = numbered(visits.table, "place", "vertex", name="position")
        kept = cut_off(
            ordered.where(F.col("position") < target).select("position", "vertex", "place")
        )
        filled = (F.shiftright("place", WALK_BITS + STEP_BITS) > 0) & (
            F.col("place").bitwiseAND(F.lit((1 << STEP_BITS) - 1)) == 0
        )
        row = (
            kept.join(self._out_degrees(), F.col("id") == F.col("vertex"), "left")
            .agg(F.count_if(filled).alias("filled"), F.sum("degree").alias("edges"))
            .collect()[0]
        )
        return kept, int(row["filled"]), int(row["edges"] or 0)


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low < value <= high:
        raise RequestError(f"{name} is {value!r}; accepted: a number in ({low:g}, {high:g}]")
