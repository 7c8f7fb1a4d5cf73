import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predict_graph.engines.local.partition import out_messages, worker_of
from predict_graph.graph.build import from_edges


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n=st.integers(1, 40), workers=st.integers(1, 9))
def test_counts_are_those_of_a_brute_force_count(data, n, workers):
    vertex = st.integers(0, n - 1)
    edges = data.draw(st.lists(st.tuples(vertex, vertex), max_size=120))
    pairs = np.array(edges, dtype=np.int64).reshape(-1, 2)
    graph = from_edges(pairs[:, 0], pairs[:, 1], vertices=n)
    worker = [int(worker_of(v, workers)) for v in range(n)]
    inside = [sum(worker[w] == worker[v] for w in graph.neighbors(v)) for v in range(n)]
    owner, counted = out_messages(graph, workers)
    assert owner.tolist() == worker
    assert counted.tolist() == inside


@pytest.mark.parametrize("workers", [2, 3, 4, 7, 16])
@pytest.mark.parametrize("stride", [1, 2, 8, 1024])
def test_neither_runs_nor_strides_of_ids_end_on_one_worker(workers, stride):
    share = np.bincount(worker_of(np.arange(20_000) * stride, workers), minlength=workers)
    assert share.min() > 0.9 * 20_000 / workers
    assert share.max() < 1.1 * 20_000 / workers
