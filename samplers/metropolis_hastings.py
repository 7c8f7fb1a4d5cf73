"""Metropolis–Hastings random walk (MHRW)."""

from __future__ import annotations

from typing import Any

import numpy as np

from samplers._random import RandomState, State
from samplers.base import Sample, Visits
from samplers.csr import CSRArrays, check_csr
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
    distribution stays uniform. In-neighbours come from the reverse of the graph, which is built
    where it is not at hand, and takes as much memory as the graph.

    Parameters
    ----------
    restart : float, default 0.15
        Probability, at each step, of a jump to a vertex drawn uniformly; in [0, 1].
    patience : int, default 1000
        Steps in a row without a new vertex after which one is filled in; see
        :mod:`samplers.walk`.
    """

    name = "mhrw"

    def sample(
        self,
        csr: Any,
        ratio: float,
        random_state: RandomState = None,
        max_edges: int | None = None,
        *,
        reverse: Any = None,
    ) -> Sample:
        """Pick vertices of a graph, as :meth:`Sampler.sample` does.

        Parameters
        ----------
        csr, ratio, random_state, max_edges
            As in :meth:`Sampler.sample`.
        reverse : graph-like, optional
            The graph with every edge turned round; by default the ``reverse`` attribute of a
            directed graph, or else it is built. Not needed for an undirected graph.
        """
        return super().sample(check_csr(csr, reverse), ratio, random_state, max_edges)

    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        anywhere = np.empty(0, dtype=np.int64)
        return self._walk(graph, anywhere, target, max_edges, state, reverse=graph.reverse())
