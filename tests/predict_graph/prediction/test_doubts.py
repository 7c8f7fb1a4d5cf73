"""Warnings about graphs on which the method cannot work, and none on those where it can."""

import networkx as nx
import pytest

from predict_graph.graph import check_graph
from predict_graph.prediction import predict
from predict_graph.prediction.doubts import graph_doubts


def dust(kind):
    """200 vertices alone and 300 pairs among 6,300."""
    graph = kind(nx.barabasi_albert_graph(5500, 3, seed=1))
    graph.add_nodes_from(range(6000, 6200))
    graph.add_edges_from((v, v + 1) for v in range(7000, 7600, 2))
    return graph


@pytest.mark.parametrize(
    ("graph", "doubt"),
    [
        ("barabasi-albert:n=200,m=3,seed=1", "has only 200 vertices"),
        (nx.DiGraph([(0, 1)]), "has only 2 vertices"),
        (nx.DiGraph([(0, 0)]), "has only 1 vertices"),
        ("grid:rows=80,columns=80", "no hubs"),
        ("cycle:n=6000", "no hubs"),
        ("path:n=6000", "no hubs"),
        (dust(nx.Graph), "13% of the vertices are alone or in pairs"),
        (dust(nx.DiGraph), "13% of the vertices are alone or in pairs"),
    ],
)
def test_graphs_that_raise_a_doubt(graph, doubt):
    assert doubt in " / ".join(graph_doubts(check_graph(graph)))


def test_a_scale_free_graph_raises_no_doubt():
    assert graph_doubts(check_graph("barabasi-albert:n=6000,m=4,seed=1")) == []


def test_doubts_reach_the_prediction():
    options = {"history": "none", "seed": 1, "probe": False}
    mesh = predict("pagerank", "grid:rows=80,columns=80", **options)
    assert any("mesh" in text for text in mesh.warnings)
    assert "warning: the graph has no hubs" in str(mesh)


@pytest.mark.parametrize("ratio", [1e-4, None])
def test_samples_without_edges_are_told(ratio):
    graph = "barabasi-albert:n=6000,m=4,seed=1"
    found = predict("pagerank", graph, method="published", ratio=ratio, history="none", seed=1)
    assert any("have no edges" in text for text in found.warnings) is (ratio is not None)
