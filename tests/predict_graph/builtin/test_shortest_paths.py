"""Shortest paths: kernel, replica and Spark program beside a slow program and networkx; samples."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import ShortestPaths
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import Weighting
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from predict_graph.iterations.rooted.recipes import recipe_of
from predict_graph.prediction import predict
from tests.predict_graph.builtin.small import edges


class Program:
    """Hops, vertex by vertex: what each knows of the landmarks."""

    def __init__(self, graph, landmarks):
        self.known = [{} for _ in range(graph.vertices)]
        for number, landmark in enumerate(landmarks):
            self.known[landmark][number] = 0
        self.news = {v for v, known in enumerate(self.known) if known}
        self.heard = set()

    def message(self, v):
        return dict(self.known[v]) if v in self.news else None

    def size(self, message):
        return 8 + 16 * len(message)

    def receive(self, v, messages):
        for _, known in messages:
            for landmark, hops in known.items():
                if hops + 1 < self.known[v].get(landmark, float("inf")):
                    self.known[v][landmark] = hops + 1
                    self.heard.add(v)

    def aggregate(self):
        self.news, self.heard = self.heard, set()
        return len(self.news) / len(self.known)


def columns(values, count):
    return np.asarray(values).reshape(-1, count)


def check(held_against, graph, landmarks, **parameters):
    algorithm = ShortestPaths(landmarks=list(landmarks), **parameters)
    profile, program = held_against(algorithm, graph, lambda _: Program(graph, landmarks))
    expected = [[known.get(k, -1) for k in range(len(landmarks))] for known in program.known]
    assert columns(profile.values, len(landmarks)).tolist() == expected
    assert profile.result["reached"] == sum(bool(known) for known in program.known)
    assert profile.result["farthest"] == max(map(max, expected))
    return profile


SMALL = {
    "one vertex": (edges(n=1), [0]),
    "one vertex and its loop": (edges((0, 0)), [0]),
    "no edges": (edges(n=5), [3]),
    "against the edges": (edges((0, 1), (1, 2)), [2]),
    "path": (check_graph("path:n=12"), [0]),
    "path, both ends": (check_graph("path:n=12", directed=False), [0, 11]),
    "cycle": (check_graph("cycle:n=9", directed=True), [4]),
    "star, from a leaf": (edges(*((9, leaf) for leaf in range(9)), directed=False), [2]),
    "grid": (check_graph("grid:rows=4,columns=5", directed=False), [0, 7, 19]),
    "scale-free": (check_graph("rmat:scale=7,edge_factor=4,seed=2"), [1, 60]),
}


@pytest.mark.parametrize("name", SMALL)
def test_supersteps_are_those_of_a_bulk_synchronous_system(name, held_against):
    assert check(held_against, *SMALL[name]).converged


@given(data=st.data(), n=st.integers(1, 30), directed=st.booleans())
def test_hops_are_those_of_networkx(data, n, directed, held_against):
    vertex = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=60))
    landmarks = data.draw(st.lists(vertex, min_size=1, max_size=3, unique=True))
    limit = data.draw(st.sampled_from([1, 2, 500]))
    graph = edges(*pairs, n=n, directed=directed)
    profile = check(held_against, graph, landmarks, max_iterations=limit)
    if not profile.converged:
        return
    known = nx.DiGraph() if directed else nx.Graph()
    known.add_nodes_from(range(n))
    known.add_edges_from(pairs)
    for found, landmark in zip(columns(profile.values, len(landmarks)).T, landmarks, strict=True):
        lengths = nx.single_source_shortest_path_length(known, landmark)
        assert found.tolist() == [lengths.get(v, -1) for v in range(n)]


# Which vertices the landmarks are


def test_the_default_is_the_first_vertex_with_most_edges():
    graph = edges((3, 0), (3, 1), (2, 0), (2, 4))
    profile = LocalEngine().run(ShortestPaths(), graph)
    assert profile.values.tolist() == [1, -1, 0, -1, 1]
    assert profile.parameters == {"max_iterations": 500}


@pytest.mark.parametrize(("first", "second"), [(700, 300), ("b", "c")])
def test_landmarks_are_ids_as_they_were_read(tmp_path, first, second):
    file = tmp_path / "ids.csv"
    file.write_text(f"source,target\n{first},{second}\n{second},{'a' if first == 'b' else 9}\n")
    graph = check_graph(file, ids="string" if first == "b" else "integer")
    profile = LocalEngine().run(ShortestPaths(landmarks=first), graph)
    place = {str(label): v for v, label in enumerate(graph.labels)}
    assert profile.values[place[str(first)]] == 0
    assert profile.values[place[str(second)]] == 1
    with pytest.raises(RequestError, match="landmarks has 8, which is not a vertex of ids"):
        LocalEngine().run(ShortestPaths(landmarks="8"), graph)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("1,,2", "landmarks is '1,,2'; accepted: comma-separated ids of vertices"),
        (1.5, "landmarks is 1.5; accepted: comma-separated ids"),
        (True, "landmarks is True; accepted: comma-separated ids"),
        (list(range(65)), "landmarks are 65; accepted: at most 64"),
    ],
)
def test_what_are_no_landmarks_is_refused(given, said):
    with pytest.raises(RequestError, match=said):
        ShortestPaths(landmarks=given)


@pytest.mark.parametrize("landmarks", ["12", "-1", "x", "3,12"])
def test_landmarks_that_are_not_in_the_graph_are_refused_before_anything_runs(landmarks):
    graph = check_graph("path:n=12")
    said = rf"landmarks has {landmarks.split(',')[-1]}, which is not a vertex .* such as 0 and 11$"
    with pytest.raises(RequestError, match=said):
        LocalEngine().run(ShortestPaths(landmarks=landmarks), graph)
    with pytest.raises(RequestError, match=said):
        predict(
            "shortest-paths", graph, parameters={"landmarks": landmarks}, history="none", seed=1
        )


def test_in_another_graph_the_vertices_with_most_edges_stand_for_landmarks():
    graph = check_graph("path:n=12")
    algorithm = ShortestPaths(landmarks="7,3").on(graph)
    assert algorithm.on(check_graph("path:n=3")) is algorithm
    assert algorithm.landmarks_in(graph.out_degrees).tolist() == [7, 3]
    assert algorithm.landmarks_in(np.array([1, 4, 0, 4])).tolist() == [1, 3]
    assert algorithm.landmarks_in(np.array([1])).tolist() == [0, 0]


# Samples


@pytest.fixture(scope="module")
def shared():
    return check_graph("rmat:scale=14,edge_factor=4,seed=3")


@pytest.mark.parametrize("landmarks", [None, "17", "17,4,200,5,6,7,8"])
def test_a_sample_knows_how_long_a_run_is_and_what_it_sends(shared, landmarks):
    algorithm = ShortestPaths(landmarks=landmarks).on(shared)
    truth = LocalEngine().run(algorithm, shared)
    found = predict(algorithm, shared, method="rooted", history="none", seed=1, ratio=0.2)
    assert found.iterations.predicted == truth.iterations
    for counter in ("remote_messages", "remote_message_bytes", "active_vertices"):
        predicted, actual = found.features_total()[counter], truth.features_total()[counter]
        assert predicted == pytest.approx(actual, rel=0.15), counter


def test_a_sample_begins_at_the_landmarks(shared):
    algorithm = ShortestPaths(landmarks="17,4").on(shared)
    sample = recipe_of(algorithm, shared).sampler.draw(300, np.random.default_rng(0))
    kernel = algorithm.part_for("local")(algorithm, sample.graph)
    kernel.stand_for(Weighting(sample.vertices, sample.weights, sample.degrees, np.zeros(0)))
    for number, landmark in enumerate((17, 4)):
        begun = kernel.values[:, number] == 0
        assert sample.vertices[begun].tolist() == [landmark]


# On a cluster


def test_ids_that_only_spark_knows_are_refused():
    class Elsewhere:
        name, vertices, labels = "far", 9, "hdfs:/labels"

    with pytest.raises(RequestError, match="only Spark knows the ids of this graph"):
        ShortestPaths(landmarks="3").on(Elsewhere())
    assert ShortestPaths().on(Elsewhere()).known is None
