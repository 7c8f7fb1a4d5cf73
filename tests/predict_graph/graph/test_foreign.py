"""Graphs of other libraries: the same graph, whatever held it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.foreign import from_library

EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4)]


def same(graph, directed=True, weights=None):
    assert graph.vertices == 5
    found = [(v, int(w)) for v in range(5) for w in graph.neighbors(v)]
    expected = EDGES if directed else [*EDGES, *((t, s) for s, t in EDGES)]
    assert sorted(found) == sorted(expected)
    if weights is not None:
        by_edge = dict(zip(found, graph.weights.tolist(), strict=True))
        assert by_edge == dict(zip(EDGES, weights, strict=True))


def test_igraph():
    igraph = pytest.importorskip("igraph")
    same(check_graph(igraph.Graph(edges=EDGES, directed=True)))
    same(check_graph(igraph.Graph(edges=EDGES)), directed=False)
    weighted = igraph.Graph(edges=EDGES, directed=True, edge_attrs={"weight": [1, 2, 3, 4, 5]})
    same(check_graph(weighted), weights=[1, 2, 3, 4, 5])
    named = igraph.Graph(edges=EDGES, vertex_attrs={"name": list("abcde")})
    assert check_graph(named).labels.tolist() == list("abcde")
    bad = igraph.Graph(edges=EDGES, edge_attrs={"weight": [1, 2, None, 4, 5]})
    with pytest.raises(RequestError, match="weight"):
        check_graph(bad)
    with pytest.raises(RequestError, match="no edges"):
        check_graph(igraph.Graph(3))


def test_networkit_is_known_by_its_module_name():
    """It need not be installed: an object with its interface will do."""

    class Graph:
        def numberOfNodes(self):  # noqa: N802
            return 5

        upperNodeIdBound = numberOfNodes  # noqa: N815

        def isWeighted(self):  # noqa: N802
            return False

        isDirected = isWeighted  # noqa: N815

        def iterEdges(self):  # noqa: N802
            return iter(EDGES)

    Graph.__module__ = "networkit.graph"
    same(from_library(EdgeList(Graph()), directed=None, name=None), directed=False)


@pytest.mark.parametrize("names", [("a", "b"), ("source", "target"), ("dst", "src")])
def test_pandas(names):
    table = pd.DataFrame(EDGES, columns=["x", "y"])
    table.columns = list(names)
    if names == ("dst", "src"):
        table = table.rename(columns={"dst": "src", "src": "dst"})[["dst", "src"]]
    same(check_graph(table))
    same(check_graph(table, directed=False), directed=False)
    same(check_graph(table.assign(weight=range(1, 6))), weights=[1, 2, 3, 4, 5])


def test_pandas_with_other_ids():
    table = pd.DataFrame({"source": ["x", "y"], "target": ["y", "z"]})
    assert check_graph(table).labels.tolist() == ["x", "y", "z"]
    assert check_graph(pd.DataFrame([(10, 30), (30, 20)])).labels.tolist() == [10, 20, 30]


@pytest.mark.parametrize(
    ("table", "match"),
    [
        (pd.DataFrame({"a": [1]}), "1 columns"),
        (pd.DataFrame({"a": ["x", None], "b": ["y", "z"]}), "missing"),
        (pd.DataFrame({"a": [1.0, np.nan], "b": [2.0, 3.0]}), "missing"),
        (pd.DataFrame({"a": [1, "x"], "b": [2, 3]}), "several kinds"),
        (pd.DataFrame({"a": [0], "b": [1], "weight": ["much"]}), "not a number"),
        (pd.DataFrame({"a": [], "b": []}), "no vertices"),
    ],
)
def test_tables_that_are_no_graph(table, match):
    with pytest.raises(RequestError, match=match):
        check_graph(table)


def test_polars_is_known_by_its_module_name():
    """It need not be installed: an object that is taken by [:, place] will do."""

    class DataFrame:
        columns = ("source", "target")

        def __getitem__(self, place):
            return pd.Series([edge[place[1]] for edge in EDGES])

    DataFrame.__module__ = "polars.dataframe.frame"
    same(from_library(EdgeList(DataFrame()), directed=None, name=None))
