"""Runs that come with the package: weak evidence, until there are runs of one's own."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from predict_graph.functions import predict_function
from predict_graph.functions.child import ChildRun
from predict_graph.functions.drivers import drivers_of
from predict_graph.functions.growth import extrapolate
from predict_graph.functions.naming import check_function
from predict_graph.functions.records import keep_run
from predict_graph.functions.shipped import plain_arguments, probe_seconds, shipped_points
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
    keep_run(history, check_function(BETWEENNESS), other, drivers, ChildRun("done", seconds=0.5))
    found = predict_function(BETWEENNESS, graph, history=history, seed=1)
    detail = next(e.detail for e in found.evidence if e.source == "samples")
    assert "1 on other graphs" in detail
    assert "shipped" not in detail
