"""Whether edges are directed: what files declare, and what is said where nothing declares it."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from predict_graph import check_graph, predict
from predict_graph.functions.comparing import compare_functions
from predict_graph.functions.naming import check_function
from predict_graph.graph import save_graph
from predict_graph.graph.build import READ_AS_DIRECTED, READ_AS_UNDIRECTED

RING = "".join(f"{v} {v % 40 + 1}\n" for v in range(1, 41))


DECLARED = [
    ("a.txt", "% sym unweighted\n% 4 4 4\n", False),
    ("a.txt", "% asym positive\n", True),
    ("a.txt", "% bip unweighted\n", False),
    ("a.txt", "# Directed graph (each unordered pair of nodes is saved once): a.txt\n", True),
    ("a.txt", "# Undirected graph: a.txt\n", False),
    ("a.txt", "# The network is undirected.\n", False),
    ("a.txt", "# made by hand\n# undirected\n", False),
    ("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n40 40 40\n", True),
    ("a.edges", "\ufeff%MatrixMarket matrix coordinate pattern symmetric\n40 40 40\n", False),
]


@pytest.mark.parametrize(("name", "start", "directed"), DECLARED)
def test_a_declared_direction_is_followed(written, name, start, directed):
    file = written(start + RING, name)
    graph = check_graph(file)
    assert (graph.directed, graph.notes) == (directed, ())
    assert check_graph(file, directed=not directed).directed is not directed


def test_what_is_not_declared_is_noted(written, tmp_path):
    both = "# A directed graph; take its edges as an undirected graph if you like\n"
    file = written(both + RING, "a.txt")
    table = pd.DataFrame({"source": np.arange(40), "target": (np.arange(40) + 1) % 40})
    for source in (file, table):
        graph = check_graph(source)
        assert (graph.directed, graph.notes) == (True, (READ_AS_DIRECTED,))
        assert not any(check_graph(source, directed=way).notes for way in (True, False))
    stored = save_graph(check_graph(file), tmp_path / "a.npz")
    assert check_graph(stored).notes == (READ_AS_DIRECTED,)
    assert check_graph(stored, directed=False).notes == ()
    assert check_graph(nx.path_graph(4)).notes == check_graph("path:n=4").notes == ()


def test_the_answer_says_how_it_was_read(written, tmp_path, program):
    out = tmp_path / "out.json"
    options = ["predict", "pagerank", str(written(RING, "a.txt")), "--seed", "1"]
    assert "read as directed" in " ".join(program(*options, "--json", out).out.split())
    assert json.loads(out.read_text())["graph"]["notes"] == [READ_AS_DIRECTED]
    assert "read as" not in program(*options, "--directed", status=0).out


LIBRARIES = [
    ("networkx:pagerank", False),
    ("networkx:in_degree_centrality", True),  # of directed graphs alone
    ("networkx:topological_generations", True),
    ("igraph:Graph.pagerank", True),
]


@pytest.mark.parametrize(("function", "directed"), LIBRARIES)
def test_functions_read_edge_lists_as_their_library_does(written, function, directed):
    path = "".join(f"{v} {v + 1}\n" for v in range(40))
    found = predict(function, written(path, "a.txt"), seed=1)
    note = READ_AS_DIRECTED if directed else READ_AS_UNDIRECTED
    assert (found.graph["directed"], found.graph["notes"]) == (directed, [note])


@pytest.mark.slow
def test_functions_that_are_compared_get_the_same_graph(written):
    both = [*map(check_function, ("networkx:pagerank", "networkx:in_degree_centrality"))]
    found = compare_functions(both, check_graph(written(RING, "a.txt")), seed=1)
    assert found.graph["notes"] == [READ_AS_DIRECTED]
    assert [one.graph["directed"] for one in found.predictions] == [True, True]


def test_columns_that_may_be_weights_are_named_if_they_are_not_read(written):
    said = check_graph(written("caller,callee,minutes\na,b,3\nb,c,1\n")).notes
    assert "read without weights (minutes left out; see --weight-column)" in said
