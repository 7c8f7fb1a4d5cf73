"""Algorithms that Spark runs by a call: of a library, which has a local replay, or of a user."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines.spark.library.layout import EdgeLayout, layout_of
from predict_graph.graph import Graph
from predict_graph.plugins import loaded

if TYPE_CHECKING:
    from predict_graph.engines.base import RunFollower
    from predict_graph.engines.profile import RunProfile
    from predict_graph.engines.spark.session.opening import OpenSession
    from predict_graph.engines.spark.session.settings import SparkSettings

REPLAY_COLUMNS = ("active_vertices", "messages", "records", "entries", "received")
"""Counters of each superstep of a local replay: sending vertices, their messages, records after
combining in the partitions, entries in those records (one each, or those of maps, lists or sets),
and receiving vertices.

In loops over tables, messages are rows before combining, entries are numbers beyond the first of a
row, and received vertices have a changed result."""


class CalledAlgorithm(Algorithm):
    """An algorithm that Spark runs unchanged; its supersteps are found in the event log."""

    @property
    def max_iterations(self) -> int:
        """The limit of iterations: none."""
        return 2**31

    def threshold(self, vertices: int) -> float:
        """Return 0: the call has its own stopping rule."""
        return 0.0

    def check(self, settings: SparkSettings) -> None:
        """Check what a session of ours needs, before it is opened."""

    @abstractmethod
    def run_in(
        self, session: OpenSession, graph: Graph, follower: RunFollower | None
    ) -> RunProfile:
        """Run it on a graph; notify a follower of supersteps as they end."""


class LibraryAlgorithm(CalledAlgorithm):
    """A library algorithm that Spark runs unchanged; a local replay counts its supersteps.

    The local replay uses the same stopping rule. A GraphX superstep makes messages; the last one
    may find none.
    """

    library: ClassVar[str]
    """The name of the library."""
    convergence = "fixed-point"
    separated_by: ClassVar[str] = "messages"
    """How supersteps are separated in the log: by jobs in which GraphX makes messages; by stages
    that do so in a single job; or by sums that end a round over tables."""

    @property
    def runs(self) -> str:
        """The name of the algorithm whose costs apply: usually its own."""
        return self.name

    def within(self, graph: Graph) -> Self:
        """Return the algorithm with its parameters resolved for a graph or sample; unchanged by
        default.
        """
        return self

    @property
    def at(self) -> tuple[int, ...]:
        """The vertices that a parameter names, or those that represent them in a sample."""
        known = getattr(self, "known", None)
        return () if known is None else tuple(known.tolist())

    def run_in(
        self, session: OpenSession, graph: Graph, follower: RunFollower | None
    ) -> RunProfile:
        """Run it on a graph; notify a follower of supersteps as they end."""
        run = loaded("predict_graph.engines.spark.library.running:run_library")
        profile: RunProfile = run(self, session, graph, follower)
        return profile

    @abstractmethod
    def read(self, session: OpenSession, source: Path) -> Any:
        """Read and keep the edges from a folder with a file for each partition."""

    @abstractmethod
    def graph(self, session: OpenSession, edges: Any, vertices: int) -> Any:
        """Return the library's graph of the edges that were read."""

    @abstractmethod
    def call(self, java: Any, graph: Any) -> Any:
        """Call the library by its classes in Java; return the object of the result."""

    @abstractmethod
    def compute(self, result: Any) -> None:
        """Compute a result in full and discard it."""

    def replay(self, layout: EdgeLayout) -> pd.DataFrame:
        """Return a row of ``REPLAY_COLUMNS`` for each superstep."""
        found: pd.DataFrame = self.part_of("replay")(self, layout)
        return found


_last: dict[tuple[Any, ...], pd.DataFrame] = {}


def rounds_of(algorithm: LibraryAlgorithm, graph: Graph, partitions: int) -> pd.DataFrame:
    """Return exact counters of each superstep for a graph with so many edge partitions.

    The last two results are cached, since several stages of a prediction need them.
    """
    algorithm = algorithm.within(graph)
    key = (algorithm.name, str(algorithm.to_dict()), algorithm.at, graph.fingerprint, partitions)
    if key not in _last:
        while len(_last) > 1:
            _last.pop(next(iter(_last)))
        _last[key] = algorithm.replay(layout_of(graph, partitions))
    return _last[key]
