"""What an algorithm of a library declares: how it is called, and the twin that counts it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Self

import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.algorithms.naming import NamedVertices, check_ids
from predict_graph.engines.spark.library.layout import EdgeLayout, layout_of
from predict_graph.graph import Graph

__all__ = [
    "TWIN_COLUMNS",
    "LibraryAlgorithm",
    "NamedLibraryAlgorithm",
    "rounds_of",
]

TWIN_COLUMNS = (
    *("active_vertices", "messages", "records", "entries", "merged", "received", "shipped"),
)
"""Of each superstep of a twin: vertices that send, messages that they send, records that these are
combined to in the partitions, entries in those records (one each, or those of maps, lists or sets
that go along with them), entries that combining or comparing goes over, vertices that receive, and
copies of changed vertices that are sent to partitions with edges of them.

In loops over tables messages are rows before they are combined, entries numbers beyond two a row,
received vertices those of another result, and shipped rows those that are sent to be joined."""


class LibraryAlgorithm(Algorithm):
    """An algorithm of a library: Spark runs it as it is, and a twin counts its supersteps.

    The twin stops by the same rule, superstep by superstep. Those of GraphX are the ones in which
    messages are made, the last of which may find none.
    """

    library: ClassVar[str]
    """What the library calls itself."""
    convergence = "fixed-point"
    runs_on: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    told_by: ClassVar[str] = "messages"
    """What tells supersteps apart in the log: jobs in which GraphX makes messages; stages that do,
    of one job that begins when the result is asked for; or sums that end a round over tables."""
    aggregations_before: ClassVar[int] = 0
    """Messages along all edges that GraphX sends before the first superstep: to count degrees."""

    @property
    def runs(self) -> str:
        """What is run in the end, itself as a rule, whose costs are known beforehand."""
        return self.name

    @property
    def max_iterations(self) -> int:
        """No limit of ours."""
        return 2**31

    def threshold(self, vertices: int) -> float:
        """Return 0: when it stops is the library's affair."""
        return 0.0

    def within(self, graph: Graph) -> Self:
        """Return the algorithm as it is called on a graph, be it a sample: itself, as a rule."""
        return self

    @property
    def at(self) -> tuple[int, ...]:
        """The vertices that a parameter names, in the graph that it is within."""
        return ()

    def call(self, java: Any, graph: Any) -> Any:
        """Return the Java object of the result.

        Parameters
        ----------
        java : JVMView
            Of the gateway of pyspark.
        graph : JavaObject
            The graph as the library has it: ``org.apache.spark.graphx.Graph``, of edges with a
            number each, or ``org.graphframes.GraphFrame``.
        """
        return self.part_for("spark")(self, java, graph)

    def twin(self, layout: EdgeLayout) -> pd.DataFrame:
        """Return a row of ``TWIN_COLUMNS`` for each superstep."""
        found: pd.DataFrame = self.part_of("twin")(self, layout)
        return found


class NamedLibraryAlgorithm(NamedVertices, LibraryAlgorithm):
    """One with a parameter that names vertices."""

    def __init__(self, **parameters: object) -> None:
        name = self.named_by
        if name in parameters:
            parameters[name] = check_ids(name, parameters[name])
        super().__init__(**parameters)

    @property
    def at(self) -> tuple[int, ...]:
        """The vertices that it names, or that stand for them."""
        return () if self.known is None else tuple(self.known.tolist())


_last: dict[tuple[Any, ...], pd.DataFrame] = {}


def rounds_of(algorithm: LibraryAlgorithm, graph: Graph, partitions: int) -> pd.DataFrame:
    """Return what each superstep does on a graph whose edges are in so many partitions: exact.

    The last two answers are kept: the stages of a prediction ask one after the other.
    """
    algorithm = algorithm.within(graph)
    key = (algorithm.name, str(algorithm.to_dict()), algorithm.at, graph.fingerprint, partitions)
    if key not in _last:
        while len(_last) > 1:
            _last.pop(next(iter(_last)))
        _last[key] = algorithm.twin(layout_of(graph, partitions))
    return _last[key]
