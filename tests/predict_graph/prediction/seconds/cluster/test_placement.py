import numpy as np
import pytest

from predict_graph import predict
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.tables.hashing import partition_of
from predict_graph.graph import check_graph
from predict_graph.prediction.seconds.cluster import placement
from predict_graph.prediction.seconds.cluster.folding import folded
from predict_graph.prediction.seconds.cluster.placement import (
    combined_share,
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
    found = combined_share(graph.in_degree_counts, [1.0], 5)[0]
    assert found == pytest.approx(len(pairs) / graph.edges, rel=0.02)
    some = np.random.default_rng(1).random(graph.edges) < 0.3
    pairs = np.unique((graph.indices.astype(np.int64) * 5 + partition_of(rows, 5))[some])
    found = combined_share(graph.in_degree_counts, [0.3], 5)[0]
    assert found == pytest.approx(len(pairs) / some.sum(), rel=0.03)


def test_folding_keeps_density():
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=1")
    small = folded(graph, 0.2, np.random.default_rng(1))
    assert small.vertices == pytest.approx(0.2 * graph.vertices, rel=0.01)
    assert small.edges / small.vertices == pytest.approx(graph.edges / graph.vertices, rel=0.15)
    assert folded(graph, 1.0, np.random.default_rng(1)).edges == graph.edges


def test_one_pass_tells_all_machine_counts(monkeypatch):
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=1")
    wanted = [(count, count * per) for count in (1, 2, 3, 5, 16) for per in (1, 3)] + [(4, 7)]
    alone = [placement_of(graph.fresh(), *each) for each in wanted]
    passes = []
    found = placement._placements
    monkeypatch.setattr(
        placement, "_placements", lambda graph, some: passes.append(some) or found(graph, some)
    )
    graph = graph.fresh()
    assert [placement_of(graph, *each, beside=wanted) for each in wanted] == alone
    assert len(passes) == 1
    for (machines, partitions), told in zip(wanted, alone, strict=True):
        held = np.bincount(
            partition_of(np.arange(graph.vertices), partitions) % machines,
            graph.out_degrees,
            machines,
        )
        assert told.edge_skew == pytest.approx(held.max() / held.mean())


def test_a_prediction_asks_where_vertices_are_once(monkeypatch):
    passes = []
    found = placement._placements
    monkeypatch.setattr(
        placement, "_placements", lambda graph, some: passes.append(some) or found(graph, some)
    )
    engine = SparkEngine(master="spark://127.0.0.1:1", workers=16)
    predicted = predict(
        "pagerank", "rmat:scale=10,edge_factor=8,seed=1", engine=engine, history="none", seed=1
    )
    assert len(predicted.by_machines) > 10
    assert len(passes) == 1
