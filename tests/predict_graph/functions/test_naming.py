from __future__ import annotations

from functools import partial
from pathlib import Path

import networkx as nx
import pytest

import predict_graph
from predict_graph.errors import RequestError
from predict_graph.functions.forms import build
from predict_graph.functions.naming import check_arguments, check_function, is_function
from predict_graph.graph import check_graph


def test_names_of_a_library_and_callables_are_one_function() -> None:
    by_name = check_function("networkx:betweenness_centrality", (), {"k": 3, "seed": 1})
    given = check_function(nx.betweenness_centrality, (), {"k": 3, "seed": 1})
    assert by_name.name == given.name == "networkx:betweenness_centrality"
    assert by_name.form == given.form == "networkx"
    assert by_name.library_version == nx.__version__
    assert by_name(nx.path_graph(9)) == given(nx.path_graph(9))


@pytest.mark.parametrize(
    "name",
    ["networkx:louvain_communities", "networkx.community:louvain_communities"],
)
def test_functions_of_submodules_are_found(name: str) -> None:
    found = check_function(name, (), {"seed": 1})
    assert found.name == "networkx:louvain_communities"
    assert found.call is nx.community.louvain_communities


def test_methods_of_igraph_and_classes_of_networkit() -> None:
    igraph = pytest.importorskip("igraph")
    found = check_function("igraph:betweenness")
    assert found.form == "igraph"
    assert found(igraph.Graph.Ring(5)) == pytest.approx([1.0] * 5)
    pytest.importorskip("networkit")
    scored = check_function("networkit:centrality.DegreeCentrality")(
        build(check_graph("path:n=2"), "networkit")
    )
    assert scored.scores() == [1.0, 1.0]


@pytest.mark.parametrize(
    "name", ["igraph:betweenness", "igraph:Graph.betweenness", "igraph.Graph:betweenness"]
)
def test_a_function_of_a_library_gets_a_graph_of_that_library(name: str) -> None:
    pytest.importorskip("igraph")
    found = check_function(name, graph=nx.path_graph(3))
    assert (found.name, found.form) == ("igraph:betweenness", "igraph")
    assert predict_graph.track(name, nx.star_graph(3), history="none") == [3.0, 0.0, 0.0, 0.0]


def test_a_file_of_ones_own_is_known_by_its_code(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import networkx as nx\ndef count(graph: nx.Graph):\n    return len(graph)\n")
    first = check_function(f"{file}:count")
    assert (first.name, first.form, first.library) == ("mine.py:count", "networkx", "")
    assert first(nx.path_graph(4)) == 4
    file.write_text("import networkx as nx\ndef count(graph: nx.Graph):\n    return 7\n")
    assert check_function(f"{file}:count")(nx.path_graph(4)) == 7


def test_the_form_is_taken_from_the_imports_the_annotation_or_the_request() -> None:
    def annotated(graph: nx.DiGraph) -> int:
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
def test_wrong_names_are_explained(name: str, part: str) -> None:
    with pytest.raises(RequestError, match=part):
        check_function(name)


def test_wrong_arguments_are_explained() -> None:
    with pytest.raises(RequestError, match="unexpected keyword argument 'kk'; accepted: k=None"):
        check_function("networkx:betweenness_centrality", (), {"kk": 3})

    def takes_nothing() -> None: ...

    with pytest.raises(RequestError, match="takes no graph"):
        check_function(takes_nothing, form="networkx")
    with pytest.raises(RequestError, match="unknown form of a graph 'matrix'"):
        check_function(nx.pagerank, form="matrix")
    with pytest.raises(RequestError, match="the argument k is given twice"):
        check_arguments(["k=1", "k=2"])


def test_a_file_that_breaks_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text("def f(:\n")
    with pytest.raises(RequestError, match="line 1"):
        check_function(f"{file}:f")
    file.write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(RequestError, match="SystemExit"):
        check_function(f"{file}:f")


def test_algorithms_are_no_functions() -> None:
    assert is_function("networkx:pagerank")
    assert not is_function("pagerank")
    assert not is_function("pagerank:")
