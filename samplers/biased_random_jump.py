"""Biased Random Jump (BRJ)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from samplers._random import State
from samplers.base import Visits, check_share
from samplers.csr import CSRArrays, check_csr
from samplers.walk import PATIENCE, IntArray, RestartWalk

__all__ = ["BiasedRandomJump"]

_BITS = 12  # a choice, of a degree in one pass: 4,096 counters stay in the nearest cache


class BiasedRandomJump(RestartWalk):
    """Random Jump whose walks all begin among the vertices of highest out-degree.

    Prefers the core of the graph, on which the convergence of many algorithms depends (PREDIcT,
    section 3.2.1; defaults of section 5.3).

    Parameters
    ----------
    restart : float, default 0.15
        Probability, at each step, that a new walk begins at a seed vertex; in [0, 1].
    seed_fraction : float, default 0.01
        Share of the vertices that are seeds, in (0, 1]; at least one vertex. Ties at the last
        place go to the lower ids.
    patience : int, default 1000
        Steps in a row without a new vertex after which one is filled in; see
        :mod:`samplers.walk`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> star = csr_array((np.ones(4, dtype=int), ([2, 2, 2, 2], [0, 1, 3, 4])), shape=(5, 5))
    >>> sampler = BiasedRandomJump()
    >>> sampler.seeds(star)
    array([2])
    >>> int(sampler.sample(star, 0.4, random_state=0).vertices[0])
    2
    """

    name = "brj"

    def __init__(
        self, *, restart: float = 0.15, seed_fraction: float = 0.01, patience: int = PATIENCE
    ) -> None:
        super().__init__(restart=restart, patience=patience)
        self.seed_fraction = seed_fraction

    def seeds(self, csr: Any) -> npt.NDArray[np.int64]:
        """Return the seed vertices of a graph, ascending, shape ``(max(1, round(f * n)),)``."""
        self._check_options()
        graph = check_csr(csr)
        chosen = np.empty(max(1, round(self.seed_fraction * graph.vertices)), dtype=np.int64)
        _highest_degrees(graph.indptr, chosen)
        return chosen

    def _check_options(self) -> None:
        super()._check_options()
        check_share("seed_fraction", self.seed_fraction, zero=False, one=True)

    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        return self._walk(graph, self.seeds(graph), target, max_edges, state)


@njit(cache=True, nogil=True)
def _highest_degrees(indptr: IntArray, chosen: npt.NDArray[np.int64]) -> None:
    # Radix selection: digit by digit, from the highest, it narrows the degree of the k-th place
    # down. A partition would need the degrees and an order as arrays, 16 bytes a vertex.
    n = indptr.size - 1
    k = chosen.size
    largest = 0
    for v in range(n):
        largest = max(largest, indptr[v + 1] - indptr[v])
    shift = 0
    while largest >> (shift + _BITS) > 0:
        shift += _BITS
    prefix = 0
    place = k
    counts = np.empty(1 << _BITS, dtype=np.int64)
    while shift >= 0:
        counts[:] = 0
        for v in range(n):
            degree = indptr[v + 1] - indptr[v]
            if degree >> (shift + _BITS) == prefix:
                counts[(degree >> shift) & ((1 << _BITS) - 1)] += 1
        digit = (1 << _BITS) - 1
        while counts[digit] < place:
            place -= counts[digit]
            digit -= 1
        prefix = (prefix << _BITS) | digit
        shift -= _BITS
    # `prefix` is now that degree, and `place` says how many vertices of just that degree belong.
    at = 0
    for v in range(n):
        degree = indptr[v + 1] - indptr[v]
        if degree > prefix or (degree == prefix and place > 0):
            place -= degree == prefix
            chosen[at] = v
            at += 1
