"""The backend of networkx: results are those of networkx, and long calls are spoken of."""

import random
import re

import networkx as nx
import pytest

from predict_graph import GraphSize, networkx_backend
from predict_graph.functions import atlas
from predict_graph.functions.naming import check_function

pytestmark = pytest.mark.skipif(
    "predict_graph" not in nx.config.backends, reason="installed before it had a backend"
)


@pytest.fixture
def active(monkeypatch):
    """The backend, with a threshold of nothing, for small calls too."""
    monkeypatch.setattr(type(networkx_backend.backend), "should_run", staticmethod(lambda *_: True))
    with (
        nx.config(backend_priority=["predict_graph"]),
        nx.config.backends.predict_graph(threshold=0),
    ):
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("active")
def test_a_long_call_is_predicted_and_its_progress_is_logged(caplog):
    caplog.set_level("INFO", "predict_graph")
    vertices = 500
    while " elapsed" not in caplog.text:  # the faster the machine, the larger the graph
        vertices *= 2
        graph = nx.barabasi_albert_graph(vertices, 4, seed=1)
        found = nx.betweenness_centrality(graph)
    assert re.search("betweenness_centrality: about .*90% sure.*fits in memory", caplog.text)
    assert re.search("networkx:betweenness_centrality: .* elapsed", caplog.text)
    assert found == nx.betweenness_centrality.orig_func(graph)


@pytest.mark.usefixtures("active")
def test_results_errors_and_random_numbers_are_those_of_networkx():
    graph = nx.karate_club_graph()
    drawn = nx.community.louvain_communities(graph, seed=7)
    assert isinstance(nx.minimum_spanning_tree(graph), nx.Graph)
    with pytest.raises(nx.NetworkXNoPath):
        nx.shortest_path_length(nx.empty_graph(3), 0, 1)
    assert not graph.__networkx_cache__.get("backends", {}).get("predict_graph")
    with nx.config(backend_priority=[]):
        assert drawn == nx.community.louvain_communities(graph, seed=7)


@pytest.mark.usefixtures("active")
def test_calls_inside_a_call_are_no_calls_of_their_own(monkeypatch):
    made: list[str] = []
    monkeypatch.setattr(networkx_backend, "_watch", lambda call, *_: made.append(call.func.name))
    nx.average_shortest_path_length(nx.path_graph(20))
    assert made == ["average_shortest_path_length"]


def test_it_is_opt_in_and_small_calls_are_left_alone():
    assert nx.config.backend_priority.algos == []
    should = networkx_backend.backend.should_run
    assert not should("pagerank", (nx.path_graph(30),), {})
    assert [should("unknown", (nx.path_graph(n),), {}) for n in (30, 3000)] == [False, True]
    assert should("betweenness_centrality", (nx.path_graph(200_000),), {})


def test_arguments_that_are_defaults_leave_the_advice():
    """networkx passes all arguments on by place, and a generator for a seed."""
    given = check_function(nx.betweenness_centrality, (None, True, None, False, random.Random()))
    assert len(atlas.compiled_alternatives(given, 600.0, GraphSize(2e4, 1e5).drivers())) == 1
