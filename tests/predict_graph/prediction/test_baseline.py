"""What is estimated before anything runs: on graphs with hubs, and on those without."""

import networkx as nx
import pytest

import predict_graph
from predict_graph.algorithms import check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.iterations.rooted.sample import depth_of, hop_tree
from predict_graph.prediction.assembly import graph_doubts
from tests.vertex_programs import Labels

HOPS = ("connected-components", "neighborhood", "shortest-paths", "topk-ranking")
MESHES = {
    "square": lambda: nx.grid_2d_graph(60, 60),
    "strip": lambda: nx.grid_2d_graph(4, 300),
    "triangular": lambda: nx.triangular_lattice_graph(40, 40),
    "hexagonal": lambda: nx.hexagonal_lattice_graph(30, 30),
    "solid": lambda: nx.grid_graph((12, 12, 12)),
    "ring": lambda: nx.watts_strogatz_graph(4000, 6, 0.001, seed=1),
    "hubs": lambda: nx.barabasi_albert_graph(3000, 4, seed=1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOPS)
def test_iterations_of_what_goes_through_a_graph_by_hops(name):
    within = []
    for mesh in MESHES.values():
        graph = check_graph(nx.convert_node_labels_to_integers(mesh()))
        found = predict_graph.predict(name, graph, budget=0)
        assert found.method["name"] == "baseline estimate"
        truth = LocalEngine().run(check_algorithm(name), graph).iterations
        interval = found.iterations
        assert 0.5 * truth <= interval.predicted <= 1.5 * truth + 1  # a depth is half a diameter
        assert interval.high <= 2.1 * interval.low + 2
        within.append(interval.low <= truth <= interval.high)
    assert sum(within) >= len(within) - 1


ENDLESS = [("connected-components", {"budget": 0}), ("label-propagation", {"budget": 0})]
ENDLESS += [("neighborhood", {"ratio": 0.1}), (Labels(), {"ratio": 0.1})]


@pytest.mark.parametrize(("job", "way"), ENDLESS)
def test_the_limit_of_iterations_is_said_where_a_run_goes_on_beyond_it(job, way):
    found = predict_graph.predict(job, "path:n=9000", **way, directed=False)
    limit = check_algorithm(job).max_iterations
    assert found.iterations.predicted == limit
    assert any(f"stop at its limit of {limit}" in text for text in found.warnings)
    assert found.rows.floats("convergence").max() <= 1.0  # all are shares


def test_the_depth_of_a_directed_graph_needs_no_reverse(monkeypatch):
    graph = check_graph("rmat:scale=9,edge_factor=8,seed=1")
    assert graph.directed
    expected = hop_tree(graph, int(graph.out_degrees.argmax())).distance.max()
    fresh = graph.fresh()
    monkeypatch.setattr(type(fresh), "reverse", property(lambda graph: pytest.fail("reversed")))
    assert depth_of(fresh) in (expected, None)


FAST = {"epsilon": 1e-10, "damping": 0.1}
OTHERS = {"pagerank": FAST, "neighborhood": {"registers": 256}, "shortest-paths": {}}


@pytest.mark.parametrize("job", OTHERS)
def test_a_baseline_is_one_of_the_parameters(job, tmp_path):
    given = {"parameters": OTHERS[job], "history": tmp_path / "runs.sqlite"}
    predict_graph.run(job, "star:n=500", **given | {"parameters": {"max_iterations": 1}})
    found = predict_graph.predict(job, "star:n=7000", budget=0, **given)
    truth = predict_graph.run(job, "star:n=7000", **given)
    assert found.iterations.contains(truth.iterations)
    assert found.rows["average_message_bytes"].max() == truth.rows["average_message_bytes"].max()
    limited = given | {"parameters": {**OTHERS[job], "max_iterations": 40}}
    again = predict_graph.predict(job, "star:n=6000", budget=0, **limited).iterations.predicted
    assert again in (truth.iterations, 1 + depth_of(check_graph("star:n=6000")))


# Warnings about graphs on which the method cannot work.


DOUBTS = [
    ("barabasi-albert:n=200,m=3,seed=1", "has only 200 vertices"),
    (nx.DiGraph([(0, 1)]), "has only 2 vertices"),
    (nx.DiGraph([(0, 0)]), "has only 1 vertices"),
    ("grid:rows=80,columns=80", "no hubs"),
    ("cycle:n=6000", "no hubs"),
    ("path:n=6000", "no hubs"),
]


@pytest.mark.parametrize(("graph", "doubt"), DOUBTS)
def test_graphs_that_raise_a_doubt(graph, doubt):
    assert doubt in " / ".join(graph_doubts(check_graph(graph)))
    assert graph_doubts(check_graph("barabasi-albert:n=6000,m=4,seed=1")) == []


@pytest.mark.parametrize("ratio", [1e-4, None])
def test_samples_without_edges_are_told(ratio):
    graph = "barabasi-albert:n=6000,m=4,seed=1"
    found = predict_graph.predict("pagerank", graph, method="published", ratio=ratio, seed=1)
    assert any("have no edges" in text for text in found.warnings) is (ratio is not None)
