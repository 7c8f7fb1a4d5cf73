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
    scored = check_function("networkit:centrality.DegreeCentrality")(
        build(check_graph("path:n=2"), "networkit")
    )
    assert scored.scores() == [1.0, 1.0]


@pytest.mark.parametrize(
    "name", ["igraph:betweenness", "igraph:Graph.betweenness", "igraph.Graph:betweenness"]
)
def test_a_function_of_a_library_gets_a_graph_of_that_library(name):
    pytest.importorskip("igraph")
    found = check_function(name, graph=nx.path_graph(3))
    assert (found.name, found.form) == ("igraph:betweenness", "igraph")
    assert predict_graph.track(name, nx.star_graph(3), history="none") == [3.0, 0.0, 0.0, 0.0]


def test_a_method_of_igraph_has_the_name_under_which_it_is_public():
    graph = pytest.importorskip("igraph").Graph
    for name in ("betweenness", "pagerank", "community_multilevel"):
        assert check_function(getattr(graph, name)) == check_function(f"igraph:{name}")


def test_a_file_of_ones_own_is_known_by_its_code(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("import networkx as nx\ndef count(graph: nx.Graph):\n    return len(graph)\n")
    first = check_function(f"{file}:count")
    assert (first.name, first.form, first.library) == ("mine.py:count", "networkx", "")
    assert first(nx.path_graph(4)) == 4
    file.write_text("import networkx as nx\ndef count(graph: nx.Graph):\n    return 7\n")
    assert check_function(f"{file}:count")(nx.path_graph(4)) == 7


def test_the_form_is_taken_from_the_imports_the_annotation_or_the_request():
    def annotated(graph: nx.DiGraph):
        return len(graph)

    assert check_function(annotated).form == "networkx"
    assert check_function(partial(annotated)).form == "networkx"
    assert check_function(annotated, form="scipy").form == "scipy"


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("networkx:betweeness_centrality", "did you mean betweenness_centrality"),
        ("no_such_module:f", "there is no module 'no_such_module'"),
        ("networkx:__version__", "is a str"),
        ("/no/such/file.py:f", "cannot be loaded: No such file"),
    ],
)
def test_wrong_names_are_explained(name, part):
    with pytest.raises(RequestError, match=part):
        check_function(name)


def takes_nothing(): ...


@pytest.mark.parametrize(
    ("function", "options", "part"),
    [
        (nx.betweenness_centrality, {"keywords": {"kk": 3}}, "'kk'; accepted after .*: k=None"),
        (takes_nothing, {"form": "networkx"}, "with a graph .*: too many positional"),
        (nx.pagerank, {"form": "matrix"}, "unknown form of a graph 'matrix'"),
    ],
)
def test_wrong_arguments_are_explained(function, options, part):
    with pytest.raises(RequestError, match=part):
        check_function(function, **options)


def test_an_argument_is_given_once():
    with pytest.raises(RequestError, match="the argument k is given twice"):
        check_arguments(["k=1", "k=2"])


@pytest.mark.parametrize(
    ("text", "part"), [("def f(:\n", "line 1"), ("import sys\nsys.exit(3)\n", "SystemExit")]
)
def test_a_file_that_breaks_is_explained(tmp_path, text, part):
    (tmp_path / "broken.py").write_text(text)
    with pytest.raises(RequestError, match=part):
        check_function(f"{tmp_path / 'broken.py'}:f")


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


def test_a_module_of_ones_own_is_known_by_its_code(tmp_path, monkeypatch):
    (tmp_path / "graph.py").write_text(
        "import networkx as nx\ndef count(graph: nx.Graph):\n    return len(graph)\n"
    )
    (tmp_path / "broken.py").write_text("import not_installed\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = check_function("graph:count")
    assert (found.library, found.form) == ("", "networkx")
    assert found.code
    with pytest.raises(RequestError, match="No module named 'not_installed'"):
        check_function("broken:count")


def test_a_seed_by_position_is_kept():
    given = check_function("networkx:betweenness_centrality", (10, True, None, False, 42))
    assert with_seed(given, 7) is given
