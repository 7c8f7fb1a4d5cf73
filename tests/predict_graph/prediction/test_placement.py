import numpy as np
import pytest

from predict_graph.graph import check_graph
from predict_graph.prediction.seconds.cluster.folding import folded
from predict_graph.prediction.seconds.cluster.placement import (
    combined_share,
    partition_of,
    placement_of,
)


def test_partitions_are_those_of_spark():
    # select pmod(hash(bigint(x)), 6) of Spark 4.1
    ids = [0, 1, 2, 3, 5, 10**6, 2**40 + 7]
    assert partition_of(ids, 6).tolist() == [1, 5, 2, 3, 2, 2, 2]
    assert partition_of(ids, 4).tolist() == [1, 1, 0, 3, 0, 2, 0]


@pytest.mark.parametrize("partitions", [1, 2, 6])
def test_placement_adds_up(partitions):
    graph = check_graph("rmat:scale=10,edge_factor=8,seed=1")
    found = placement_of(graph, partitions, partitions)
    rows = np.repeat(np.arange(graph.vertices), graph.out_degrees)
    same = partition_of(rows, partitions) == partition_of(graph.indices, partitions)
    assert found.local_share == pytest.approx(same.mean())
    assert 1.0 <= found.edge_skew <= partitions


def test_combining_is_what_a_count_says():
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=1")
    rows = np.repeat(np.arange(graph.vertices), graph.out_degrees)
    pairs = np.unique(graph.indices.astype(np.int64) * 5 + partition_of(rows, 5))
    found = combined_share(graph.in_degrees, [1.0], 5)[0]
    assert found == pytest.approx(len(pairs) / graph.edges, rel=0.02)
    some = np.random.default_rng(1).random(graph.edges) < 0.3
    pairs = np.unique((graph.indices.astype(np.int64) * 5 + partition_of(rows, 5))[some])
    found = combined_share(graph.in_degrees, [0.3], 5)[0]
    assert found == pytest.approx(len(pairs) / some.sum(), rel=0.03)


def test_folding_keeps_density():
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=1")
    small = folded(graph, 0.2, np.random.default_rng(1))
    assert small.vertices == pytest.approx(0.2 * graph.vertices, rel=0.01)
    assert small.edges / small.vertices == pytest.approx(graph.edges / graph.vertices, rel=0.15)
    assert folded(graph, 1.0, np.random.default_rng(1)).edges == graph.edges
