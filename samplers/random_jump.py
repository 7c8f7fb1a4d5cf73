"""Random Jump (RJ)."""

from __future__ import annotations

import numpy as np

from samplers._random import State
from samplers.base import Visits
from samplers.csr import CSRArrays
from samplers.walk import RestartWalk

__all__ = ["RandomJump"]


class RandomJump(RestartWalk):
    """Walk along random out-edges; with probability `restart` jump to any vertex.

    Cannot stay in an isolated region (PREDIcT, section 3.2.1; Leskovec and Faloutsos, "Sampling
    from large graphs", KDD 2006, section 3.3).

    Parameters
    ----------
    restart : float, default 0.15
        Probability, at each step, that a new walk begins at a vertex drawn uniformly; in [0, 1];
        the default is that of PREDIcT, section 5.3.
    patience : int, default 1000
        Steps in a row without a new vertex after which one is filled in; see
        :mod:`samplers.walk`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> ring = csr_array(np.roll(np.eye(8, dtype=int), 1, axis=1))
    >>> RandomJump(restart=0).sample(ring, 0.5, random_state=1).vertices
    array([6, 7, 0, 1], dtype=int32)
    """

    name = "rj"

    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        anywhere = np.empty(0, dtype=np.int64)
        return self._walk(graph, anywhere, target, max_edges, state)
