"""The walk that all samplers but the uniform one have in common.

They differ in where a walk starts again and in how it takes a step: along an out-edge, or by
Metropolis and Hastings along an edge of either direction. So one kernel serves all of them.

How it always ends. Each step that meets no new vertex counts as fruitless. After `patience`
fruitless steps in a row the walk is stalled: it goes on from an unvisited vertex drawn uniformly,
which the sample counts as `unreached`. Each stall halves the patience (down to 10 steps) and each
vertex that the walk finds by itself gives an eighth back, so that a graph of isolated vertices
costs about 10 steps a vertex, and no graph costs more than `patience` steps a vertex.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from numba import njit

from samplers.base import Sampler, Visits, check_positive, check_share
from samplers.csr import CSRArrays, IntArray, check_csr
from samplers.search import Rows, largest
from samplers.splitmix import State, below, chance_threshold, happens

Marks = npt.NDArray[np.uint8]

_LEAST_PATIENCE = 10  # limits the steps per vertex of a graph of isolated vertices


class RestartWalk(Sampler):
    """Base of the samplers that walk along out-edges and begin anew with probability `restart`.

    No walk of docs/studies/samplers.md but `rwr` is out of patience.
    """

    metropolis: ClassVar[bool] = False
    """Whether steps are those of Metropolis and Hastings, along edges of either direction."""
    moving: ClassVar[bool] = False
    """Whether the vertex at which a stalled walk goes on replaces its start."""

    def __init__(self, *, restart: float = 0.15, patience: int = 1000) -> None:
        self.restart = restart
        self.patience = patience

    def _check_options(self) -> None:
        check_share("restart", self.restart, zero=True)
        check_positive("patience", self.patience)

    def _starts(self, graph: CSRArrays, state: State) -> npt.NDArray[np.int64]:
        """Return the vertices that walks start from at random: all of them when empty."""
        return np.empty(0, dtype=np.int64)

    def _visit(self, graph: CSRArrays, target: int, max_edges: int, state: State) -> Visits:
        back = graph.reverse() if self.metropolis else graph
        rows, reverse = ((each.indptr, each.indices) for each in (graph, back))
        kind = (self.metropolis, graph.directed, self.moving)
        starts = self._starts(graph, state)
        limits = (chance_threshold(self.restart), max_edges, self.patience)
        vertices = np.empty(target, dtype=graph.indices.dtype)
        found, *counts = _walk_with_restarts(rows, reverse, kind, starts, limits, state, vertices)
        return Visits(vertices[:found], *counts)


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
        self, *, restart: float = 0.15, seed_fraction: float = 0.01, patience: int = 1000
    ) -> None:
        super().__init__(restart=restart, patience=patience)
        self.seed_fraction = seed_fraction

    def seeds(self, csr: Any) -> npt.NDArray[np.int64]:
        """Return the seed vertices of a graph, ascending, shape ``(max(1, round(f * n)),)``."""
        self._check_options()
        graph = check_csr(csr)
        count = max(1, round(self.seed_fraction * graph.vertices))
        return np.sort(largest(np.diff(graph.indptr), count))

    def _check_options(self) -> None:
        super()._check_options()
        check_share("seed_fraction", self.seed_fraction, zero=False)

    def _starts(self, graph: CSRArrays, state: State) -> npt.NDArray[np.int64]:
        return self.seeds(graph)


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
    metropolis = True


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
    moving = True

    def _starts(self, graph: CSRArrays, state: State) -> npt.NDArray[np.int64]:
        return np.array([below(state, graph.vertices)], dtype=np.int64)


@njit(cache=True, nogil=True)
def unvisited(state: State, visited: Marks) -> int:
    """Return an unvisited vertex, each with the same probability; there must be one."""
    v = below(state, visited.size)
    while visited[v]:
        v = below(state, visited.size)
    return int(v)


@njit(cache=True, nogil=True)
def _jump(state: State, starts: IntArray, n: int) -> int:
    if starts.size == 0:
        return int(below(state, n))
    return int(starts[below(state, starts.size)])


@njit(cache=True, nogil=True)
def _degree(indptr: IntArray, reverse_indptr: IntArray, both: bool, v: int) -> int:
    """Return the out-degree of a vertex; with `both` the edges of the reverse count too."""
    degree = indptr[v + 1] - indptr[v]
    if both:
        degree += reverse_indptr[v + 1] - reverse_indptr[v]
    return int(degree)


@njit(cache=True, nogil=True)
def metropolis_step(rows: Rows, reverse: Rows, both: bool, v: int, state: State) -> int:
    """Return where one step of Metropolis and Hastings leads from a vertex with an edge."""
    (indptr, indices), (reverse_indptr, reverse_indices) = rows, reverse
    out_degree = indptr[v + 1] - indptr[v]
    degree = _degree(indptr, reverse_indptr, both, v)
    i = below(state, degree)
    if i < out_degree:
        w = indices[indptr[v] + i]
    else:
        w = reverse_indices[reverse_indptr[v] + i - out_degree]
    proposed = _degree(indptr, reverse_indptr, both, w)
    # An integer below d_w is below d_v with probability d_v / d_w, exactly.
    if proposed <= degree or below(state, proposed) < degree:
        return int(w)
    return v


@njit(cache=True, nogil=True)
def _walk_with_restarts(
    rows: Rows, reverse: Rows, kind: Any, starts: IntArray, limits: Any, state: State, vertices: Any
) -> tuple[int, int, int, int, int, int, bool]:
    """Walk until all `vertices` are found; return how many are, and the counts of `Visits`."""
    (indptr, indices), (metropolis, directed, moving) = rows, kind
    restart, max_edges, patience = limits
    n, both = len(indptr) - 1, metropolis and directed
    visited = np.zeros(n, np.uint8)
    found, steps, restarts, dead_ends, unreached, edges = 0, 0, 0, 0, 0, 0
    allowed, fruitless = patience, 0
    filled_in = False
    v = _jump(state, starts, n)
    while True:
        start = indptr[v]
        degree = indptr[v + 1] - start
        if visited[v]:
            fruitless += 1
        else:
            if found > 0 and edges + degree > max_edges:
                return found, steps, restarts, dead_ends, unreached, edges, True
            visited[v] = 1
            vertices[found] = v
            found += 1
            edges += degree
            unreached += filled_in
            if found == vertices.size:
                return found, steps, restarts, dead_ends, unreached, edges, False
            if not filled_in:
                allowed = min(allowed + allowed // 8 + 1, patience)
            fruitless = 0
        filled_in = fruitless >= allowed
        if filled_in:
            v = unvisited(state, visited)
            if moving:
                starts[0] = v
            allowed = max(allowed // 2, min(_LEAST_PATIENCE, patience))
            continue
        steps += 1
        if happens(state, restart):
            restarts += 1
            v = _jump(state, starts, n)
        elif degree == 0 and not (both and _degree(indptr, reverse[0], both, v) > 0):
            dead_ends += 1
            v = _jump(state, starts, n)
        elif metropolis:
            v = metropolis_step(rows, reverse, both, v, state)
        else:
            v = indices[start + below(state, degree)]
