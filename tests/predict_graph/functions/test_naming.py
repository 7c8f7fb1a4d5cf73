from __future__ import annotations

from functools import partial

import networkx as nx
import pytest

import predict_graph
from predict_graph.errors import RequestError
from predict_graph.functions.forms import build
from predict_graph.functions.naming import check_arguments, check_function, with_seed
from predict_graph.graph import check_graph


def test_names_of_a_library_and_callables_are_one_function():
    by_name = check_function("networkx:betweenness_centrality", (), {"k": 3, "seed": 1})
    given = check_function(nx.betweenness_centrality, (), {"k": 3, "seed": 1})
    assert by_name.name == given.name == "networkx:betweenness_centrality"
    assert by_name.form == given.form == "networkx"
    assert by_name.library_version == nx.__version__
    assert by_name(nx.path_graph(9)) == given(nx.path_graph(9))
    for name in ("networkx:louvain_communities", "networkx.community:louvain_communities"):
        found = check_function(name, (), {"seed": 1})
        assert found.name == "networkx:louvain_communities"
        assert found.call is nx.community.louvain_communities


def test_classes_of_networkit_are_run():
    pytest.importorskip("networkit")
    score = check_function("networkit:centrality.DegreeCentrality")
    assert score(build(check_graph("path:n=2"), "networkit")).scores() == [1.0, 1.0]


@pytest.mark.parametrize(
    "name", ["igraph:betweenness", "igraph:Graph.betweenness", "igraph.Graph:betweenness"]
)
def test_a_function_of_a_library_gets_a_graph_of_that_library(name):
    graph = pytest.importorskip("igraph").Graph
    found = check_function(name, graph=nx.path_graph(3))
    assert (found.name, found.form) == ("igraph:betweenness", "igraph")
    assert found == check_function(graph.betweenness)
    assert predict_graph.track(name, nx.star_graph(3)) == [3.0, 0.0, 0.0, 0.0]


COUNT = "import networkx as nx\ndef count(graph: nx.Graph):\n    return {}\n"


def test_a_file_or_module_of_ones_own_is_known_by_its_code(written, tmp_path, monkeypatch):
    file = written(COUNT.format("len(graph)"), "graph.py")
    monkeypatch.syspath_prepend(tmp_path)
    first, module = check_function(f"{file}:count"), check_function("graph:count")
    assert first.name == "graph.py:count"
    assert (first.form, first.library) == (module.form, module.library) == ("networkx", "")
    assert module.code
    assert first(nx.path_graph(4)) == 4
    file.write_text(COUNT.format(7))
    assert check_function(f"{file}:count")(nx.path_graph(4)) == 7


def test_the_form_is_taken_from_the_imports_the_annotation_or_the_request():
    def annotated(graph: nx.DiGraph):
        return len(graph)

    assert check_function(annotated).form == "networkx"
    assert check_function(partial(annotated)).form == "networkx"
    assert check_function(annotated, form="scipy").form == "scipy"


def takes_nothing(): ...


WRONG = [
    ("networkx:betweeness_centrality", {}, "did you mean betweenness_centrality"),
    ("no_such_module:f", {}, "there is no module 'no_such_module'"),
    ("networkx:__version__", {}, "is a str"),
    ("/no/such/file.py:f", {}, "cannot be loaded: No such file"),
    (nx.betweenness_centrality, {"keywords": {"kk": 3}}, "'kk'; accepted after .*: k=None"),
    (takes_nothing, {"form": "networkx"}, "with a graph .*: too many positional"),
    (nx.pagerank, {"form": "matrix"}, "unknown form of a graph 'matrix'"),
]


@pytest.mark.parametrize(("function", "options", "part"), WRONG)
def test_wrong_names_and_arguments_are_explained(function, options, part):
    with pytest.raises(RequestError, match=part):
        check_function(function, **options)


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("{file}:f", "def f(:\n", "line 1"),
        ("{file}:f", "import sys\nsys.exit(3)\n", "SystemExit"),
        ("broken:f", "import not_installed\n", "No module named 'not_installed'"),
    ],
)
def test_a_file_or_module_that_breaks_is_explained(
    written, tmp_path, monkeypatch, name, text, part
):
    file = written(text, "broken.py")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(RequestError, match=part):
        check_function(name.format(file=file))


def test_an_argument_is_given_once():
    with pytest.raises(RequestError, match="the argument k is given twice"):
        check_arguments(["k=1", "k=2"])


def test_arguments_of_a_partial_function_are_known():
    found = check_function(partial(nx.betweenness_centrality, k=5), keywords={"normalized": False})
    assert found.name == "networkx:betweenness_centrality"
    assert found.keywords == {"k": 5, "normalized": False}
    assert check_function(partial(partial(nx.triangles), nodes=3)).keywords == {"nodes": 3}


def test_numbers_around_a_function_distinguish_it():
    def made(k):
        def call(graph: nx.Graph):
            return nx.betweenness_centrality(graph, k=k)

        return call

    assert check_function(made(5)).code == check_function(made(5)).code
    assert check_function(made(5)).code != check_function(made(500)).code


def test_functions_of_equal_names_are_different_ones():
    heuristic = check_function("networkx.algorithms.approximation:diameter")
    assert heuristic.name != check_function("networkx:diameter").name
    assert heuristic.name == check_function(nx.approximation.diameter).name


def test_a_seed_by_position_is_kept():
    given = check_function("networkx:betweenness_centrality", (10, True, None, False, 42))
    assert with_seed(given, 7) is given
