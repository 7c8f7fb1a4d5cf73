"""The published counts of real graphs come out exactly."""

import pytest

from predict_graph.graph import check_graph

COUNTS = {
    "web-NotreDame.txt.gz": (325_729, 1_497_134, True),
    "uk-2007-05@100000.txt.gz": (100_000, 3_050_615, True),
    "uk-2007-05@100000.graph": (100_000, 3_050_615, True),
    "soc-Epinions1.txt.gz": (75_879, 508_837, True),
    "wiki-Vote.txt.gz": (7_115, 103_689, True),
    "p2p-Gnutella31.txt.gz": (62_586, 147_892, True),
    "email-Enron.txt.gz": (36_692, 183_831, False),
    "musae_facebook_edges.csv.gz": (22_470, 171_002, False),
    "musae_git_edges.csv.gz": (37_700, 289_003, False),
    "gemsec_deezer_HU_edges.csv.gz": (47_538, 222_887, False),
    "wing.graph.gz": (62_032, 121_544, False),
}


@pytest.mark.parametrize("file", COUNTS)
def test_counts(file, shared_graph_file):
    vertices, edges, directed = COUNTS[file]
    graph = check_graph(shared_graph_file(file), directed=directed)
    assert (graph.vertices, graph.logical_edges) == (vertices, edges)
    assert graph.directed is directed
    assert graph.read_seconds > 0


def test_webgraph_is_the_same_edge_for_edge(shared_graph_file):
    decoded = check_graph(shared_graph_file("uk-2007-05@100000.graph"))
    listed = check_graph(shared_graph_file("uk-2007-05@100000.txt.gz"))
    assert decoded.fingerprint == listed.fingerprint
    assert decoded.self_loops == 15_670


def test_sparse_ids_are_kept_as_labels(shared_graph_file):
    graph = check_graph(shared_graph_file("wiki-Vote.txt.gz"))
    assert graph.labels[0] == 3
    first = graph.labels.tolist().index(30)
    assert 1412 in graph.labels[graph.neighbors(first)]


def test_bytes_an_edge_with_the_reverse(shared_graph_file):
    graph = check_graph(shared_graph_file("web-NotreDame.txt.gz"))
    assert graph.nbytes + graph.reverse.nbytes <= 12 * graph.edges
