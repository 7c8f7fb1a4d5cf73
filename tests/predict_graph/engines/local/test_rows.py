import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from predict_graph.engines.local.rows import RANGE_BITS, inbound_rows
from predict_graph.graph.build import from_edges


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 900), threads=st.integers(1, 3))
def test_rows_are_those_of_the_reverse_graph(seed, n, threads):
    rng = np.random.default_rng(seed)
    edges = int(rng.integers(0, 4 * n))
    graph = from_edges(rng.integers(0, n, edges), rng.integers(0, n, edges), vertices=n)
    ranges = np.arange(-(-n >> RANGE_BITS))
    chosen = np.sort(rng.choice(ranges, rng.integers(1, len(ranges) + 1), replace=False))
    vertices, indptr, sources = inbound_rows(graph, chosen, threads)
    assert vertices.tolist() == np.flatnonzero(np.isin(np.arange(n) >> RANGE_BITS, chosen)).tolist()
    assert indptr[-1] == len(sources)
    for row, v in enumerate(vertices):
        found = sources[indptr[row] : indptr[row + 1]]
        assert found.tolist() == graph.reverse.neighbors(int(v)).tolist()
