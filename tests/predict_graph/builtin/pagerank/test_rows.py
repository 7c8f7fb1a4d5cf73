import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from predict_graph.builtin.pagerank.rows import inbound_rows
from predict_graph.graph.build import from_edges


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.integers(1, 900),
    threads=st.integers(1, 3),
    bits=st.integers(0, 8),
)
def test_rows_are_those_of_the_reverse_graph(seed, n, threads, bits):
    rng = np.random.default_rng(seed)
    edges = int(rng.integers(0, 4 * n))
    graph = from_edges(rng.integers(0, n, edges), rng.integers(0, n, edges), vertices=n)
    ranges = np.arange(-(-n >> bits))
    chosen = np.sort(rng.choice(ranges, rng.integers(1, len(ranges) + 1), replace=False))
    searched = inbound_rows(graph, chosen, bits, threads)
    assert "reverse" not in vars(graph), "the search must not build the reverse graph"
    vertices, indptr, sources = searched
    assert vertices.tolist() == np.flatnonzero(np.isin(np.arange(n) >> bits, chosen)).tolist()
    assert indptr[-1] == len(sources)
    for row, v in enumerate(vertices):
        found = sources[indptr[row] : indptr[row + 1]]
        assert found.tolist() == graph.reverse.neighbors(int(v)).tolist()
    taken = inbound_rows(graph, chosen, bits, threads)
    assert all(one.tolist() == other.tolist() for one, other in zip(searched, taken, strict=True))
