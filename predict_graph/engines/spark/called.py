"""Algorithms that Spark runs by a call: of a library, or of a user's function."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from predict_graph.algorithms import Algorithm

if TYPE_CHECKING:
    from predict_graph.engines.base import RunFollower
    from predict_graph.engines.profile import RunProfile
    from predict_graph.engines.spark.session.opening import OpenSession
    from predict_graph.engines.spark.session.settings import SparkSettings
    from predict_graph.graph import Graph


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
