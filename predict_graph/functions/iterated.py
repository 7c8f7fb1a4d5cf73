"""How many rounds a loop does until it has converged: counted by the same rounds in arrays.

Samples say little of it, as it depends on the eigenvalues of the whole graph, and some of them do
not converge at all. What takes a function of networkx 100 to 200 nanoseconds for an edge and a
round takes some five here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from predict_graph.errors import JobError
from predict_graph.functions.naming import GraphFunction, signature_of
from predict_graph.graph import Graph
from predict_graph.plugins import Registry

__all__ = ["ROUNDS", "RoundCounter", "eigenvector_rounds", "katz_rounds"]

RoundsOf = Callable[[Graph, Mapping[str, Any]], "Iterator[bool] | None"]

_HERE = "predict_graph.functions.iterated"

ROUNDS: Registry[RoundsOf] = Registry(
    "counter of rounds",
    "predict_graph.function_rounds",
    {
        "networkx:eigenvector_centrality": f"{_HERE}:eigenvector_rounds",
        "networkx:katz_centrality": f"{_HERE}:katz_rounds",
    },
)
"""By the name of a function, what does the rounds of its outermost loop: it takes the graph and all
arguments by their names, and gives, round by round, whether the loop ends there; None comes back
where it does not know what these arguments do."""


class RoundCounter:
    """Counts the rounds that a function will do on a graph, for as long as it is let.

    Parameters
    ----------
    function : GraphFunction
    graph : Graph

    Examples
    --------
    >>> from predict_graph.functions.naming import check_function
    >>> from predict_graph.graph import check_graph
    >>> function = check_function("networkx:eigenvector_centrality")
    >>> RoundCounter(function, check_graph("grid:rows=5,columns=5")).counted(1.0)
    22
    """

    def __init__(self, function: GraphFunction, graph: Graph) -> None:
        self._function, self._graph = function, graph
        self._rounds: Iterator[bool] | None = None
        self._done = 0
        self._total: int | None = None
        if function.name in ROUNDS.names():
            given = signature_of(function.call).bind(
                None, *function.positional, **function.keywords
            )
            given.apply_defaults()
            self._most = given.arguments.get("max_iter")
            self._rounds = ROUNDS.get(function.name)(graph, given.arguments)

    def counted(self, seconds: float) -> int | None:
        """Return the rounds; None where nothing counts them, or not within so many seconds more.

        Raises
        ------
        JobError
            If the function will raise an error, because it does not converge.
        """
        if self._total is not None or self._rounds is None:
            return self._total
        began = time.thread_time()
        for ends in self._rounds:
            self._done += 1
            if ends:
                self._total = self._done
                return self._total
            if self._done == self._most:
                raise JobError(
                    f"{self._function.name} fails on {self._graph.name}: it does not converge "
                    f"within max_iter={self._most} rounds"
                )
            if time.thread_time() - began > seconds:
                break
        return None


def eigenvector_rounds(graph: Graph, arguments: Mapping[str, Any]) -> Iterator[bool] | None:
    """Do the rounds of ``eigenvector_centrality`` of networkx.

    Power iteration with the adjacency matrix and the identity, from equal values.
    """
    links = _links(graph, arguments["weight"])
    if arguments["nstart"] is not None or links is None:
        return None
    enough = graph.vertices * arguments["tol"]

    def rounds() -> Iterator[bool]:
        values = np.full(graph.vertices, 1.0 / graph.vertices)
        while True:
            last = values
            values = last + links @ last
            values /= np.sqrt(values @ values) or 1.0
            yield bool(np.abs(values - last).sum() < enough)

    return rounds()


def katz_rounds(graph: Graph, arguments: Mapping[str, Any]) -> Iterator[bool] | None:
    """Do the rounds of ``katz_centrality`` of networkx, from zeros."""
    links, beta = _links(graph, arguments["weight"]), arguments["beta"]
    if not isinstance(beta, int | float) or arguments["nstart"] is not None or links is None:
        return None
    alpha, enough = arguments["alpha"], graph.vertices * arguments["tol"]

    def rounds() -> Iterator[bool]:
        values = np.zeros(graph.vertices)
        while True:
            last = values
            values = alpha * (links @ last) + beta
            yield bool(np.abs(values - last).sum() < enough)

    return rounds()


def _links(graph: Graph, weight: str | None) -> Any:
    """Return the matrix that sums what comes along edges; None for weights that are not ours."""
    from scipy.sparse import csr_array  # slow to import: only who counts waits for it

    if weight not in (None, "weight"):
        return None
    own = None if weight is None else graph.weights
    weights = np.ones(graph.edges) if own is None else own.astype(np.float64)
    shape = (graph.vertices, graph.vertices)
    return csr_array((weights, graph.indices, graph.indptr), shape=shape).T
