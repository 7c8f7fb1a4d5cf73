"""Loading a graph for a library, from files that fix the partition of each edge."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm
from predict_graph.engines.spark.session.graphframes import check_there
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.checkpoints import keeping_in
from predict_graph.errors import RequestError

_FILE_SIZE = "spark.sql.files.maxPartitionBytes"


class _GraphX:
    """A GraphX graph by ``GraphLoader.edgeListFile``, whose vertices and routing tables are then
    set up.
    """

    def __init__(self, session: OpenSession) -> None:
        self.session = session
        self.loaded: Any = None

    @contextmanager
    def opened(self, folder: Path) -> Iterator[None]:
        """Change the session settings that the library needs, and restore them."""
        yield

    def read(self, source: Path) -> None:
        """Read the edges from a folder with a file for each partition."""
        spark: Any = self.session.for_functions
        level = spark._jvm.org.apache.spark.storage.StorageLevel.MEMORY_ONLY()
        self.loaded = spark._jvm.org.apache.spark.graphx.GraphLoader.edgeListFile(
            *(spark.sparkContext._jsc.sc(), source.as_uri(), False),
            *(self.session.settings.partitions, level, level),
        )

    def graph(self, vertices: int) -> Any:
        """Return the graph of the edges that were read."""
        self.loaded.vertices().count()
        return self.loaded

    def compute(self, result: Any) -> None:
        """Compute a result in full and discard it."""
        result.vertices().count()


class _GraphFrames(_GraphX):
    """A GraphFrame of two tables, with our settings for tables.

    Vertices without edges are included.
    """

    @contextmanager
    def opened(self, folder: Path) -> Iterator[None]:
        java: Any = self.session.spark._jvm
        check_there(java)
        try:
            with keeping_in(self.session.spark, folder):
                yield
        finally:
            if self.loaded is not None:
                self.loaded.unpersist()

    def read(self, source: Path) -> None:
        spark = self.session.spark
        before = spark.conf.get(_FILE_SIZE)
        spark.conf.set(_FILE_SIZE, "1")  # Spark merges small files up to this size
        try:
            rows = spark.read.schema("src long, dst long").csv(str(source), sep=" ")
            self.loaded = rows.persist()
            self.loaded.count()
        finally:
            spark.conf.set(_FILE_SIZE, str(before))

    def graph(self, vertices: int) -> Any:
        spark: Any = self.session.spark
        table: Any = spark.range(0, vertices, 1, self.session.settings.partitions)
        return spark._jvm.org.graphframes.GraphFrame.apply(table._jdf, self.loaded._jdf)

    def compute(self, result: Any) -> None:
        result.write().format("noop").mode("overwrite").save()


def loader_of(algorithm: LibraryAlgorithm, session: OpenSession) -> _GraphX:
    """Return the loader of the graph that an algorithm needs."""
    return (_GraphFrames if algorithm.library == "GraphFrames" else _GraphX)(session)


def check_partitions(algorithm: LibraryAlgorithm, context: Any, partitions: int) -> None:
    """Reject a session that would use another number of edge partitions."""
    name = "spark.default.parallelism"
    there = int(context.defaultParallelism()) if context.getConf().contains(name) else partitions
    if there != partitions:
        raise RequestError(
            f"{name} is {there} in this session, and {algorithm.name} distributes edges over "
            f"as many partitions; accepted: {partitions}, or none"
        )
