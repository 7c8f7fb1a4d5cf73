"""Rounds that are counted in arrays are those that the functions of networkx do."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.errors import JobError
from predict_graph.functions.forms import build
from predict_graph.functions.iterated import ROUNDS, RoundCounter
from predict_graph.functions.naming import check_function
from predict_graph.functions.predictor import predict_function
from predict_graph.graph import Graph, check_graph

ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "networkx:eigenvector_centrality": [{}, {"tol": 1e-3}, {"weight": "weight"}],
    "networkx:katz_centrality": [{"alpha": 0.01}, {"alpha": 0.02, "beta": 0.5, "tol": 1e-4}],
}
GRAPHS = ("rmat:scale=6,edge_factor=4,seed={}", "barabasi-albert:n=60,m=3,seed={}")


def converges(name: str, graph: Graph, arguments: dict[str, Any], rounds: int) -> bool:
    function = check_function(name, keywords={**arguments, "max_iter": rounds})
    try:
        function(build(graph, "networkx"))
    except nx.PowerIterationFailedConvergence:
        return False
    return True


@given(
    seed=st.integers(0, 10**6),
    text=st.sampled_from(GRAPHS),
    directed=st.booleans(),
    choice=st.integers(0, 2),
)
@pytest.mark.parametrize("name", ROUNDS.names())
def test_rounds_are_those_of_the_function(
    name: str, seed: int, text: str, directed: bool, choice: int
) -> None:
    arguments = ARGUMENTS[name][choice % len(ARGUMENTS[name])]
    graph = check_graph(text.format(seed), directed=directed)
    function = check_function(name, keywords={**arguments, "max_iter": 300})
    if not converges(name, graph, arguments, 300):
        with pytest.raises(JobError, match="does not converge within max_iter=300 rounds"):
            RoundCounter(function, graph).counted(10.0)
        return
    rounds = RoundCounter(function, graph).counted(10.0)
    assert rounds is not None
    # Sums are added up in another order: a difference as large as the tolerance may end one apart.
    assert converges(name, graph, arguments, rounds + 1)
    assert rounds < 3 or not converges(name, graph, arguments, rounds - 2)


@pytest.mark.parametrize("arguments", [{"nstart": {0: 1.0}}, {"weight": "length"}])
@pytest.mark.parametrize("name", ROUNDS.names())
def test_arguments_that_it_does_not_know_are_not_counted(
    name: str, arguments: dict[str, Any]
) -> None:
    function = check_function(name, keywords=arguments)
    assert RoundCounter(function, check_graph("grid:rows=4,columns=4")).counted(1.0) is None


def test_it_goes_on_where_it_was_stopped() -> None:
    function = check_function("networkx:eigenvector_centrality")
    graph = check_graph("grid:rows=5,columns=5")
    patient, hurried = RoundCounter(function, graph), RoundCounter(function, graph)
    tries = [hurried.counted(0.0) for _ in range(100)]
    assert tries[0] is None
    assert tries[-1] == patient.counted(10.0)


@pytest.mark.slow
def test_that_it_will_not_converge_is_said_at_once() -> None:
    with pytest.raises(JobError, match="does not converge within max_iter=5 rounds"):
        predict_function(
            "networkx:eigenvector_centrality",
            "barabasi-albert:n=3000,m=4,seed=1",
            keywords={"max_iter": 5},
            history="none",
            seed=1,
        )


@pytest.mark.slow
def test_a_graph_is_predicted_whose_samples_do_not_converge() -> None:
    said = predict_function(
        "networkx:eigenvector_centrality",
        "erdos-renyi:n=30000,p=0.0006,seed=4",
        history="none",
        seed=1,
    )
    assert any(row.state == "done" and row.vertices < 30_000 for row in said.samples)
    assert said.processor_seconds > 0.0


@pytest.mark.slow
def test_a_counter_of_ones_own_counts() -> None:
    @ROUNDS.register("test_iterated.py:settles", home=__name__)
    def rounds(graph: Graph, arguments: Any) -> Any:
        return iter([False] * 39 + [True])

    try:
        counter = RoundCounter(named(settles), check_graph("grid:rows=4,columns=4"))
        assert counter.counted(1.0) == 40
    finally:
        ROUNDS.unregister("test_iterated.py:settles")


def settles(graph: nx.Graph, max_iter: int = 100) -> int:
    for place in range(max_iter):
        if place == len(graph):
            return place
    return max_iter


def named(function: Any) -> Any:
    from dataclasses import replace

    return replace(check_function(function), name="test_iterated.py:settles")
