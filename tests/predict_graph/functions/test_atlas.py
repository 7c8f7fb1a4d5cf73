"""Functions of the atlas are predicted from their graph alone."""

import gzip
import json

import networkx as nx
import numpy as np
import pytest

import predict_graph
from predict_graph.functions import atlas
from predict_graph.functions.atlas_file import FILE
from predict_graph.functions.growth import DRIVERS, drivers_of
from predict_graph.functions.naming import check_function
from predict_graph.functions.sizes import _smaller_forms
from predict_graph.graph import check_graph
from tests.refusals import refused

GRAPH = "barabasi-albert:n=3000,m=4,seed=1"
UNITS_OF_AN_EDGE, UNIT = 1e-3, 0.01


@pytest.fixture
def measured(written, monkeypatch):
    """Runs of a function that costs so many units an edge, with these arguments alone."""
    graphs, runs = [], []
    for number, size in enumerate((100, 400, 1600, 6400)):
        graph = check_graph(f"barabasi-albert:n={size},m=5,seed=2")
        graphs.append((f"kind {number}", drivers_of(graph, np.random.default_rng(0))))
        runs.append((number, UNITS_OF_AN_EDGE * graph.edges, 0.0))
    content = {"graphs": graphs, "functions": {'networkx:voterank {"number_of_nodes": 7}': runs}}
    file = written(gzip.compress(json.dumps(content).encode()), "atlas.json.gz")
    monkeypatch.setattr(atlas, "FILE", file)
    monkeypatch.setattr(atlas, "measured_unit", lambda: UNIT)


@pytest.mark.usefixtures("measured")
def test_what_the_atlas_has_is_predicted_without_a_run():
    said = predict_graph.predict(nx.voterank, GRAPH, budget=0, keywords={"number_of_nodes": 7})
    cost = UNIT * UNITS_OF_AN_EDGE * check_graph(GRAPH).edges
    assert ([each.source for each in said.evidence], said.samples) == (["atlas"], [])
    assert cost / 1.2 < said.processor_seconds < 1.2 * cost
    assert said.evidence[0].log_std < 1.5  # graphs differ, and so do machines
    assert atlas.atlas_points(check_function(nx.voterank)) == []  # other arguments


@pytest.mark.usefixtures("measured")
def test_the_size_of_a_graph_is_enough():
    graph = check_graph("barabasi-albert:n=50000,m=5,seed=3")
    size = predict_graph.GraphSize(np.int32(graph.vertices), graph.edges / 2)
    said = predict_graph.predict(nx.voterank, size, number_of_nodes=7)
    cost = UNIT * UNITS_OF_AN_EDGE * graph.edges
    assert cost / 2.0 < said.processor_seconds < 2.0 * cost
    memory = said.verdict.memory
    own = 330 * graph.vertices + 216 * graph.edges / 2
    assert own / 1.16 < memory.peak.low < own < memory.peak.high


@pytest.mark.usefixtures("measured")
def test_a_size_that_is_not_enough_is_refused():
    def predict(vertices, edges, **options):
        predict_graph.predict(nx.voterank, predict_graph.GraphSize(vertices, edges), **options)

    refused("have at most 5e", predict, 1e6, 1e12)
    refused("vertices are 1; accepted: 2 or more", predict, 1, 1)
    refused("vertices are nan", predict, float("nan"), 1)
    refused("vertices are '5M'", predict, "5M", 1)
    refused("budget does not count for the size of a graph", predict, 100, 200, budget="1s")
    refused("the atlas has no runs of networkx:voterank with such", predict, 100, 200)
    refused("networkx:voterank with such", predict, 100, 200, number_of_nodes=8)


@pytest.mark.slow
def test_sizes_on_the_command_line(program, monkeypatch):
    sizes = ["--vertices", "5 million", "--edges", "80M"]
    said = program("predict", "networkx:pagerank", *sizes, "--json", "-").answer
    assert said["graph"]["edges"] == 80_000_000
    assert said["verdict"]["peak_memory_bytes"]["high"] > 17e9  # the graph alone
    (smaller,) = _smaller_forms(predict_graph.GraphSize(5e6, 8e7), "igraph")
    assert smaller.endswith("668 MiB in predict-graph, 2 GiB in scipy, but 2.88 GiB in igraph")
    for given in (["--vertices", "5"], [], ["GRAPH", *sizes]):
        done = program("predict", "networkx:pagerank", *given)
        done.is_refused("; accepted: GRAPH, or --vertices and --edges without it")
    program("predict", "pagerank", *sizes).is_refused("are for functions, such as networkx:page")
    monkeypatch.setattr("predict_graph.functions.naming.find_spec", lambda name: None)
    for name in ("igraph:Graph.betweenness", "networkit.centrality:Betweenness"):
        assert "about" in program("predict", name, *sizes, "-q", status=0).out
        program("predict", name, GRAPH).is_refused("is not installed; install it with: pip")


def test_the_atlas_has_many_functions_on_many_graphs():
    content = json.loads(gzip.decompress(FILE.read_bytes()))
    assert FILE.stat().st_size < 2**20
    assert len(content["functions"]) >= 150
    assert len(content["graphs"]) >= 40
    assert all(set(drivers) == set(DRIVERS) for _, drivers in content["graphs"])
    names = {key.partition(" ")[0] for key in content["functions"]}
    assert {"networkx:pagerank", "igraph:betweenness", "scipy:dijkstra"} <= names
    own = [name.removeprefix("networkx:") for name in names if name.startswith("networkx:")]
    homes = (nx, nx.community, nx.approximation)
    assert all(any(hasattr(home, name) for home in homes) for name in own)
