"""Metropolis–Hastings random walk (MHRW)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from samplers._random import RandomState, State, below, chance_threshold, happens, next64
from samplers.base import Sample, Visits
from samplers.csr import CSRArrays, IntArray, check_csr
from samplers.induced import is_marked
from samplers.segments import (
    DEAD_END,
    Segments,
    count_in_degrees,
    degree_of,
    next_vertex,
    walk_one_by_one,
    walk_side_by_side,
)
from samplers.walk import Marks, RestartWalk, less_patience, more_patience, unvisited

# Beyond these, passes over the edges would take far longer than building the reverse: for a tenth
# of the vertices, at a restart of 0.15, they take 10 to 30 times as long as walks with the reverse
# at hand (docs/studies/samplers.md).
_LARGEST_SHARE = 0.25
_LEAST_RESTART = 0.05
_SEGMENTS_A_VERTEX = 7.0  # times the restart probability; not tuned: it changes no sample
# Of the memory of the graph, at a time: column "memory" in docs/studies/samplers.md.
_SHARE_OF_MEMORY = 1 / 9
_BYTES_A_STEP, _BYTES_A_SEGMENT = 4, 56  # by definition
_LEAST_SEGMENTS = 256  # at a time; not tuned: it changes no sample
_SPARE = 1.1  # of what is still missing; not tuned: it changes no sample

# What is counted while segments are collected.
_FOUND, _STEPS, _RESTARTS, _DEAD_ENDS, _UNREACHED, _EDGES, _ALLOWED, _FRUITLESS = range(8)


class MetropolisHastingsRandomWalk(RestartWalk):
    """A walk without the bias to high degrees: it visits every vertex equally often.

    At vertex *v* a neighbour *w* is proposed uniformly and accepted with probability
    ``min(1, d_v / d_w)``; refused, the walk stays at *v* (Gjoka, Kurant, Butts and Markopoulou,
    "Walking in Facebook", INFOCOM 2010, section III). Restarts go to any vertex, uniformly, which
    leaves the uniform distribution as it is (section 5.3 of PREDIcT restarts every sampler with
    probability 0.15).

    Edges of a directed graph are walked both ways, and the degree is the sum of out- and
    in-degree: a pair of opposite edges counts twice, in the degree and in the proposal, so the
    distribution stays uniform. In-neighbours come from the reverse of the graph if it is at hand.
    If not, the walks between restarts go on side by side, and one pass over the edges finds the
    in-neighbours of a step of all of them (see :mod:`samplers.segments`): slower than building the
    reverse, in a tenth of its memory, and the same sample. The reverse is built only for samples of
    more than a quarter of the vertices, and for restarts rarer than 0.05.

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
            directed graph is used, if it was computed already. It makes a sample faster, and does
            not change it. Not needed for an undirected graph.
        """
        return super().sample(check_csr(csr, reverse), ratio, random_state, max_edges)

    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        if graph.directed and self.restart > 0:
            return self._visit_segments(graph, target, max_edges, state)
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

    def _visit_segments(
        self, graph: CSRArrays, target: int, max_edges: int, state: State
    ) -> Visits:
        """Walk as many segments as it takes; how many at a time changes nothing."""
        reverse = graph.reverse_at_hand()
        if reverse is None and (
            target > _LARGEST_SHARE * graph.vertices or self.restart < _LEAST_RESTART
        ):
            reverse = graph.reverse()
        degrees = None if reverse else count_in_degrees(graph.indices, graph.vertices)
        vertices = np.empty(target, dtype=graph.indices.dtype)
        visited = np.zeros(graph.vertices // 8 + 1, dtype=np.uint8)
        tally = np.zeros(_FRUITLESS + 1, dtype=np.int64)
        tally[_ALLOWED] = self.patience
        filling = np.array([next64(state)])
        each = _BYTES_A_SEGMENT + _BYTES_A_STEP / self.restart
        most = max(_LEAST_SEGMENTS, int(_SHARE_OF_MEMORY * graph.nbytes / each))
        needed = _SEGMENTS_A_VERTEX * self.restart * target
        while True:
            count = min(most, _LEAST_SEGMENTS + int(needed))
            segments = Segments.drawn(count, chance_threshold(self.restart), state, graph)
            if reverse is not None:
                walk_one_by_one(graph, reverse, segments)
            else:
                walk_side_by_side(graph, segments, degrees)
            before = int(tally[_FOUND])
            ended = _collect(
                graph.indptr,
                segments.offsets,
                segments.path,
                max_edges,
                self.patience,
                filling,
                visited,
                vertices,
                tally,
            )
            if ended:
                break
            found = int(tally[_FOUND])
            needed = _SPARE * count * (target - found) / max(1, found - before)
        found, steps, restarts, dead_ends, unreached, edges = (int(n) for n in tally[:_ALLOWED])
        capped = found < target
        return Visits(vertices[:found], steps, restarts, dead_ends, unreached, edges, capped)


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
    degree = degree_of(indptr, reverse_indptr, both, v)
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
            degree = degree_of(indptr, reverse_indptr, both, v)
            allowed = less_patience(allowed)
            continue
        steps += 1
        if happens(state, restart):
            restarts += 1
            v = below(state, n)
            degree = degree_of(indptr, reverse_indptr, both, v)
        elif degree == 0:
            dead_ends += 1
            v = below(state, n)
            degree = degree_of(indptr, reverse_indptr, both, v)
        else:
            v, degree = next_vertex(
                indptr, indices, reverse_indptr, reverse_indices, both, v, degree, state
            )


@njit(cache=True, nogil=True)
def _collect(
    indptr: IntArray,
    offsets: IntArray,
    path: IntArray,
    max_edges: int,
    patience: int,
    state: State,
    visited: Marks,
    vertices: IntArray,
    tally: IntArray,
) -> bool:
    """Take the new vertices of segments; return whether the sample is complete.

    A stall (see :mod:`samplers.walk`) fills in a vertex, and the segment goes on where it was.
    """
    for s in range(offsets.size - 1):
        for i in range(offsets[s], offsets[s + 1]):
            v = path[i]
            if v == DEAD_END:
                break
            tally[_STEPS] += i > offsets[s]
            if is_marked(visited, v):
                tally[_FRUITLESS] += 1
            else:
                if not _take(indptr, v, max_edges, visited, vertices, tally):
                    return True
                tally[_ALLOWED] = more_patience(tally[_ALLOWED], patience)
            if tally[_FOUND] < vertices.size and tally[_FRUITLESS] >= tally[_ALLOWED]:
                v = below(state, indptr.size - 1)
                while is_marked(visited, v):
                    v = below(state, indptr.size - 1)
                if not _take(indptr, v, max_edges, visited, vertices, tally):
                    return True
                tally[_UNREACHED] += 1
                tally[_ALLOWED] = less_patience(tally[_ALLOWED])
            if tally[_FOUND] == vertices.size:
                return True
        tally[_STEPS] += 1
        if path[offsets[s + 1] - 1] == DEAD_END:
            tally[_DEAD_ENDS] += 1
        else:
            tally[_RESTARTS] += 1
    return False


@njit(cache=True, nogil=True)
def _take(
    indptr: IntArray, v: int, max_edges: int, visited: Marks, vertices: IntArray, tally: IntArray
) -> bool:
    """Add a vertex to the sample, unless that takes more edges than are allowed."""
    out_degree = indptr[v + 1] - indptr[v]
    if tally[_FOUND] > 0 and tally[_EDGES] + out_degree > max_edges:
        return False
    visited[v >> 3] |= np.uint8(1) << np.uint8(v & 7)
    vertices[tally[_FOUND]] = v
    tally[_FOUND] += 1
    tally[_EDGES] += out_degree
    tally[_FRUITLESS] = 0
    return True
