"""What samplers take for a graph, and what holds for every one of them on any graph."""

import itertools
import pkgutil
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from samplers import SAMPLERS, check_csr, induced_csr
from tests.paces import lines_run, peak_bytes
from tests.refusals import invalid


@pytest.fixture(params=sorted(SAMPLERS))
def name(request):
    """The name of each sampler."""
    return request.param


def make(name, **options):
    return pkgutil.resolve_name(SAMPLERS[name])(**options)


def arrays(n, edges, directed=True):
    """Build a graph as it comes, parallel edges and self-loops included."""
    edges = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    order = np.argsort(edges[:, 0], kind="stable")
    counts = np.bincount(edges[:, 0], minlength=n)
    indptr, indices = np.concatenate([[0], np.cumsum(counts)]), edges[order, 1].astype(np.int32)
    return SimpleNamespace(indptr=indptr, indices=indices, shape=(n, n), directed=directed)


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 40))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=120))
    directed = draw(st.booleans())
    backwards = [] if directed else [(w, v) for v, w in edges if v != w]
    return arrays(n, edges + backwards, directed)


SEEDS = st.integers(0, 2**63)


@given(graph=graphs(), ratio=st.floats(0, 1, exclude_min=True), seed=SEEDS)
def test_any_graph_any_ratio_any_seed(name, graph, ratio, seed):
    n = graph.shape[0]
    sample = make(name).sample(graph, ratio, seed)
    assert len(sample.vertices) == sample.requested == max(1, round(ratio * n))
    assert len(np.unique(sample.vertices)) == len(sample.vertices)
    assert sample.vertices.min() >= 0
    assert sample.vertices.max() < n
    assert sample.edges_scanned == np.diff(graph.indptr)[sample.vertices].sum()
    assert not sample.capped
    again = make(name).sample(graph, ratio, seed)
    np.testing.assert_array_equal(sample.vertices, again.vertices)
    assert (sample.steps, sample.restarts) == (again.steps, again.restarts)


@given(graph=graphs(), seed=SEEDS, cap=st.integers(1, 60))
def test_edge_cap_gives_a_prefix_of_the_sample(name, graph, seed, cap):
    degrees = np.diff(graph.indptr)
    whole = make(name).sample(graph, 1.0, seed)
    capped = make(name).sample(graph, 1.0, seed, max_edges=cap)
    k = len(capped.vertices)
    assert k >= 1
    np.testing.assert_array_equal(capped.vertices, whole.vertices[:k])
    assert k == 1 or capped.edges_scanned <= cap
    assert capped.capped == (k < whole.requested)
    if capped.capped:
        assert "edge cap" in capped.note
        assert capped.edges_scanned + degrees[whole.vertices[k]] > cap


def test_seeds_differ_and_a_generator_is_advanced(name):
    graph = nx.barabasi_albert_graph(300, 3, seed=1)
    generator = np.random.default_rng(5)
    states = (1, 2, generator, generator, np.random.default_rng(5))
    one, two, *drawn, again = (make(name).sample(graph, 0.3, s).vertices for s in states)
    assert not np.array_equal(one, two)
    assert not np.array_equal(*drawn)
    np.testing.assert_array_equal(drawn[0], again)


def test_same_sample_from_every_kind_of_input(name):
    matrix = sparse.random_array((60, 60), density=0.08, rng=3, format="csr")
    matrix.sort_indices()
    directed = nx.from_scipy_sparse_array(matrix, create_using=nx.DiGraph)
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    mapped = SimpleNamespace(indptr=indptr, indices=indices, shape=matrix.shape)
    expected = make(name).sample(matrix, 0.5, 7).vertices
    for graph in (matrix.tocsc(), matrix.tocoo(), sparse.csr_matrix(matrix), directed, mapped):
        np.testing.assert_array_equal(make(name).sample(graph, 0.5, 7).vertices, expected)


DEGENERATE = {
    "one vertex": arrays(1, []),
    "one vertex, self-loop": arrays(1, [(0, 0)]),
    "dust": arrays(3000, []),
    "self-loops only": arrays(2000, [(v, v) for v in range(2000)]),
    "pairs": arrays(2000, [(v, v + 1) for v in range(0, 2000, 2)]),
    "out-star": arrays(3000, [(0, v) for v in range(1, 3000)]),
    "in-star": arrays(3000, [(v, 0) for v in range(1, 3000)]),
    "path": arrays(3000, [(v, v + 1) for v in range(2999)]),
    "closed clique and dust": arrays(2000, [*itertools.permutations(range(40), 2)]),
}


@pytest.mark.parametrize("title", DEGENERATE)
def test_degenerate_graphs_end_soon(name, title):
    graph = DEGENERATE[title]
    sample = make(name).sample(graph, 1.0, 3)
    np.testing.assert_array_equal(np.sort(sample.vertices), np.arange(graph.shape[0]))
    assert sample.steps <= 1000 * graph.shape[0] + 2000


def test_what_walks_cannot_reach_is_filled_in():
    for name in ("brj", "rwr"):
        sample = make(name).sample(DEGENERATE["dust"], 1.0, 3)
        assert sample.steps <= 11 * 3000 + 2000
        assert f"so {sample.unreached} (" in sample.note
        assert "filled in uniformly" in sample.note
    assert make("rj", patience=1).sample(DEGENERATE["dust"], 1.0, 3).steps <= 3000
    sample = make("brj").sample(DEGENERATE["closed clique and dust"], 0.5, 3)
    assert sample.unreached == len(sample) - 40


WRONG_OPTIONS = [
    *((name, "ratio", (0, -0.1, 1.0001, np.nan, "0.1", None, True), "in ") for name in SAMPLERS),
    ("rj", "random_state", (-1, 1.5, "x"), "an integer >= 0"),
    ("rj", "max_edges", (0, -3, 1.5, True), "an integer >= 1"),
    ("rj", "restart", (-0.1, 1.1), "a number in "),
    ("brj", "seed_fraction", (0, 2), "a number in "),
    ("rwr", "patience", (0,), "an integer >= 1"),
    ("mhrw", "restart", (np.nan,), "a number in "),
]


@pytest.mark.parametrize(("name", "option", "values", "accepted"), WRONG_OPTIONS)
def test_wrong_options_are_found_when_sampling(name, option, values, accepted):
    for value in values:
        of_sample = option in ("ratio", "random_state", "max_edges")
        sampler = make(name) if of_sample else make(name, **{option: value})
        arguments = {"ratio": 0.1} | ({option: value} if of_sample else {})
        with pytest.raises(ValueError, match=f"{option} is .*accepted: .*{accepted}"):
            sampler.sample(DEGENERATE["path"], **arguments)


def test_a_tenth_of_a_large_graph_is_fast_and_takes_a_fraction_of_its_memory(name):
    graph = arrays(200_000, np.random.default_rng(0).integers(0, 200_000, (1_000_000, 2)))
    make(name).sample(graph, 0.01, 0)
    # A loop in Python would run one for each vertex of the sample, at least.
    assert lines_run(lambda: make(name).sample(graph, 0.1, 1)) < 20_000
    # Without a reverse at hand mhrw builds one, as large as the graph: documented, not in this bar.
    graph.reverse = check_csr(graph).reverse()
    peak = peak_bytes(lambda: make(name).sample(graph, 0.1, 1))
    assert peak <= 0.6 * (graph.indptr.nbytes + graph.indices.nbytes)


def test_arrays_are_not_copied():
    matrix = sparse.random_array((20, 20), density=0.2, rng=1, format="csr")
    arrays = check_csr(matrix)
    assert np.shares_memory(arrays.indices, matrix.indices)
    assert np.shares_memory(arrays.indptr, matrix.indptr)
    assert matrix.indices.flags.writeable


def raw(indptr, indices, shape):
    return SimpleNamespace(indptr=np.array(indptr), indices=np.array(indices), shape=shape)


NO_GRAPHS = [
    ([[0, 1]], "a list is not a graph"),
    (sparse.csr_array((2, 3)), "must be square"),
    (sparse.csr_array((0, 0)), "no vertices"),
    (nx.Graph(), "no vertices"),
    (raw([0, 1], [0], (2, 2)), "indptr has 2 elements; 3 are needed"),
    (raw([0, 1, 5], [0], (2, 2)), "indptr ends at 5, but there are 1 edges"),
    (raw([0, 1, 2], [0, 2], (2, 2)), "edge 1 leads to the vertex 2; accepted: 0 to 1"),
    (raw([0.0, 1.0], [0], (1, 1)), "indptr has type float64"),
]


@pytest.mark.parametrize(("graph", "message"), NO_GRAPHS)
def test_what_is_not_a_graph(graph, message):
    invalid(message, check_csr, graph)


@st.composite
def matrices(draw):
    n = draw(st.integers(1, 25))
    vertex = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(vertex, vertex), max_size=80, unique=True))
    rows, columns = np.array(edges, dtype=np.int32).reshape(-1, 2).T
    values = np.arange(1, len(edges) + 1, dtype=np.float32)
    return sparse.csr_array((values, (rows, columns)), shape=(n, n))


@given(matrix=matrices(), data=st.data())
def test_induced_is_the_submatrix(matrix, data):
    n = matrix.shape[0]
    k = data.draw(st.integers(0, n))
    vertices = data.draw(st.permutations(range(n)))[:k]
    expected = matrix[vertices][:, vertices] if k else sparse.csr_array((1, 1))
    expected.sort_indices()
    indptr, indices, weights = induced_csr(matrix.indptr, matrix.indices, vertices, matrix.data)
    if k:
        np.testing.assert_array_equal(indptr, expected.indptr)
    np.testing.assert_array_equal(indices, expected.indices)
    np.testing.assert_array_equal(weights, expected.data)
    plain = induced_csr(matrix.indptr, matrix.indices, vertices)
    np.testing.assert_array_equal(plain[1], indices)
    assert plain[2] is None


def test_wrong_vertices_and_weights():
    rows = np.array([0, 1, 2, 3]), np.array([1, 2, 0], dtype=np.int32)
    invalid("vertex 3 does not exist; vertices are 0 to 2", induced_csr, *rows, [0, 3])
    invalid("vertex -1 does not exist", induced_csr, *rows, [-1])
    invalid("vertex 1 comes twice", induced_csr, *rows, [1, 1])
    invalid("vector of integers", induced_csr, *rows, [0.5])
    invalid("vector of integers", induced_csr, *rows, [[0]])
    invalid("there are 2 weights, but 3 edges", induced_csr, *rows, [0], np.ones(2))
