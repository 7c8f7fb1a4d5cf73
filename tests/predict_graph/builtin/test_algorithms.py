"""What single algorithms do beyond their supersteps: parameters, named vertices, limits."""

import math
import re
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph import predict, run
from predict_graph.algorithms import ALGORITHMS, PageRank, Parameter, ShortestPaths, check_algorithm
from predict_graph.algorithms.base import Algorithm
from predict_graph.engines.local import LocalEngine, Superstep
from predict_graph.errors import PredictGraphError
from predict_graph.graph import check_graph
from predict_graph.iterations.rooted.sample import recipe_of
from tests.predict_graph.builtin.small import edges
from tests.refusals import refused

# Parameters, and those of algorithms


DAMPING = Parameter("damping", float, 0.85, "share that follows edges", 0.0, 1.0)
LIMIT = Parameter("max_iterations", int, 500, "stop after so many", 1)
OPTIONAL = Parameter("tolerance", float, None, "the threshold itself", 0.0)
CHOICE = Parameter("dangling", str, "uniform", "what becomes of rank", choices=("uniform", "drop"))


LEGAL = [
    (DAMPING, "0.9", 0.9),
    (DAMPING, 0.5, 0.5),
    (LIMIT, "12", 12),
    (LIMIT, 12.0, 12),
    (LIMIT, 1, 1),
    (OPTIONAL, None, None),
    (OPTIONAL, "1e-6", 1e-6),
    (CHOICE, "drop", "drop"),
]


@pytest.mark.parametrize(("parameter", "given", "kept"), LEGAL)
def test_a_legal_value_comes_back_with_the_declared_type(parameter, given, kept):
    value = parameter.check(given)
    assert value == kept
    assert type(value) is type(kept)


ILLEGAL = [
    (DAMPING, 1.0, "greater than 0 and less than 1"),
    (DAMPING, 0, "greater than 0 and less than 1"),
    (DAMPING, math.nan, "greater than 0 and less than 1"),
    (DAMPING, "fast", "a number"),
    (DAMPING, True, "a number"),
    (DAMPING, None, "a number"),
    (LIMIT, 2.5, "a whole number at least 1"),
    (LIMIT, "2.5", "a whole number at least 1"),
    (LIMIT, 0, "a whole number at least 1"),
    (LIMIT, math.inf, "a whole number at least 1"),
    (OPTIONAL, -1, "greater than 0"),
    (CHOICE, "spread", "uniform, drop"),
]


@pytest.mark.parametrize(("parameter", "wrong", "accepted"), ILLEGAL)
def test_a_wrong_value_is_named_with_what_is_accepted(parameter, wrong, accepted):
    value = re.escape(f"{parameter.name} is {wrong!r}; ")
    refused(f"{value}accepted: .*{accepted}", parameter.check, wrong)


WRONG = [
    ("pagerank", {"epsilon": 1, "tolerance": 1}, "epsilon and tolerance are both given"),
    ("topk-ranking", {"k": 0}, "k is 0; accepted: a whole number at least 1"),
    ("topk-ranking", {"k": 2.5}, "k is 2.5; accepted: a whole number at least 1"),
    ("label-propagation", {"tau": 1.5}, "tau is 1.5; accepted: a number greater than 0"),
    ("triangle-count", {"max_iterations": 1}, "unknown parameter of triangle-count 'max_it"),
    ("neighborhood", {"registers": 17}, "registers is 17; accepted: "),
    ("neighborhood", {"registers": 8}, "registers is 8; accepted: "),
    ("neighborhood", {"registers": 8192}, "registers is 8192; accepted: "),
    ("personalised-pagerank", {"source": ["1", "2"]}, "accepted: the id of one vertex"),
    ("personalised-pagerank", {"source": ""}, "source is ''; accepted: the id of one vertex"),
    ("personalised-pagerank", {"dangling": "uniform"}, "accepted: source, drop"),
    ("shortest-paths", {"landmarks": "1,,2"}, "landmarks is '1,,2'; accepted: comma-separated"),
    ("shortest-paths", {"landmarks": 1.5}, "landmarks is 1.5; accepted: comma-separated ids"),
    ("shortest-paths", {"landmarks": True}, "landmarks is True; accepted: comma-separated"),
    ("shortest-paths", {"landmarks": list(range(65))}, "are 65; accepted: at most 64"),
]


@pytest.mark.parametrize(("name", "given", "said"), WRONG)
def test_wrong_parameters_are_refused(name, given, said):
    refused(said, ALGORITHMS.get(name), **given)


def test_the_id_of_a_single_vertex_may_have_a_comma():
    graph = check_graph(nx.Graph([("Smith, J", "Jones"), ("Jones", "Lee")]))
    algorithm = check_algorithm("personalised-pagerank", {"source": "Smith, J"})
    assert algorithm.on(graph).known.tolist() == [0]
    assert check_algorithm("personalised-pagerank", {"source": (0, 1)}).ids == ("(0, 1)",)


# Named vertices


@pytest.mark.parametrize(("first", "second", "third"), [(700, 300, 9), ("b", "c", "a")])
def test_landmarks_are_ids_as_they_were_read(written, first, second, third):
    file = written(f"source,target\n{first},{second}\n{second},{third}\n", "ids.csv")
    graph = check_graph(file, ids="string" if first == "b" else "integer")
    profile = LocalEngine().run(ShortestPaths(landmarks=first), graph)
    place = {str(label): v for v, label in enumerate(graph.labels)}
    assert profile.values[place[str(first)]] == 0
    assert profile.values[place[str(second)]] == 1
    assert ShortestPaths(landmarks=["Doe, John", (0, 1)]).ids == ("Doe, John", "(0, 1)")
    said = "landmarks has 8, which is not a vertex of ids"
    refused(said, LocalEngine().run, ShortestPaths(landmarks="8"), graph)


@pytest.mark.parametrize("landmarks", ["12", "-1", "x", "3,12"])
def test_landmarks_that_are_not_in_the_graph_are_refused_before_anything_runs(landmarks):
    graph = check_graph("path:n=12")
    said = rf"landmarks has {landmarks.split(',')[-1]}, which is not a vertex .* such as 0 and 11$"
    refused(said, LocalEngine().run, ShortestPaths(landmarks=landmarks), graph)
    refused(said, predict, "shortest-paths", graph, parameters={"landmarks": landmarks})


def test_in_another_graph_the_vertices_with_most_edges_represent_landmarks():
    graph = check_graph("path:n=12")
    algorithm = ShortestPaths(landmarks="7,3").on(graph)
    assert algorithm.on(check_graph("path:n=3")) is algorithm
    assert algorithm.vertices_in(graph.out_degrees).tolist() == [7, 3]
    assert algorithm.vertices_in(np.array([1, 4, 0, 4])).tolist() == [1, 3]
    assert algorithm.vertices_in(np.array([1])).tolist() == [0, 0]


def test_ids_that_only_spark_knows_are_refused():
    class Elsewhere:
        name, vertices, labels = "far", 9, "hdfs:/labels"

    refused("only Spark knows the ids of this graph", ShortestPaths(landmarks="3").on, Elsewhere())
    assert ShortestPaths().on(Elsewhere()).known is None


# How runs end


def test_ranks_of_an_acyclic_graph_change_for_its_depth_plus_one_iterations():
    # Section 1 of PREDIcT; a path of 10 vertices has D = 9. One more iteration sees no change.
    graph = check_graph("path:n=10", directed=True)
    profile = LocalEngine().run(PageRank(dangling="drop"), graph, threshold=1e-300)
    assert np.count_nonzero(profile.convergence) == 10
    assert profile.iterations == 11


@pytest.mark.parametrize("name", ["k-core", "neighborhood"])
@given(data=st.data(), n=st.integers(1, 25))
def test_peeling_and_arrivals_count_the_supersteps(name, data, n):
    algorithm, ends = check_algorithm(name), st.integers(0, n - 1)
    graph = edges(*data.draw(st.lists(st.tuples(ends, ends), max_size=60)), n=n, directed=False)
    recipe = recipe_of(algorithm, graph)
    truth = LocalEngine(workers=1).run(algorithm, graph)
    assert (recipe.fewest, recipe.exact) == (truth.iterations, True)


# Neighborhood estimation beside exact counts


GRAPHS = [
    "barabasi-albert:n=900,m=3,seed=1",
    "rmat:scale=10,edge_factor=8,seed=3",
    "grid:rows=20,columns=30",
    "path:n=30",
    "star:n=60",
]


@pytest.mark.parametrize("source", GRAPHS)
def test_the_neighbourhood_function_and_diameter_are_within_the_error_of_hyperloglog(source):
    graph = check_graph(source)
    known = nx.from_scipy_sparse_array(graph.to_scipy(), create_using=nx.DiGraph)
    paths = nx.all_pairs_shortest_path_length(known)
    exact = np.cumsum(np.bincount([hop for _, reached in paths for hop in reached.values()]))
    pairs = exact - exact[0]
    diameter = float(np.interp(0.9 * pairs[-1], pairs, np.arange(len(pairs))))
    for registers in (64, 256, 4096):
        algorithm = check_algorithm("neighborhood", {"registers": registers, "tau": 1e-9})
        result = LocalEngine().run(algorithm, graph).result
        found = np.array(result["neighborhood_function"])
        # Counters that do not grow end a run before the last pairs, or a superstep after them.
        steps = min(len(found), len(exact))
        three_sigma = 3 * 1.04 / math.sqrt(registers)
        np.testing.assert_allclose(found[:steps], exact[:steps], rtol=three_sigma)
        assert found[-1] == pytest.approx(exact[-1], rel=three_sigma)
    assert result["effective_diameter"] == pytest.approx(diameter, rel=0.02)


# The algorithm that runs before top-k ranking


def test_pagerank_runs_first_and_its_time_counts():
    graph = check_graph("rmat:scale=8,edge_factor=8,seed=5")
    algorithm = check_algorithm("topk-ranking", {"k": 3, "epsilon": 0.01, "damping": 0.7})
    heard = []
    profile = LocalEngine(workers=2).run(
        algorithm, graph, max_iterations=2, progress=lambda iteration, _: heard.append(iteration)
    )
    alone = LocalEngine(workers=2).run(PageRank(epsilon=0.01, damping=0.7), graph)
    prior = profile.prior
    assert (profile.iterations, profile.converged, heard) == (2, False, [1, 2])
    assert (prior.algorithm, prior.parameters) == ("pagerank", alone.parameters)
    assert prior.converged
    assert prior.values.tobytes() == alone.values.tobytes()
    assert prior.features_total() == alone.features_total()
    own = profile.iteration_seconds.sum()
    assert profile.phases["superstep"] == pytest.approx(own + prior.phases["superstep"])
    assert profile.phases["setup"] > prior.phases["setup"] > 0
    assert profile.to_dict()["prior"]["algorithm"]["name"] == "pagerank"


class Own(Algorithm):
    """An algorithm of a user, whose parts are what a test wants."""

    name, summary, convergence, declared = "own", "what a test wants", "ratio", ()

    def __init__(self, **parts):
        super().__init__()
        kernel = {"step": lambda: Superstep(0.0, 16), "values": np.zeros(50), "summary": dict}
        kernel |= {name: parts.pop(name) for name in list(parts) if name in kernel}
        self.runs_on = {"local": lambda *given: SimpleNamespace(**kernel)}
        vars(self).update({"threshold": lambda vertices: 0.1} | parts)


WRONG = [
    ({"threshold": lambda vertices: -1.0}, "threshold is -1.0; accepted: a number of at least 0"),
    ({"threshold": lambda vertices: "1"}, "the algorithm 'own' failed: TypeError: "),
    ({"on": lambda graph: 1 / 0}, r"the algorithm 'own' failed \(.*: ZeroDivisionError: "),
    ({"runs_on": {"local": lambda *given: {}[1]}}, "the algorithm 'own' failed .*: KeyError: 1"),
    ({"step": lambda: 1 / 0}, "the algorithm 'own' failed .*: ZeroDivisionError: division by zero"),
    ({"step": lambda: None}, "the algorithm 'own' failed: TypeError: step returned None; accepted"),
    ({"step": lambda: Superstep(math.nan, 16)}, "step returned Superstep\\(convergence=nan"),
    ({"sampled_by": {"rooted": lambda *given: 1 / 0}}, "'own' failed .*: ZeroDivisionError: "),
]


@pytest.mark.parametrize(("parts", "said"), WRONG)
def test_what_an_own_algorithm_does_wrong_is_one_sentence(parts, said):
    for call, options in ((predict, {"ratio": 0.1}), (run, {})):
        if call is predict or "sampled_by" not in parts:
            with pytest.raises(PredictGraphError, match=said):
                call(Own(**parts), "rmat:scale=6,edge_factor=4", history="none", seed=1, **options)
