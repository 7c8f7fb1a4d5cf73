"""Coercion of graphs, reversal and induced subgraphs."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from samplers import check_csr, induced_csr
from tests.refusals import invalid


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
    (raw([0, 1, 5], [0], (2, 2)), "indptr goes from 0 to 5"),
    (raw([1, 1, 1], [0], (2, 2)), "indptr goes from 1 to 1"),
    (raw([0, 2, 1, 2], [0, 1], (3, 3)), "indptr goes down after row 1"),
    (raw([0, 1, 2], [0, 2], (2, 2)), "indices holds vertex 2; vertices are 0 to 1"),
    (raw([0, 1, 2], [0, -1], (2, 2)), "indices holds vertex -1"),
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
