"""The engine on one machine: results, profiles, files."""

import errno
import gc
import signal

import numpy as np
import pandas as pd
import pytest

from predict_graph.algorithms import PageRank, check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.profile import TABLE_COLUMNS
from predict_graph.engines.spark import SparkSettings
from predict_graph.engines.spark.blocks import stored
from predict_graph.engines.spark.functions.running import FunctionAlgorithm
from predict_graph.engines.spark.log.features import EXECUTOR_COLUMNS
from predict_graph.engines.spark.session import executors
from predict_graph.engines.spark.session.opening import open_session
from predict_graph.graph import Graph, check_graph
from tests.refusals import failed, refused

GRAPH = check_graph("rmat:scale=9,edge_factor=8,seed=1")


def test_a_second_session_is_refused_and_the_first_goes_on(local_session):
    failed("already open", open_session(SparkSettings(master="local[1]")).__enter__)
    assert local_session.spark.range(10).count() == 10


def test_ctrl_c_does_what_it_did(local_session, common_session):
    assert signal.getsignal(signal.SIGINT) is common_session.ctrl_c_before


def test_executors_without_a_package_are_refused(local_session, monkeypatch):
    monkeypatch.setattr(executors, "_READY", {})
    monkeypatch.setattr(executors, "_NEEDED", ("numpy", "not_installed"))
    failed("has no not_installed; accepted: an", executors.prepare_executors, local_session)


def test_a_result_is_written_where_it_was_asked_for(local_spark, tmp_path):
    target = tmp_path / f"{49 * 'ranks'}.parquet"  # about as long as names can be
    profile = local_spark.run(PageRank(), GRAPH, threshold=0.0, max_iterations=2, write_to=target)
    written = pd.read_parquet(target).sort_values("vertex")
    assert written["value"].tolist() == profile.values.tolist()
    assert all(profile.phases[name] > 0 for name in ("setup", "read", "superstep", "write"))
    assert set(profile.table.columns) >= {*TABLE_COLUMNS, *EXECUTOR_COLUMNS}
    assert (profile.table[["shuffle_write_bytes", "task_seconds"]] > 0).all(axis=None)
    assert profile.engine["executors_lost"] == 0
    assert list(tmp_path.iterdir()) == [target]
    refused("it exists; accepted: the name of", local_spark.run, PageRank(), GRAPH, write_to=target)


@pytest.mark.parametrize("name", ["connected-components", "topk-ranking"])
def test_vertices_in_a_result_have_the_ids_of_the_user(local_spark, tmp_path, name):
    """As the local engine writes them, in a folder whose name needs escapes, too."""
    edges = [("ann", "bob"), ("bob", "cid"), ("dan", "eve"), ("eve", "dan")]
    algorithm = check_algorithm(name)
    graph = check_graph(edges, directed=False if algorithm.undirected else None)
    folder = tmp_path / "my results"
    folder.mkdir()
    local_spark.run(algorithm, graph, write_to=folder / "spark.parquet")
    LocalEngine().run(algorithm, graph, write_to=folder / "local.parquet")
    found, expected = (
        pd.read_parquet(folder / f"{where}.parquet").sort_values("vertex", ignore_index=True)
        for where in ("spark", "local")
    )
    pd.testing.assert_frame_equal(found, expected)


def test_places_that_nothing_can_be_written_to(local_spark, tmp_path):
    run, job = local_spark.run, PageRank()
    places = {"ranks.txt": r"a name in \.csv or \.parquet", "no/ranks.csv": "no folder"}
    for place, said in {**places, f"{50 * 'ranks'}.parquet": "name too long"}.items():
        refused(said, run, job, GRAPH, write_to=tmp_path / place)
    refused("its own stopping rule", run, check_algorithm("graphx:pageRank"), GRAPH, threshold=0.1)
    refused("has no edges", run, job, Graph(np.zeros(4, np.int64), np.zeros(0, np.int32)))


def test_a_disk_that_fills_up_leaves_nothing(local_spark, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(stored, "write_block", full)
    with local_spark.session() as session:
        before = set(session.folder.iterdir())
        said = "writing the graph for Spark failed: No space left"
        failed(said, local_spark.run, PageRank(), GRAPH)
        assert set(session.folder.iterdir()) == before


def test_runs_leave_no_tables_behind(local_spark):
    """But for the last state of each, which Spark removes once nothing refers to it."""
    from pyspark.sql import DataFrame

    def tables():
        gc.collect()
        return [each for each in gc.get_objects() if issubclass(type(each), DataFrame)]

    with local_spark.session() as session:
        kept, files = session.spark.sparkContext._jsc.getPersistentRDDs, session.folder.iterdir
        before = set(kept()), set(files()), len(tables())
        for _ in range(3):
            local_spark.run(PageRank(), GRAPH, threshold=0.0, max_iterations=3)
        local_spark.run(check_algorithm("graphx:connectedComponents"), GRAPH)
        counts = FunctionAlgorithm(lambda spark, vertices, edges: [edges.count() for _ in "123"])
        local_spark.run(counts, GRAPH)
        assert len(set(kept()) - before[0]) <= 3
        assert (set(files()), len(tables())) == before[1:]


def test_spark_reads_the_graph_itself(local_spark, written, tmp_path):
    ends = np.unique(np.random.default_rng(5).integers(0, 60, (400, 2)), axis=0) * 1_000_003
    file = written("".join(f"{a}\t{b}\n" for a, b in ends.tolist()), "edges.txt")
    algorithm = PageRank(epsilon=0.01)
    profile = local_spark.run_files(algorithm, file, write_to=tmp_path / "ranks.parquet")
    graph = check_graph(file)
    local = LocalEngine(workers=2).run(algorithm, graph)
    assert profile.iterations == local.iterations
    assert profile.phases["read"] > 0.0
    found = pd.read_parquet(tmp_path / "ranks.parquet").set_index("vertex")["value"]
    expected = dict(zip(graph.labels.tolist(), local.values, strict=True))
    assert found.to_dict() == pytest.approx(expected, rel=1e-9)
    refused("there is no", local_spark.run_files, algorithm, tmp_path / "missing.txt")
