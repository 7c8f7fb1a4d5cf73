"""How a library gets its graph: from files in which it is known where each edge lies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm
from predict_graph.engines.spark.session.graphframes import check_there
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.checkpoints import keeping_in
from predict_graph.errors import RequestError

__all__ = ["check_partitions", "loader_of"]

_FILE_SIZE = "spark.sql.files.maxPartitionBytes"


class _Loader(ABC):
    """Reads edges into memory, and makes a graph of them."""

    def __init__(self, session: OpenSession) -> None:
        self.session = session
        self.loaded: Any = None

    @contextmanager
    def opened(self, folder: Path) -> Iterator[None]:
        """Change what the library needs of the session, and put it back."""
        yield

    @abstractmethod
    def read(self, source: Path) -> None:
        """Read the edges from a folder with a file for each partition."""

    @abstractmethod
    def graph(self, vertices: int) -> Any:
        """Return the graph, of edges that are read."""

    @abstractmethod
    def compute(self, result: Any) -> None:
        """Compute a result in full and keep nothing."""


class _GraphX(_Loader):
    """``GraphLoader.edgeListFile``; vertices, and where their edges are, are then set up."""

    def read(self, source: Path) -> None:
        spark: Any = self.session.for_functions
        level = spark._jvm.org.apache.spark.storage.StorageLevel.MEMORY_ONLY()
        self.loaded = spark._jvm.org.apache.spark.graphx.GraphLoader.edgeListFile(
            *(spark.sparkContext._jsc.sc(), source.as_uri(), False),
            *(self.session.settings.partitions, level, level),
        )

    def graph(self, vertices: int) -> Any:
        self.loaded.vertices().count()
        return self.loaded

    def compute(self, result: Any) -> None:
        result.vertices().count()


class _GraphFrames(_Loader):
    """A GraphFrame of two tables, with the settings of tables that we have.

    Its vertices are all, those without edges, too.
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
        spark.conf.set(_FILE_SIZE, "1")  # Spark puts small files together, up to this size
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


_LOADERS: dict[str, type[_Loader]] = {"GraphX": _GraphX, "GraphFrames": _GraphFrames}


def loader_of(algorithm: LibraryAlgorithm, session: OpenSession) -> _Loader:
    """Return what makes the graph that an algorithm is called on."""
    return _LOADERS[algorithm.library](session)


def check_partitions(algorithm: LibraryAlgorithm, context: Any, partitions: int) -> None:
    """Refuse a session that deals edges to another number of partitions than they came from.

    Raises
    ------
    RequestError
    """
    name = "spark.default.parallelism"
    there = int(context.defaultParallelism()) if context.getConf().contains(name) else partitions
    if there != partitions:
        raise RequestError(
            f"{name} is {there} in this session, and {algorithm.name} deals edges to so many "
            f"partitions; accepted: {partitions}, or none"
        )
