"""Generators: what they promise, the same for the same seed, clear errors."""

import networkx as nx
import numba
import pytest

from predict_graph.graph import check_graph
from predict_graph.graph.generators import GENERATORS

TEXTS = {
    "rmat": "rmat:scale=8,edge_factor=4,seed=2",
    "barabasi-albert": "barabasi-albert:n=50,m=3,seed=2",
    "erdos-renyi": "erdos-renyi:n=50,p=0.1,seed=2",
    "watts-strogatz": "watts-strogatz:n=50,k=4,p=0.2,seed=2",
    "powerlaw-cluster": "powerlaw-cluster:n=50,m=3,p=0.2,seed=2",
    "star": "star:n=50",
    "path": "path:n=50",
    "cycle": "cycle:n=50",
    "grid": "grid:rows=5,columns=10",
}


@pytest.mark.parametrize("name", GENERATORS.names())
@pytest.mark.parametrize("directed", [None, True, False])
def test_every_generator(name, directed):
    text = TEXTS[name]
    graph = check_graph(text, directed=directed)
    assert graph.vertices == (256 if "rmat" in text else 50)
    assert graph.name == text
    assert graph.read_seconds > 0
    expected = "rmat" in text if directed is None else directed
    assert graph.directed is expected
    if not expected:
        matrix = graph.to_scipy()
        assert (matrix != matrix.T).nnz == 0
    assert check_graph(text, directed=directed).fingerprint == graph.fingerprint
    if "seed" in text:
        other = check_graph(text.replace("seed=2", "seed=3"), directed=directed)
        assert other.fingerprint != graph.fingerprint
        by_option = check_graph(text.replace(",seed=2", ""), directed=directed, seed=2)
        assert by_option.fingerprint == graph.fingerprint


SHAPES = [
    ("star:n=6", nx.star_graph(5)),
    ("path:n=6", nx.path_graph(6)),
    ("cycle:n=6", nx.cycle_graph(6)),
    ("grid:rows=2,columns=3", nx.convert_node_labels_to_integers(nx.grid_2d_graph(2, 3))),
]


@pytest.mark.parametrize(("text", "expected"), SHAPES)
def test_shapes_are_those_of_networkx(text, expected):
    assert check_graph(text).fingerprint == check_graph(expected).fingerprint


def test_the_direction_is_the_one_asked_for():
    graph = check_graph("erdos-renyi:n=50,p=0.1,directed=true,seed=1", directed=False)
    assert not graph.directed
    assert (graph.to_scipy() != graph.to_scipy().T).nnz == 0


def test_rmat_does_not_depend_on_threads():
    found = set()
    for threads in (1, numba.get_num_threads()):
        numba.set_num_threads(threads)
        found.add(check_graph("rmat:scale=12,edge_factor=8,seed=9").fingerprint)
    assert len(found) == 1


def test_rmat_is_scale_free_and_permuted():
    graph = check_graph("rmat:scale=14,edge_factor=16,seed=1")
    degrees = graph.out_degrees
    assert 0.85 * 2**18 < graph.edges < 2**18
    assert degrees.max() > 50 * degrees.mean()
    # Without the permutation, the low half of the ids would hold three quarters of the edges.
    assert degrees[: 2**13].sum() / graph.edges == pytest.approx(0.5, abs=0.1)
