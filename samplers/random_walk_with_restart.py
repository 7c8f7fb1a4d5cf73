"""Random walk with restart (RWR)."""

from __future__ import annotations

import numpy as np

from samplers._random import State, below
from samplers.base import Visits
from samplers.csr import CSRArrays
from samplers.walk import PATIENCE, RestartWalk

__all__ = ["RandomWalkWithRestart"]


class RandomWalkWithRestart(RestartWalk):
    """Walk along random out-edges; with probability `restart` fly back to the start.

    When the walk has found nothing new for `patience` steps it takes another start, unvisited and
    drawn uniformly (Leskovec and Faloutsos, KDD 2006, section 3.3); the sample counts those starts
    as `unreached`.

    Parameters
    ----------
    restart : float, default 0.15
        Probability, at each step, of flying back to the start; in [0, 1].
    patience : int, default 1000
        Steps in a row without a new vertex after which the start is given up; see
        :mod:`samplers.walk`.
    start : int, optional
        Vertex to start at; drawn uniformly when not given.
    """

    name = "rwr"

    def __init__(
        self, *, restart: float = 0.15, patience: int = PATIENCE, start: int | None = None
    ) -> None:
        super().__init__(restart=restart, patience=patience)
        self.start = start

    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        start = below(state, graph.vertices) if self.start is None else self.start
        if isinstance(start, bool) or start not in range(graph.vertices):
            raise ValueError(
                f"start is {start!r}; accepted: a vertex from 0 to {graph.vertices - 1}, or None"
            )
        starts = np.array([start], dtype=np.int64)
        return self._walk(graph, starts, target, max_edges, state, moving=True)
