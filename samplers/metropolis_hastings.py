"""Metropolis–Hastings random walk (MHRW)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from samplers._random import RandomState, State, below, chance_threshold, happens
from samplers.base import Sample, Visits
from samplers.csr import CSRArrays, check_csr
from samplers.walk import IntArray, Marks, RestartWalk, less_patience, more_patience, unvisited

__all__ = ["MetropolisHastingsRandomWalk"]


class MetropolisHastingsRandomWalk(RestartWalk):
    """A walk without the bias to high degrees: it visits every vertex equally often.

    At vertex *v* a neighbour *w* is proposed uniformly and accepted with probability
    ``min(1, d_v / d_w)``; refused, the walk stays at *v* (Gjoka, Kurant, Butts and Markopoulou,
    "Walking in Facebook", INFOCOM 2010, section III). Restarts go to any vertex, uniformly, which
    leaves the uniform distribution as it is (section 5.3 of PREDIcT restarts every sampler with
    probability 0.15).

    Edges of a directed graph are walked both ways, and the degree is the sum of out- and
    in-degree: a pair of opposite edges counts twice, in the degree and in the proposal, so the
    distribution stays uniform. This needs the reverse of the graph; see `reverse` of
    :meth:`sample`.

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
            The graph with every edge turned round. Without it the ``reverse`` attribute of a
            directed graph is used, and without that one the reverse is built for this sample,
            which takes as much memory as the graph. Not needed for an undirected graph.
        """
        return super().sample(check_csr(csr, reverse), ratio, random_state, max_edges)

    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        reverse = graph.reverse()
        vertices = np.empty(target, dtype=graph.indices.dtype)
        found, steps, restarts, dead_ends, unreached, edges, capped = _metropolis_hastings(
            graph.indptr,
            graph.indices,
            reverse.indptr,
            reverse.indices,
            graph.directed,
            chance_threshold(self.restart),
            max_edges,
            self.patience,
            state,
            np.zeros(graph.vertices, dtype=np.uint8),
            vertices,
        )
        return Visits(vertices[:found], steps, restarts, dead_ends, unreached, edges, capped)


@njit(cache=True, nogil=True)
def _degree(indptr: IntArray, reverse_indptr: IntArray, both: bool, v: int) -> int:
    degree = indptr[v + 1] - indptr[v]
    if both:
        degree += reverse_indptr[v + 1] - reverse_indptr[v]
    return int(degree)


@njit(cache=True, nogil=True)
def next_vertex(
    indptr: IntArray,
    indices: IntArray,
    reverse_indptr: IntArray,
    reverse_indices: IntArray,
    both: bool,
    v: int,
    degree: int,
    state: State,
) -> tuple[int, int]:
    """Return where one step from `v` leads, and the degree there; `degree` is that of `v`, > 0.

    With `both` the edges of the reverse count too.
    """
    out_degree = indptr[v + 1] - indptr[v]
    i = below(state, degree)
    if i < out_degree:
        w = indices[indptr[v] + i]
    else:
        w = reverse_indices[reverse_indptr[v] + i - out_degree]
    proposed = _degree(indptr, reverse_indptr, both, w)
    # An integer below d_w is below d_v with probability d_v / d_w, exactly.
    if proposed <= degree or below(state, proposed) < degree:
        return w, proposed
    return v, degree


@njit(cache=True, nogil=True)
def _metropolis_hastings(
    indptr: IntArray,
    indices: IntArray,
    reverse_indptr: IntArray,
    reverse_indices: IntArray,
    both: bool,
    restart: np.uint64,
    max_edges: int,
    patience: int,
    state: State,
    visited: Marks,
    vertices: IntArray,
) -> tuple[int, int, int, int, int, int, bool]:
    n = visited.size
    found, steps, restarts, dead_ends, unreached, edges = 0, 0, 0, 0, 0, 0
    allowed, fruitless = patience, 0
    filled_in = False
    v = below(state, n)
    degree = _degree(indptr, reverse_indptr, both, v)
    while True:
        if visited[v]:
            fruitless += 1
        else:
            out_degree = indptr[v + 1] - indptr[v]
            if found > 0 and edges + out_degree > max_edges:
                return found, steps, restarts, dead_ends, unreached, edges, True
            visited[v] = 1
            vertices[found] = v
            found += 1
            edges += out_degree
            unreached += filled_in
            if found == vertices.size:
                return found, steps, restarts, dead_ends, unreached, edges, False
            if not filled_in:
                allowed = more_patience(allowed, patience)
            fruitless = 0
        filled_in = fruitless >= allowed
        if filled_in:
            v = unvisited(state, visited)
            degree = _degree(indptr, reverse_indptr, both, v)
            allowed = less_patience(allowed)
            continue
        steps += 1
        if happens(state, restart):
            restarts += 1
            v = below(state, n)
            degree = _degree(indptr, reverse_indptr, both, v)
        elif degree == 0:
            dead_ends += 1
            v = below(state, n)
            degree = _degree(indptr, reverse_indptr, both, v)
        else:
            v, degree = next_vertex(
                indptr, indices, reverse_indptr, reverse_indices, both, v, degree, state
            )
