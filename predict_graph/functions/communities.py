"""Rounds of the searches for communities of networkx, done in arrays.

They are random, or go by ties: what is counted here is what such a search usually does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.graph import Graph

__all__ = [
    "async_label_rounds",
    "fast_label_rounds",
    "igraph_label_rounds",
    "igraph_louvain_rounds",
    "louvain_rounds",
    "semi_synchronous_label_rounds",
]

IntArray = npt.NDArray[np.integer]

_QUEUE_PART = 16  # parts of the vertices that count as one round of a queue; a choice
_OF_A_LEVEL = 2.0  # sweeps that measuring and folding a level are worth; judgement


def async_label_rounds(
    graph: Graph, arguments: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[float] | None:
    """Do the rounds of ``asyn_lpa_communities``: a label out of favour becomes one of the best."""
    if arguments["weight"] is not None:
        return None

    def rounds() -> Iterator[float]:
        votes = _Votes(graph)
        changed = True
        while changed:
            order = rng.permutation(graph.vertices)
            changed = votes.sweep(order, rng.random(graph.vertices), highest=False)
            yield 1.0

    return rounds()


def semi_synchronous_label_rounds(
    graph: Graph, arguments: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[float] | None:
    """Do the rounds of ``label_propagation_communities``, colour by colour, highest label first."""
    if graph.directed:
        return None

    def rounds() -> Iterator[float]:
        owner = np.repeat(np.arange(graph.vertices), graph.out_degrees)
        loops = np.bincount(owner[owner == graph.indices], minlength=graph.vertices)
        by_degree = np.argsort(-graph.out_degrees - loops, kind="stable")  # a loop counts twice
        colours = _greedy_colours(graph.indptr, graph.indices, by_degree)
        _, first = np.unique(colours[by_degree], return_index=True)
        order = np.argsort(np.argsort(np.argsort(first))[colours], kind="stable")
        votes = _Votes(graph)
        unused = np.empty(0)
        changed = True
        while changed:  # the function looks for a label out of favour first: that costs little
            changed = votes.sweep(order, unused, highest=True)
            yield 1.0

    return rounds()


def fast_label_rounds(
    graph: Graph, arguments: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[float] | None:
    """Go through the queue of ``fast_label_propagation_communities``: a part of it is a round."""
    if arguments["weight"] is not None or graph.directed:
        return None
    n = graph.vertices
    part = max(n // _QUEUE_PART, 1)

    def rounds() -> Iterator[float]:
        votes = _Votes(graph)
        queue, waits, state = rng.permutation(n), np.ones(n, np.bool_), np.array([0, n])
        while state[1]:
            votes.drain(queue, waits, state, rng.random(part))
            yield 1.0

    return rounds()


def louvain_rounds(
    graph: Graph, arguments: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[float] | None:
    """Do the sweeps of ``louvain_communities``, on smaller graphs as parts of one on the first."""
    weighted = arguments["weight"] == "weight" and graph.weights is not None
    if weighted or arguments["max_level"] is not None:
        return None
    return _louvain(graph, float(arguments["resolution"]), rng)


def igraph_label_rounds(
    graph: Graph, arguments: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[float] | None:
    """Do rounds like those of ``community_label_propagation`` of igraph."""
    if any(arguments[name] is not None for name in ("weights", "initial", "fixed")):
        return None
    return async_label_rounds(graph, {"weight": None}, rng)


def igraph_louvain_rounds(
    graph: Graph, arguments: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[float] | None:
    """Do sweeps like those of ``community_multilevel`` of igraph."""
    if arguments["weights"] is not None:
        return None
    return _louvain(graph, float(arguments["resolution"]), rng)


def _louvain(graph: Graph, resolution: float, rng: np.random.Generator) -> Iterator[float] | None:
    if graph.directed:
        return None

    def rounds() -> Iterator[float]:
        indptr, indices = graph.indptr, graph.indices.astype(np.int64)
        weights = np.ones(len(indices))
        whole = graph.vertices + len(indices)
        while True:
            n = len(indptr) - 1
            part = (n + len(indices)) / whole
            owner = np.repeat(np.arange(n), np.diff(indptr))
            loops = owner == indices
            degrees = np.bincount(owner, weights * (1.0 + loops), minlength=n)
            labels, totals, order = np.arange(n), degrees.copy(), rng.permutation(n)
            moves, moved = 1, False
            while moves:
                moves = _louvain_sweep(
                    indptr, indices, weights, order, labels, degrees, totals, resolution
                )
                moved |= moves > 0
                yield part
            yield _OF_A_LEVEL * part
            if not moved:
                return
            indptr, indices, weights = _folded(owner, indices, weights, labels)

    return rounds()


def _folded(owner: Any, indices: Any, weights: Any, labels: Any) -> tuple[Any, Any, Any]:
    """Return the graph of communities; an edge inside one is a loop of its weight, kept once."""
    from scipy.sparse import coo_array  # slow to import: only who counts waits for it

    _, of = np.unique(labels, return_inverse=True)
    inside = (of[owner] == of[indices]) & (owner != indices)
    values = np.where(inside, 0.5 * weights, weights)  # it is in both rows
    count = int(of.max()) + 1
    made = coo_array((values, (of[owner], of[indices])), shape=(count, count)).tocsr()
    return made.indptr.astype(np.int64), made.indices.astype(np.int64), made.data


class _Votes:
    """The labels of all vertices, and what is needed to count those of neighbours."""

    def __init__(self, graph: Graph) -> None:
        n = graph.vertices
        self._indptr, self._indices = graph.indptr, graph.indices
        self._labels = np.arange(n)
        self._counts, self._seen = np.zeros(n, np.int64), np.empty(n, np.int64)

    def sweep(self, order: IntArray, chances: npt.NDArray[np.float64], *, highest: bool) -> bool:
        """Go through all vertices; say whether a label has changed."""
        return bool(
            _sweep(
                *(self._indptr, self._indices, order, chances, highest),
                *(self._labels, self._counts, self._seen),
            )
        )

    def drain(self, queue: IntArray, waits: Any, state: Any, chances: Any) -> None:
        """Take as many vertices from a ring as there are chances; `state`: its head and length."""
        _drain(
            *(self._indptr, self._indices, queue, waits, state, chances),
            *(self._labels, self._counts, self._seen),
        )


@njit(cache=True, nogil=True)
def _best_labels(
    indptr: Any, indices: Any, vertex: int, labels: Any, counts: Any, seen: Any
) -> Any:
    """Put the labels most frequent among neighbours into `seen`; `counts` is zero before and after.

    Returns how many they are, and whether its own is one of them.
    """
    found = top = 0
    for place in range(indptr[vertex], indptr[vertex + 1]):
        label = labels[indices[place]]
        if counts[label] == 0:
            seen[found] = label
            found += 1
        counts[label] += 1
        top = max(top, counts[label])
    favoured = counts[labels[vertex]] == top
    best = 0
    for place in range(found):
        label = seen[place]
        if counts[label] == top:
            seen[best] = label
            best += 1
        counts[label] = 0
    return best, favoured


@njit(cache=True, nogil=True)
def _sweep(
    indptr: Any,
    indices: Any,
    order: Any,
    chances: Any,
    highest: bool,
    labels: Any,
    counts: Any,
    seen: Any,
) -> bool:
    changed = False
    for vertex in order:
        if indptr[vertex] == indptr[vertex + 1]:
            continue
        best, favoured = _best_labels(indptr, indices, vertex, labels, counts, seen)
        if favoured:
            continue
        labels[vertex] = seen[:best].max() if highest else seen[int(chances[vertex] * best)]
        changed = True
    return changed


@njit(cache=True, nogil=True)
def _drain(
    indptr: Any,
    indices: Any,
    queue: Any,
    waits: Any,
    state: Any,
    chances: Any,
    labels: Any,
    counts: Any,
    seen: Any,
) -> None:
    n = len(queue)
    for chance in chances:
        if state[1] == 0:
            return
        vertex = queue[state[0]]
        state[0] = (state[0] + 1) % n
        state[1] -= 1
        waits[vertex] = False
        if indptr[vertex] == indptr[vertex + 1]:
            continue
        best, _ = _best_labels(indptr, indices, vertex, labels, counts, seen)
        label = seen[int(chance * best)]
        if label == labels[vertex]:
            continue
        labels[vertex] = label
        for place in range(indptr[vertex], indptr[vertex + 1]):
            other = indices[place]
            if labels[other] != label and not waits[other]:
                queue[(state[0] + state[1]) % n] = other
                state[1] += 1
                waits[other] = True


@njit(cache=True, nogil=True)
def _greedy_colours(indptr: Any, indices: Any, order: Any) -> Any:
    """Give each vertex, in an order, the lowest colour that no neighbour has."""
    n = len(order)
    colours = np.full(n, -1, np.int64)
    taken = np.full(n + 1, -1, np.int64)
    for vertex in order:
        for place in range(indptr[vertex], indptr[vertex + 1]):
            colour = colours[indices[place]]
            if colour >= 0:
                taken[colour] = vertex
        colour = 0
        while taken[colour] == vertex:
            colour += 1
        colours[vertex] = colour
    return colours


@njit(cache=True, nogil=True)
def _louvain_sweep(
    indptr: Any,
    indices: Any,
    weights: Any,
    order: Any,
    labels: Any,
    degrees: Any,
    totals: Any,
    resolution: float,
) -> int:
    """Move each vertex where modularity gains most; return how many moved (networkx's gains)."""
    n = len(order)
    sums, seen = np.zeros(n), np.empty(n, np.int64)
    m = degrees.sum() / 2.0
    moves = 0
    for vertex in order:
        found = 0
        for place in range(indptr[vertex], indptr[vertex + 1]):
            other = indices[place]
            if other == vertex:
                continue
            label = labels[other]
            if sums[label] == 0.0:
                seen[found] = label
                found += 1
            sums[label] += weights[place]
        own, degree = labels[vertex], degrees[vertex]
        totals[own] -= degree
        remove = -sums[own] / m + resolution * totals[own] * degree / (2.0 * m * m)
        best, most = own, 0.0
        for place in range(found):
            label = seen[place]
            gain = remove + sums[label] / m - resolution * totals[label] * degree / (2.0 * m * m)
            if gain > most:
                best, most = label, gain
            sums[label] = 0.0
        totals[best] += degree
        if best != own:
            labels[vertex] = best
            moves += 1
    return moves
