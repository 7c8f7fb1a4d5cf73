"""Rounds that are counted in arrays are those that the functions of networkx do."""

from __future__ import annotations

import importlib
import math
import random
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.errors import JobError
from predict_graph.functions.communities import louvain_rounds
from predict_graph.functions.forms import build
from predict_graph.functions.iterated import ROUNDS, RoundCounter
from predict_graph.functions.naming import check_function
from predict_graph.functions.predictor import predict_function
from predict_graph.graph import Graph, check_graph

RNG = np.random.default_rng(7)
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
@pytest.mark.parametrize("name", ARGUMENTS)
def test_rounds_are_those_of_the_function(
    name: str, seed: int, text: str, directed: bool, choice: int
) -> None:
    arguments = ARGUMENTS[name][choice % len(ARGUMENTS[name])]
    graph = check_graph(text.format(seed), directed=directed)
    function = check_function(name, keywords={**arguments, "max_iter": 300})
    if not converges(name, graph, arguments, 300):
        with pytest.raises(JobError, match="does not converge within max_iter=300 rounds"):
            RoundCounter(function, graph, RNG).counted(10.0)
        return
    counted = RoundCounter(function, graph, RNG).counted(10.0)
    assert counted is not None
    rounds = round(counted.total)
    # Sums are added up in another order: a difference as large as the tolerance may end one apart.
    assert converges(name, graph, arguments, rounds + 1)
    assert rounds < 3 or not converges(name, graph, arguments, rounds - 2)


GRID = check_graph("grid:rows=4,columns=4")


@pytest.mark.parametrize("arguments", [{"nstart": {0: 1.0}}, {"weight": "length"}])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_that_it_does_not_know_are_not_counted(
    name: str, arguments: dict[str, Any]
) -> None:
    function = check_function(name, keywords=arguments)
    assert RoundCounter(function, GRID, RNG).counted(1.0) is None


UNKNOWN: dict[str, dict[str, Any]] = {
    "networkx:asyn_lpa_communities": {"weight": "length"},
    "networkx:fast_label_propagation_communities": {"weight": "length"},
    "networkx:louvain_communities": {"max_level": 1},
    "igraph:community_label_propagation": {"initial": [0] * 16},
    "igraph:community_multilevel": {"weights": [1.0] * 24},
}


@pytest.mark.parametrize(("name", "arguments"), UNKNOWN.items())
def test_searches_that_it_does_not_know_are_not_counted(
    name: str, arguments: dict[str, Any]
) -> None:
    function = check_function(name, keywords=arguments)
    assert RoundCounter(function, GRID, RNG).counted(1.0) is None


def labelled(counts: list[int], count: Any) -> Any:
    """Return a graph that tells how often its vertices were shuffled, or looked through."""

    class Counting(random.Random):
        def shuffle(self, x: Any) -> None:
            counts[0] += 1
            super().shuffle(x)

    return Counting(count)


@pytest.mark.parametrize("text", GRAPHS)
def test_asynchronous_rounds_are_as_many_as_those_of_the_function(text: str) -> None:
    graph = check_graph(text.format(3), directed=False)
    given, seen = build(graph, "networkx"), []
    for seed in range(30):
        counts = [0]
        list(nx.community.asyn_lpa_communities(given, seed=labelled(counts, seed)))
        seen.append(counts[0])
    function = check_function("networkx:asyn_lpa_communities")
    tries = [RoundCounter(function, graph, np.random.default_rng(k)) for k in range(30)]
    found = [counter.counted(10.0) for counter in tries]
    here = [each.total for each in found if each is not None]
    assert len(here) == 30
    # The mean of nine tries each, beside thirty runs: within three standard errors of these.
    error = np.std(np.log(seen)) / math.sqrt(len(seen))
    assert abs(np.mean(np.log(here)) - np.mean(np.log(seen))) < 3.0 * error + 0.02


@given(seed=st.integers(0, 10**6), text=st.sampled_from(GRAPHS))
def test_semi_synchronous_rounds_are_those_of_the_function(seed: int, text: str) -> None:
    graph = check_graph(text.format(seed), directed=False)
    module = importlib.import_module("networkx.algorithms.community.label_propagation")
    before, rounds = module._labeling_complete, []

    def complete(labeling: Any, whole: Any) -> bool:
        rounds.append(1)
        return bool(before(labeling, whole))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_labeling_complete", complete)
        nx.community.label_propagation_communities(build(graph, "networkx"))
    function = check_function("networkx:label_propagation_communities")
    found = RoundCounter(function, graph, RNG).counted(10.0)
    assert found is not None
    # The last round of arrays changes nothing: that is the function's last look.
    assert found.total == len(rounds)


def test_a_queue_is_gone_through_as_often_as_by_the_function() -> None:
    graph = check_graph("powerlaw-cluster:n=3000,m=4,p=0.5,seed=2")
    given, seen = build(graph, "networkx"), []
    module = importlib.import_module("networkx.algorithms.community.label_propagation")
    before = module._fast_label_count
    for seed in range(10):
        taken = [0]

        def counted(*given: Any, taken: list[int] = taken) -> Any:
            taken[0] += 1
            return before(*given)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_fast_label_count", counted)
            list(nx.community.fast_label_propagation_communities(given, seed=seed))
        seen.append(taken[0] / (graph.vertices // 16))
    function = check_function("networkx:fast_label_propagation_communities")
    found = RoundCounter(function, graph, RNG).counted(10.0)
    assert found is not None
    assert found.total == pytest.approx(np.mean(seen), rel=0.2)


def test_sweeps_of_louvain_are_as_many_as_those_of_the_function() -> None:
    graph = check_graph("powerlaw-cluster:n=800,m=4,p=0.5,seed=2")
    given, seen = build(graph, "networkx"), []
    module = importlib.import_module("networkx.algorithms.community.louvain")
    before = module._neighbor_weights
    whole = graph.vertices + graph.edges
    for seed in range(10):
        visits = [0]

        def weighed(nbrs: Any, of: Any, visits: list[int] = visits) -> Any:
            visits[0] += len(nbrs) + 1
            return before(nbrs, of)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_neighbor_weights", weighed)
            nx.community.louvain_communities(given, seed=seed)
        seen.append(visits[0] / whole)
    arguments = {"weight": "weight", "resolution": 1, "max_level": None}
    here = []
    for seed in range(10):
        parts = louvain_rounds(graph, arguments, np.random.default_rng(seed))
        assert parts is not None
        here.append(sum(parts))
    levels = 2.0 * 1.5  # what measuring and folding add: about one and a half whole graphs
    assert np.mean(here) == pytest.approx(np.mean(seen) + levels, rel=0.2)


def test_it_goes_on_where_it_was_stopped() -> None:
    function = check_function("networkx:eigenvector_centrality")
    graph = check_graph("grid:rows=5,columns=5")
    patient, hurried = (RoundCounter(function, graph, RNG) for _ in range(2))
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
    def rounds(graph: Graph, arguments: Any, rng: Any) -> Any:
        return iter([1.0] * 40)

    try:
        found = RoundCounter(named(settles), GRID, RNG).counted(1.0)
        assert found is not None
        assert found.total == 40.0
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
