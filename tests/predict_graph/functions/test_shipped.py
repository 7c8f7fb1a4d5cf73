"""Runs that come with the package: weak evidence, until there are runs of one's own."""

from __future__ import annotations

import math
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from predict_graph.functions import predict_function
from predict_graph.functions.drivers import drivers_of
from predict_graph.functions.growth import Point, extrapolate
from predict_graph.functions.naming import check_function
from predict_graph.functions.records import keep_run
from predict_graph.functions.shipped import plain_arguments, probe_seconds, shipped_points
from predict_graph.functions.works import light_graph, works_of
from predict_graph.graph import check_graph
from predict_graph.history import History

BETWEENNESS = "networkx:betweenness_centrality"


def test_they_alone_foretell_a_run_on_a_graph_that_none_of_them_is_of() -> None:
    graph = check_graph("erdos-renyi:n=400,p=0.02,seed=3")
    target = drivers_of(graph, np.random.default_rng(0))
    found = extrapolate(shipped_points(check_function(BETWEENNESS)), target, "")
    assert found is not None
    rounds = probe_seconds(compiled=False) / 3  # searches of 2,000 vertices and 12,000 ends
    about = 400 * rounds * (3200 / 12000) * 3  # betweenness does some three times as much
    assert about / 6 < found.cost < about * 6
    assert 0.1 < found.log_std < math.log(10)


def test_other_arguments_have_other_runs() -> None:
    assert not shipped_points(check_function(BETWEENNESS, keywords={"k": 10}))
    assert shipped_points(check_function(BETWEENNESS, keywords={"seed": 1, "normalized": True}))
    assert not shipped_points(check_function("networkx:reciprocity"))
    pagerank = check_function("igraph:pagerank", keywords={"damping": 0.85})
    assert plain_arguments(pagerank) == {}


def test_runs_of_ones_own_replace_them(tmp_path: Path) -> None:
    graph = check_graph("barabasi-albert:n=3000,m=5,seed=1")
    found = predict_function(BETWEENNESS, graph, history=False, seed=1)
    assert "shipped" in next(e.detail for e in found.evidence if e.source == "samples")
    history = History(tmp_path / "history.sqlite")
    other = check_graph("barabasi-albert:n=500,m=5,seed=2")
    drivers = drivers_of(other, np.random.default_rng(0))
    keep_run(history, check_function(BETWEENNESS), other, drivers, seconds=0.5)
    found = predict_function(BETWEENNESS, graph, history=history, seed=1)
    detail = next(e.detail for e in found.evidence if e.source == "samples")
    assert "1 on other graphs" in detail
    assert "shipped" not in detail


def test_graphs_tell_how_much_graphs_differ() -> None:
    """The same drivers at quite other costs make another graph less sure."""
    target = {"vertices": 1000.0, "edges": 8000.0}

    def std(differ: float) -> float:
        signs = (-1.0, 1.0, 0.4, -0.6)
        points = [
            Point({"vertices": n, "edges": 8 * n}, n * math.exp(differ * sign), "", f"g{sign}")
            for sign in signs
            for n in (100.0, 200.0)
        ]
        found = extrapolate(points, target, "target", names=("vertices", "edges"))
        assert found is not None
        return found.log_std

    assert std(0.05) < 0.6 * std(0.8)


@pytest.mark.parametrize("directed", [False, True])
def test_the_work_of_each_vertex(directed: bool) -> None:
    graph = nx.gnp_random_graph(60, 0.05, seed=1, directed=directed)
    degrees = np.array([len(graph[v]) for v in graph], float)
    around = np.array([sum(degrees[w] for w in graph[v]) for v in graph], float)
    light = light_graph(graph, 1.0)
    assert light is not None
    done = works_of(light)
    assert np.allclose(np.diff(done["degree"]), degrees / degrees.sum())
    assert np.allclose(np.diff(done["around"]), around / around.sum())
    assert light_graph(graph, 1e-6) is None  # takes longer
    with pytest.raises(TypeError, match="MultiGraph is not read"):
        light_graph(nx.MultiGraph(graph), 1.0)
