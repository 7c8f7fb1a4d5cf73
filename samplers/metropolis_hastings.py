"""Metropolis–Hastings random walk (MHRW)."""

from __future__ import annotations

import numpy as np

from samplers._random import State
from samplers.base import Visits
from samplers.csr import CSRArrays
from samplers.walk import RestartWalk


class MetropolisHastingsRandomWalk(RestartWalk):
    """A walk without the bias to high degrees: it visits every vertex equally often.

    At vertex *v* a neighbour *w* is proposed uniformly and accepted with probability
    ``min(1, d_v / d_w)``; refused, the walk stays at *v* (Gjoka, Kurant, Butts and Markopoulou,
    "Walking in Facebook", INFOCOM 2010, section III). Restarts go to any vertex, uniformly, which
    leaves the uniform distribution as it is (section 5.3 of PREDIcT restarts every sampler with
    probability 0.15).

    Edges of a directed graph are walked both ways, and the degree is the sum of out- and
    in-degree: a pair of opposite edges counts twice, in the degree and in the proposal, so the
    distribution stays uniform. In-neighbours come from the reverse of the graph: its attribute
    ``reverse``, or else one is built, which takes as much memory as the graph.

    Parameters
    ----------
    restart : float, default 0.15
        Probability, at each step, of a jump to a vertex drawn uniformly; in [0, 1].
    patience : int, default 1000
        Steps in a row without a new vertex after which one is filled in; see
        :mod:`samplers.walk`.
    """

    name = "mhrw"

    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        anywhere = np.empty(0, dtype=np.int64)
        return self._walk(graph, anywhere, target, max_edges, state, reverse=graph.reverse())
