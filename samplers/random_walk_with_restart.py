"""Random walk with restart (RWR)."""

from __future__ import annotations

import numpy as np

from samplers._random import State, below
from samplers.base import Visits
from samplers.csr import CSRArrays
from samplers.walk import RestartWalk

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
    """

    name = "rwr"

    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        start = np.array([below(state, graph.vertices)], dtype=np.int64)
        return self._walk(graph, start, target, max_edges, state, moving=True)
