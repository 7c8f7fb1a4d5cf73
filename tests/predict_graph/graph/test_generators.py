"""Generators: what they promise, the same for the same seed, clear errors."""

import networkx as nx
import numba
import pytest

from predict_graph.errors import RequestError
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


def test_every_generator_is_tested():
    assert set(GENERATORS.names()) == set(TEXTS)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("directed", [None, True, False])
def test_every_generator(text, directed):
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("star:n=6", nx.star_graph(5)),
        ("path:n=6", nx.path_graph(6)),
        ("cycle:n=6", nx.cycle_graph(6)),
        ("grid:rows=2,columns=3", nx.convert_node_labels_to_integers(nx.grid_2d_graph(2, 3))),
        ("barabasi-albert:n=40,m=2,seed=5", nx.barabasi_albert_graph(40, 2, seed=5)),
    ],
)
def test_shapes_are_those_of_networkx(text, expected):
    assert check_graph(text).fingerprint == check_graph(expected).fingerprint


def test_rmat_does_not_depend_on_threads():
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = check_graph("rmat:scale=12,edge_factor=8,seed=9")
        numba.set_num_threads(threads)
        many = check_graph("rmat:scale=12,edge_factor=8,seed=9")
    finally:
        numba.set_num_threads(threads)
    assert one.fingerprint == many.fingerprint


def test_rmat_is_scale_free_and_permuted():
    graph = check_graph("rmat:scale=14,edge_factor=16,seed=1")
    degrees = graph.out_degrees
    assert 0.85 * 2**18 < graph.edges < 2**18
    assert degrees.max() > 50 * degrees.mean()
    # Without the permutation, the low half of the ids would hold three quarters of the edges.
    assert degrees[: 2**13].sum() / graph.edges == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rmat:scale", "'scale' in 'rmat:scale' is not a parameter; accepted: NAME=VALUE"),
        ("rmat:scale=", "not a parameter"),
        ("rmat:scale=8,scale=9", "'scale' comes twice"),
        ("rmat:size=8", "no parameter 'size'; accepted: scale, edge_factor, seed"),
        ("rmat:scale=x", "scale of rmat is 'x'; accepted: an integer"),
        ("rmat:scale=0", "scale of rmat is 0; accepted: 1 to 30"),
        ("rmat:scale=31", "scale of rmat is 31"),
        ("rmat:scale=4,edge_factor=0", "edge_factor of rmat is 0"),
        ("rmat:scale=4,seed=-1", "seed of rmat is '-1'"),
        ("rmat:scale=4,a=nan", "accepted: finite numbers"),
        ("rmat:scale=4,a=0.9", "accepted: probabilities"),
        ("rmat:scale=4,directed=maybe", "directed of rmat is 'maybe'; accepted: true, false"),
        ("star", "needs n="),
        ("star:n=0", "n of star is 0; accepted: 1 to"),
        ("star:n=1", "has no edges"),
        ("grid:rows=3", "needs columns="),
        ("erdos-renyi:n=4,p=2", "p of erdos-renyi is 2"),
        ("barabasi-albert:n=3,m=5", "cannot be made: .*m >= 1 and m < n"),
        ("ramt:scale=4", "unknown graph 'ramt:scale=4'"),
    ],
)
def test_wrong_texts(text, message):
    with pytest.raises(RequestError, match=message):
        check_graph(text)
