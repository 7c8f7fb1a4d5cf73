"""Forest fire (FF)."""

from __future__ import annotations

import numpy as np
from numba import njit

from samplers.base import Sampler, Visits, check_share
from samplers.csr import CSRArrays, IntArray
from samplers.splitmix import State, below, chance_threshold, happens
from samplers.walk import Marks, unvisited


class ForestFire(Sampler):
    """Fires that spread along out-edges.

    A fire is lit at an unvisited vertex drawn uniformly. Each burning vertex sets fire to `x`
    unvisited out-neighbours, chosen uniformly, where `x` is geometric with mean ``p / (1 - p)`` for
    ``p = burning``. When a fire has died the next one is lit (Leskovec and Faloutsos, "Sampling
    from large graphs", KDD 2006, section 3.3: forward burning only).

    Parameters
    ----------
    burning : float, default 0.7
        Forward burning probability, in [0, 1).
    """

    name = "ff"

    def __init__(self, *, burning: float = 0.7) -> None:
        self.burning = burning

    def _check_options(self) -> None:
        check_share("burning", self.burning, zero=True, one=False)

    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        vertices = np.empty(target, dtype=graph.indices.dtype)
        found, steps, fires, edges, capped = _burn(
            graph.indptr,
            graph.indices,
            chance_threshold(self.burning),
            max_edges,
            state,
            np.zeros(graph.vertices, dtype=np.uint8),
            vertices,
        )
        return Visits(
            vertices[:found], steps=steps, restarts=fires - 1, edges_scanned=edges, capped=capped
        )


@njit(cache=True, nogil=True)
def _burn(
    indptr: IntArray,
    indices: IntArray,
    burning: np.uint64,
    max_edges: int,
    state: State,
    visited: Marks,
    vertices: IntArray,
) -> tuple[int, int, int, int, bool]:
    # The vertices found so far, from `head` on, are those that still have to burn: the result is
    # the queue, and no other memory is needed.
    found, head, steps, fires, edges = 0, 0, 0, 0, 0
    first = below(state, visited.size)
    while True:
        if head == found:
            v = first if found == 0 else unvisited(state, visited)
            out_degree = indptr[v + 1] - indptr[v]
            if found > 0 and edges + out_degree > max_edges:
                return found, steps, fires, edges, True
            fires += 1
            visited[v] = 1
            vertices[found] = v
            found += 1
            edges += out_degree
            if found == vertices.size:
                return found, steps, fires, edges, False
        v = vertices[head]
        head += 1
        steps += 1
        spread = 0
        while happens(state, burning):
            spread += 1
        # A fire cut short by the target must not prefer the neighbours that come first.
        spread = min(spread, vertices.size - found)
        if spread == 0:
            continue
        start, end = indptr[v], indptr[v + 1]
        candidates = 0
        for e in range(start, end):
            candidates += 1 - visited[indices[e]]
        # Selection sampling: each candidate is taken with probability (still to take) / (left).
        # Parallel edges count as candidates until the first of them is taken.
        for e in range(start, end):
            if spread <= 0 or candidates <= 0:
                break
            w = indices[e]
            if visited[w]:
                continue
            if spread >= candidates or below(state, candidates) < spread:
                out_degree = indptr[w + 1] - indptr[w]
                if edges + out_degree > max_edges:
                    return found, steps, fires, edges, True
                visited[w] = 1
                vertices[found] = w
                found += 1
                edges += out_degree
                spread -= 1
                if found == vertices.size:
                    return found, steps, fires, edges, False
            candidates -= 1
