"""The published counts of real graphs come out exactly."""

import pytest

from predict_graph.graph import check_graph
from predict_graph.graph.datasets import CATALOGUE

FILES = [
    "web-NotreDame.txt.gz",
    "uk-2007-05@100000.txt.gz",
    "uk-2007-05@100000.graph",
    "soc-Epinions1.txt.gz",
    "wiki-Vote.txt.gz",
    "p2p-Gnutella31.txt.gz",
    "email-Enron.txt.gz",
    "musae_facebook_edges.csv.gz",
    "musae_git_edges.csv.gz",
    "gemsec_deezer_HU_edges.csv.gz",
    "wing.graph.gz",
]


@pytest.mark.parametrize("file", FILES)
def test_counts(file, shared_file):
    published = next(each for each in CATALOGUE.values() if file in each.files)
    graph = check_graph(shared_file(file), directed=published.directed)
    assert (graph.vertices, graph.logical_edges) == (published.vertices, published.edges)
    assert graph.directed is published.directed
    assert graph.read_seconds > 0


def test_webgraph_is_the_same_edge_for_edge(shared_file):
    decoded = check_graph(shared_file("uk-2007-05@100000.graph"))
    listed = check_graph(shared_file("uk-2007-05@100000.txt.gz"))
    assert decoded.fingerprint == listed.fingerprint
    assert decoded.self_loops == 15_670


def test_bytes_an_edge_with_the_reverse(shared_file):
    graph = check_graph(shared_file("web-NotreDame.txt.gz"))
    assert graph.nbytes + graph.reverse.nbytes <= 12 * graph.edges
