"""Graphs that stay on the cluster: packed there, and counted there, are what they are here."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from predict_graph.algorithms import check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark.blocks.graph import (
    cluster_graph,
    fits_here,
    induced_graph,
    whole_graph,
)
from predict_graph.engines.spark.blocks.packing import packed_graph
from predict_graph.engines.spark.blocks.replica import check_replica, count_run
from predict_graph.errors import RequestError
from predict_graph.graph import Graph, check_graph
from predict_graph.graph.readers import read_graph
from predict_graph.limits import limited
from predict_graph.prediction.outcome.doubts import graph_doubts

pytestmark = [pytest.mark.spark, pytest.mark.long]


@pytest.fixture(scope="module")
def spark(local_session):
    return local_session.spark


@pytest.fixture(scope="module")
def edges(tmp_path_factory):
    """Edges of an R-MAT graph as Parquet, some twice, with ids that leave gaps."""
    graph = check_graph("rmat:scale=10,edge_factor=6,seed=3")
    sources = np.repeat(np.arange(graph.vertices), graph.out_degrees)
    rows = np.concatenate((np.arange(graph.edges), np.arange(0, graph.edges, 7)))
    path = tmp_path_factory.mktemp("blocks") / "edges.parquet"
    columns = {"src": 3 * sources[rows] + 5, "dst": 3 * graph.indices[rows].astype(np.int64) + 5}
    pq.write_table(pa.table(columns), path)
    return path


def same(found: Graph, local: Graph) -> None:
    assert found.indptr.tolist() == local.indptr.tolist()
    assert found.indices.tolist() == local.indices.tolist()
    assert found.directed == local.directed
    assert (found.labels is None) == (local.labels is None)
    if local.labels is not None:
        assert found.labels.tolist() == local.labels.tolist()
    assert (found.weights is None) == (local.weights is None)
    if local.weights is not None:
        assert found.weights == pytest.approx(local.weights, rel=1e-6)


@pytest.mark.parametrize("directed", [True, False])
def test_the_whole_graph_is_the_one_that_is_read_here(spark, edges, directed):
    with packed_graph(spark, edges, directed=directed) as packed:
        assert fits_here(packed)
        found = whole_graph(packed)
    same(found, read_graph(edges, directed=directed))
    assert found.name == "edges"


@pytest.mark.parametrize("directed", [True, False])
def test_weights_and_far_ids(spark, tmp_path, directed):
    path = tmp_path / "far.csv"
    path.write_text(
        "source,target,weight\n9007199254740993,1,2\n1,9007199254740993,3\n1,1,4\n1,1,1\n"
    )
    with packed_graph(spark, path, directed=directed) as packed:
        found = whole_graph(packed)
    same(found, read_graph(path, directed=directed))


@pytest.mark.parametrize("directed", [True, False])
def test_what_the_driver_knows(spark, edges, directed):
    local = read_graph(edges, directed=directed)
    with packed_graph(spark, edges, directed=directed) as packed:
        known = cluster_graph(packed)
        kept = np.arange(0, local.vertices, 5)
        core = induced_graph(packed, kept)
    assert (known.vertices, known.edges) == (local.vertices, local.edges)
    assert known.out_degrees.tolist() == local.out_degrees.tolist()
    assert known.in_degrees.tolist() == local.in_degrees.tolist()
    assert graph_doubts(known) == graph_doubts(local)
    assert core.indices.tolist() == local.subgraph(kept).indices.tolist()


CASES = [
    ("pagerank", {"epsilon": 0.001}),
    ("connected-components", {}),
    ("topk-ranking", {"k": 3}),
]


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_what_is_counted_there_is_what_a_run_here_does(spark, edges, name, parameters):
    algorithm = check_algorithm(name, parameters)
    directed = False if algorithm.undirected else None
    profile = LocalEngine(workers=1).run(algorithm, read_graph(edges, directed=directed))
    with packed_graph(spark, edges, directed=directed) as packed:
        graph = cluster_graph(packed)
        values = None
        for part in filter(None, (algorithm.prior, algorithm)):
            replica = check_replica(part, packed)(part, graph, values)
            run = count_run(replica, packed, lambda curve: True, lambda number: None)
            values = run.values
    assert run.ended
    assert run.converged == profile.converged
    assert run.curve == pytest.approx(profile.convergence, rel=1e-9)
    rows = profile.per_iteration()
    expected = pd.DataFrame(
        {
            "active_vertices": rows["active_vertices"],
            "messages": rows["local_messages"] + rows["remote_messages"],
            "message_bytes": rows["local_message_bytes"] + rows["remote_message_bytes"],
            "total_vertices": rows["total_vertices"],
            "working_set_bytes": rows["working_set_bytes"],
        }
    )
    pd.testing.assert_frame_equal(run.counters, expected, check_dtype=False)


def test_a_table_is_a_graph(spark, edges):
    table = spark.read.parquet(str(edges)).selectExpr(
        "'x' AS kind", "dst AS target", "src AS source"
    )
    with packed_graph(spark, table) as packed:
        found, digest = whole_graph(packed), packed.fingerprint
    same(found, read_graph(edges))
    with packed_graph(spark, table.orderBy("target")) as packed:
        assert packed.fingerprint == digest
    with packed_graph(spark, table.where("target > 20")) as packed:
        assert packed.fingerprint != digest


def test_nothing_is_left_behind(spark, edges):
    kept = spark.sparkContext._jsc.getPersistentRDDs
    before = len(kept())
    with packed_graph(spark, edges) as packed:
        assert packed.edges > 0
    assert len(kept()) == before
    with (
        pytest.raises(RequestError),
        packed_graph(spark, spark.createDataFrame([], "a int, b int")),
    ):
        pass
    assert len(kept()) == before


BAD = [
    ("SELECT 'x' AS src, 'y' AS dst", "'src' holds string, not ids"),
    ("SELECT 1.5D AS src, 2 AS dst", "'src' holds double, not ids"),
    ("SELECT 1 AS src", "one column"),
    ("SELECT 1 AS src, CAST(NULL AS INT) AS dst", r"not an edge \(src 1, dst None\)"),
    ("SELECT -1 AS src, 2 AS dst", r"not an edge \(src -1, dst 2\)"),
    ("SELECT 1 AS src, 2 AS dst, DOUBLE('NaN') AS weight", "not an edge"),
    ("SELECT 1 AS src, 2 AS dst WHERE 1 = 2", "no edges"),
    ("SELECT 1 AS src, 2 AS dst, 'heavy' AS weight", "holds string, not numbers"),
]


@pytest.mark.parametrize(("query", "said"), BAD)
def test_a_table_that_is_no_graph_is_refused(spark, query, said):
    with pytest.raises(RequestError, match=said), packed_graph(spark, spark.sql(query)):
        pass


def test_what_would_not_fit_here_is_refused_by_the_limit(spark, edges):
    with packed_graph(spark, edges) as packed:
        with limited(driver_bytes=1000):
            assert not fits_here(packed)
            with pytest.raises(RequestError, match="the limit driver_bytes"):
                check_replica(check_algorithm("pagerank"), packed)
        with pytest.raises(RequestError, match="semi-clustering cannot be counted"):
            check_replica(check_algorithm("semi-clustering"), packed)
