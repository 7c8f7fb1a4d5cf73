"""How many rounds a loop does until it has converged: counted by the same rounds in arrays.

Samples say little of it, as it depends on the eigenvalues of the whole graph or on its communities,
and some of them do not converge at all. What takes a function of networkx 100 to 200 nanoseconds
for an edge and a round takes some five here. Where the rounds are random, they are counted several
times.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from predict_graph.errors import JobError
from predict_graph.functions.naming import GraphFunction, signature_of
from predict_graph.functions.prefix import Rounds
from predict_graph.graph import Graph
from predict_graph.plugins import Registry

__all__ = ["ROUNDS", "RoundCounter", "eigenvector_rounds", "katz_rounds"]

RoundsOf = Callable[[Graph, Mapping[str, Any], np.random.Generator], "Iterator[float] | None"]

_HERE = "predict_graph.functions.iterated"
_COMMUNITIES = "predict_graph.functions.communities"
_MOST_TRIES = 9  # at random rounds; a choice
_OTHER_TRIES = 0.2  # of the seconds that the first try may take, for all after it; judgement
_COUNTED_STD = 0.02  # of log rounds that were counted: sums round differently; judgement
# Of the same where they are random, before there are tries enough to tell: asynchronous label
# propagation on seven graphs had 0.05 to 0.57, 0.1 on most; it counts as much as two tries.
_RANDOM_STD = 0.3  # measured on seven graphs
_RANDOM_TRIES = 2  # judgement

ROUNDS: Registry[RoundsOf] = Registry(
    "counter of rounds",
    "predict_graph.function_rounds",
    {
        "networkx:eigenvector_centrality": f"{_HERE}:eigenvector_rounds",
        "networkx:katz_centrality": f"{_HERE}:katz_rounds",
        "networkx:asyn_lpa_communities": f"{_COMMUNITIES}:async_label_rounds",
        "networkx:fast_label_propagation_communities": f"{_COMMUNITIES}:fast_label_rounds",
        "networkx:label_propagation_communities": f"{_COMMUNITIES}:semi_synchronous_label_rounds",
        "networkx:louvain_communities": f"{_COMMUNITIES}:louvain_rounds",
        "igraph:community_label_propagation": f"{_COMMUNITIES}:igraph_label_rounds",
        "igraph:community_multilevel": f"{_COMMUNITIES}:igraph_louvain_rounds",
    },
)
"""By the name of a function, what does the rounds of its outermost loop: it takes the graph, all
arguments by their names and a generator of random numbers, and gives 1 for each round until the
loop ends, or for what is part of a round that part. None comes back where it does not know what
these arguments do."""


class RoundCounter:
    """Counts the rounds that a function will do on a graph, for as long as it is let.

    Rounds that draw random numbers are counted several times.

    Parameters
    ----------
    function : GraphFunction
    graph : Graph
    rng : Generator

    Examples
    --------
    >>> from predict_graph.functions.naming import check_function
    >>> from predict_graph.graph import check_graph
    >>> function = check_function("networkx:eigenvector_centrality")
    >>> grid = check_graph("grid:rows=5,columns=5")
    >>> RoundCounter(function, grid, np.random.default_rng(1)).counted(1.0)
    Rounds(total=22.0, log_std=0.02)
    """

    def __init__(self, function: GraphFunction, graph: Graph, rng: np.random.Generator) -> None:
        self._function, self._graph, self._rng = function, graph, rng
        self._rounds: Iterator[float] | None = None
        self._done = 0.0
        self._totals: list[float] = []
        self._tries = 0
        if function.name in ROUNDS.names():
            given = signature_of(function.call).bind(
                None, *function.positional, **function.keywords
            )
            given.apply_defaults()
            self._arguments = given.arguments
            self._tries = _MOST_TRIES
            self._drawn = rng.bit_generator.state
            self._begin()

    def on(self, graph: Graph) -> RoundCounter:
        """Return the counter of the same function on another graph."""
        return RoundCounter(self._function, graph, self._rng)

    def usual(self, seconds: float) -> float:
        """Return the rounds; 0 where nothing counts them, not in time, or none converge."""
        try:
            found = self.counted(seconds)
        except JobError:
            return 0.0
        return 0.0 if found is None else found.total

    def counted(self, seconds: float) -> Rounds | None:
        """Return the rounds; None where nothing counts them, or not within so many seconds more.

        Raises
        ------
        JobError
            If the function will raise an error, because it does not converge.
        """
        began = time.thread_time()
        while self._rounds is not None and len(self._totals) < self._tries:
            allowed = _OTHER_TRIES * seconds if self._totals else seconds
            if not self._ended(began + allowed):
                break
            self._totals.append(self._done)
            if self._rng.bit_generator.state == self._drawn:  # another try would be the same
                self._tries = 1
                break
            self._begin()
        return self._found() if self._totals else None

    def _begin(self) -> None:
        self._done = 0.0
        self._rounds = ROUNDS.get(self._function.name)(self._graph, self._arguments, self._rng)

    def _ended(self, until: float) -> bool:
        """Go on with the rounds until they end, or until so many seconds of this thread."""
        most = self._arguments.get("max_iter")
        for part in self._rounds or ():
            if self._done == most:
                raise JobError(
                    f"{self._function.name} fails on {self._graph.name}: it does not converge "
                    f"within max_iter={most} rounds"
                )
            self._done += part
            if time.thread_time() > until:
                return False
        return True

    def _found(self) -> Rounds:
        if self._tries == 1:
            return Rounds(self._totals[0], _COUNTED_STD)
        logs = np.log(self._totals)
        total = math.exp(float(logs.mean()))
        squares = float(((logs - logs.mean()) ** 2).sum()) + _RANDOM_TRIES * _RANDOM_STD**2
        tries = len(logs) - 1 + _RANDOM_TRIES
        return Rounds(total, math.sqrt(squares / tries * (1.0 + 1.0 / len(logs))))


def eigenvector_rounds(
    graph: Graph, arguments: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[float] | None:
    """Do the rounds of ``eigenvector_centrality`` of networkx.

    Power iteration with the adjacency matrix and the identity, from equal values.
    """
    links = _links(graph, arguments["weight"])
    if arguments["nstart"] is not None or links is None:
        return None
    enough = graph.vertices * arguments["tol"]

    def rounds() -> Iterator[float]:
        values = np.full(graph.vertices, 1.0 / graph.vertices)
        while True:
            last = values
            values = last + links @ last
            values /= np.sqrt(values @ values) or 1.0
            yield 1.0
            if np.abs(values - last).sum() < enough:
                return

    return rounds()


def katz_rounds(
    graph: Graph, arguments: Mapping[str, Any], rng: np.random.Generator
) -> Iterator[float] | None:
    """Do the rounds of ``katz_centrality`` of networkx, from zeros."""
    links, beta = _links(graph, arguments["weight"]), arguments["beta"]
    if not isinstance(beta, int | float) or arguments["nstart"] is not None or links is None:
        return None
    alpha, enough = arguments["alpha"], graph.vertices * arguments["tol"]

    def rounds() -> Iterator[float]:
        values = np.zeros(graph.vertices)
        while True:
            last = values
            values = alpha * (links @ last) + beta
            yield 1.0
            if np.abs(values - last).sum() < enough:
                return

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
