"""GraphX by name: its twins, superstep by superstep, and predictions of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import predict_graph
from predict_graph.algorithms import check_algorithm
from predict_graph.builtin.graphx.definition import GRAPHX
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark.graphx.algorithm import rounds_of
from predict_graph.engines.spark.graphx.layout import layout_of, write_layout
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from predict_graph.prediction.request import check_function

GRAPHS = {
    "directed": ("rmat:scale=7,edge_factor=4,seed=3", True),
    "undirected": ("barabasi-albert:n=90,m=3,seed=1", False),
    "path": ("path:n=7", True),
}
CASES = [
    ("pageRank", {"tol": "0.01"}),
    ("pageRank", {"numIter": "3"}),
    ("connectedComponents", {}),
    ("connectedComponents", {"maxIterations": 1}),
    ("labelPropagation", {"maxSteps": 4}),
    ("shortestPaths", {"landmarks": "1,5"}),
]


def graph_of(name):
    source, directed = GRAPHS[name]
    return check_graph(source, directed=directed)


# Without Spark.


def test_every_edge_is_in_one_partition(tmp_path):
    graph = graph_of("directed")
    layout = layout_of(graph, 3)
    folder = write_layout(layout, tmp_path)
    pairs = np.concatenate(
        [np.loadtxt(file, dtype=np.int64, ndmin=2) for file in sorted(folder.iterdir())]
    )
    assert len(list(folder.iterdir())) == 3
    whole = np.repeat(np.arange(graph.vertices), graph.out_degrees)
    expected = sorted(zip(whole.tolist(), graph.indices.tolist(), strict=True))
    assert sorted(map(tuple, pairs.tolist())) == expected
    assert np.array_equal(pairs[:, 0], layout.sources)


def test_components_take_as_long_as_ours():
    """Both send the smallest id: GraphX looks once more to see that nothing is left."""
    graph = graph_of("undirected")
    ours = LocalEngine().run(check_algorithm("connected-components"), graph)
    rounds = rounds_of(check_function("graphx:connectedComponents"), graph, 2)
    assert len(rounds) in (ours.iterations, ours.iterations + 1)
    assert rounds["messages"].iloc[-1] == 0


def test_combining_maps_of_a_star():
    """What a hub hears of d neighbours goes over 1 + 2 + … + d entries, and each again over d.

    Both directions are stored, and every edge sends both ways: all labels come twice.
    """
    graph = check_graph("star:n=9")
    rounds = rounds_of(check_function("graphx:labelPropagation", {"maxSteps": 1}), graph, 1)
    first = rounds.iloc[0]
    assert first["messages"] == 2 * graph.edges == 32
    assert first["entries"] == 8 + 8
    assert first["merged"] == (8 * 9 // 2 + 8 * 8) + 2 * 8  # the hub, and the others


@pytest.mark.parametrize(
    ("name", "parameters", "said"),
    [
        ("nothing", {}, "unknown algorithm of GraphX 'nothing'; accepted: connectedComponents"),
        ("pageRank", {"tol": 0.1, "numIter": 3}, "accepted: one of them"),
        ("pageRank", {"tol": -1}, "tol is -1; accepted: a number greater than 0"),
        ("shortestPaths", {"landmarks": "a"}, "landmarks are 'a'; accepted: ids of vertices"),
    ],
)
def test_what_is_refused(name, parameters, said):
    with pytest.raises(RequestError, match=said):
        check_function(f"graphx:{name}", parameters)


def test_a_landmark_that_is_not_there():
    with pytest.raises(RequestError, match="landmarks have 99; accepted: ids of the graph, from 0"):
        rounds_of(check_function("graphx:shortestPaths", {"landmarks": 99}), graph_of("path"), 1)


def test_on_the_local_engine():
    for call in (predict_graph.predict, predict_graph.run):
        with pytest.raises(RequestError, match="graphx:pageRank runs on Spark alone"):
            call("graphx:pageRank", "path:n=4", history="none")


# On Spark.


@pytest.mark.spark
@pytest.mark.parametrize(
    "name",
    ["directed", *(pytest.param(each, marks=pytest.mark.long) for each in ("undirected", "path"))],
)
@pytest.mark.parametrize(("algorithm", "parameters"), CASES)
def test_the_twin_does_what_graphx_does(local_spark, algorithm, parameters, name):
    """Each superstep sends as many records as GraphX does, partition by partition combined."""
    graph = graph_of(name)
    job = check_function(f"graphx:{algorithm}", parameters)
    rounds = rounds_of(job, graph, 2)
    profile = local_spark.run(job, graph)
    assert profile.result["combined_records"] == rounds["records"].tolist()
    assert profile.iterations == len(rounds)
    sent = profile.per_iteration()
    assert sent["active_vertices"].tolist() == rounds["active_vertices"].tolist()
    spread = (sent["local_messages"] + sent["remote_messages"]) - rounds["messages"]
    assert (spread.abs() <= 2).all()
    assert sum(profile.phases.values()) > 0
    json.dumps(profile.to_dict(), default=str)


def test_every_name_is_documented():
    page = (Path(__file__).parents[4] / "docs" / "spark-jobs.md").read_text()
    for name in GRAPHX.names():
        assert f"graphx:{name}" in page
