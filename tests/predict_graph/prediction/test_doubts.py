"""Warnings about graphs on which the method cannot work, and none on those where it can."""

import networkx as nx
import pytest

from predict_graph.graph import check_graph
from predict_graph.prediction import predict
from predict_graph.prediction.doubts import graph_doubts


def doubts(graph):
    return " / ".join(graph_doubts(check_graph(graph)))


@pytest.mark.parametrize("text", ["barabasi-albert:n=6000,m=4,seed=1"])
def test_a_scale_free_graph_raises_no_doubt(text):
    assert graph_doubts(check_graph(text)) == []


def test_a_tiny_graph():
    assert "has only 200 vertices" in doubts("barabasi-albert:n=200,m=3,seed=1")
    assert "has only 2 vertices" in doubts(nx.DiGraph([(0, 1)]))
    assert "has only 1 vertices" in doubts(nx.DiGraph([(0, 0)]))


@pytest.mark.parametrize("text", ["grid:rows=80,columns=80", "cycle:n=6000", "path:n=6000"])
def test_a_mesh(text):
    assert "no hubs" in doubts(text)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_dust(kind):
    graph = kind(nx.barabasi_albert_graph(5500, 3, seed=1))
    graph.add_nodes_from(range(6000, 6200))
    graph.add_edges_from((v, v + 1) for v in range(7000, 7600, 2))
    # 200 alone and 300 pairs among 6,300 vertices.
    assert "13% of the vertices are alone or in pairs" in doubts(graph)


def test_doubts_reach_the_prediction():
    options = {"history": "none", "seed": 1, "probe": False}
    mesh = predict("pagerank", "grid:rows=80,columns=80", **options)
    assert any("mesh" in text for text in mesh.warnings)
    assert "warning: the graph has no hubs" in str(mesh)


def test_samples_without_edges_are_told():
    graph = "barabasi-albert:n=6000,m=4,seed=1"
    options = {"method": "published", "history": "none", "seed": 1}
    told = [
        any("have no edges" in text for text in predict("pagerank", graph, **more).warnings)
        for more in (options | {"ratio": 1e-4}, options)
    ]
    assert told == [True, False]
