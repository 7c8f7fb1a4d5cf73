"""Graphs that Spark reads itself are those that the local readers read."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.reading import SparkGraph, read_spark_graph
from predict_graph.errors import RequestError
from predict_graph.graph.readers import read_graph

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def session(local_session: OpenSession) -> OpenSession:
    return local_session


def same_as_local(session: OpenSession, path: Path, directed: bool | None = None) -> SparkGraph:
    """Read a file both ways and compare all that both know; return what Spark read."""
    local = read_graph(path, directed=directed)
    graph = read_spark_graph(session, path, directed=directed)
    assert (graph.vertices, graph.edges, graph.directed, graph.name) == (
        local.vertices,
        local.edges,
        local.directed,
        local.name,
    )
    rows = session.spark.read.parquet(str(graph.folder)).toPandas().sort_values(["src", "dst"])
    sources = np.repeat(np.arange(local.vertices), local.out_degrees)
    assert rows["src"].tolist() == sources.tolist()
    assert rows["dst"].tolist() == local.indices.tolist()
    assert graph.weighted == (local.weights is not None)
    if local.weights is not None:
        assert rows["weight"].to_numpy() == pytest.approx(local.weights, rel=1e-6)
    labels = graph.label_table(session)
    if local.labels is None:
        assert labels is None
    else:
        table = labels.toPandas().sort_values("id")
        assert table["id"].tolist() == list(range(local.vertices))
        assert table["label"].tolist() == local.labels.tolist()
    return graph


SNAP = "# Directed graph\n# FromNodeId\tToNodeId\n30\t7\n7\t30\n\n7\t1000000000000\r\n30\t7\n5 5\n"
WEIGHTS = "0 1 0.5\n0 1 1e-1\n1 0 -2\n1 2 .25\n"
TEXTS = [
    ("snap.txt", SNAP, None, 4),  # with comments, gaps and duplicates
    ("snap.txt", SNAP, False, 5),  # a self-loop is kept once
    ("said.txt", "# Undirected graph: x\n0 1\n1 2\n", None, 4),
    ("said.txt", "# Undirected graph: x\n0 1\n1 2\n", True, 2),
    ("weights.txt", WEIGHTS, True, 3),  # those of copies are added
    ("weights.txt", WEIGHTS, False, 4),
    ("named.csv", 'kind,"to",from,weight\n"a, b",1,2,0.5\nc,"2", 0 ,2.5\n', None, 2),
    ("a.tsv", "id_1\tid_2\n4\t2\n2\t9\n", None, 2),
    ("b.csv", "4;2;1.5;x\n2;9;2;y\n", None, 2),
    ("marked.txt", "\ufeff3 4\n4 5", None, 2),  # a byte order mark, and no last line end
    ("remarks.txt", "# c\n" * 3000 + "0 1\n", None, 1),
]


@pytest.mark.parametrize(("name", "text", "directed", "edges"), TEXTS)
def test_text(session, tmp_path, name, text, directed, edges):
    path = tmp_path / name
    path.write_text(text)
    assert same_as_local(session, path, directed).edges == edges


def test_compressed_files_folders_and_patterns(session, tmp_path):
    path = tmp_path / "snap.txt.gz"
    path.write_bytes(gzip.compress(SNAP.encode()))
    assert same_as_local(session, path).name == "snap"
    folder = tmp_path / "a [web] folder"
    folder.mkdir()
    (folder / "_SUCCESS").write_text("")
    (folder / "part-0.csv").write_text("src,dst\n0,1\n")
    (folder / "part-1.csv").write_text("src,dst\n1,2\n2,0\n")
    whole = read_spark_graph(session, folder)
    assert (whole.name, whole.vertices, whole.edges) == ("a [web] folder", 3, 3)
    (tmp_path / "x-1.txt").write_text("0 1\n")
    (tmp_path / "x-2.txt").write_text("1 2\n")
    assert read_spark_graph(session, f"{tmp_path}/x-*.txt").edges == 2


PARQUET = [
    ({"weight": [1.0, 2.0, 4.0], "target": [7, 7, 1], "source": [3, 3, 3]}, None),
    ({"a.b": pa.array([0, 1, 2], pa.uint64()), "b": pa.array([1, 2, 0], pa.int32())}, False),
]


@pytest.mark.parametrize(("table", "directed"), PARQUET)
def test_columns_of_parquet(session, tmp_path, table, directed):
    path = tmp_path / "named.parquet"
    pq.write_table(pa.table(table), path)
    same_as_local(session, path, directed)


def test_shared_graph(session, shared_graph_file):
    same_as_local(session, shared_graph_file("email-Enron.txt.gz"), directed=False)


def test_identity_of_the_files(session, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("0 1\n1 2\n")
    first = read_spark_graph(session, path)
    assert read_spark_graph(session, path).fingerprint == first.fingerprint
    assert read_spark_graph(session, path, directed=False).fingerprint != first.fingerprint
    path.write_text("0 1\n1 2\n2 0\n")
    assert read_spark_graph(session, path).fingerprint != first.fingerprint


BAD_TEXT = [
    ("", "is empty"),
    ("# nothing\n\n", "has no edges"),
    ("src,dst\n", "has no edges"),
    ("1\n2\n", "x.csv:1: the line has one column"),
    ("0,1\n\n# c\n2\n", "x.csv:4: the line has one column"),
    ("0,1\n1,9223372036854775808\n", "x.csv:2: the id 9223372036854775808 is too large"),
    ("0,1\n1,2,3\n", "x.csv:2: the line has more columns"),
    ("0,1,2\n1,2\n", "x.csv:2: the line has no weight"),
    ("0,1,2\n1,2,1e39\n", "x.csv:2: '1e39' is not a weight"),
]


@pytest.mark.parametrize(("text", "message"), BAD_TEXT)
def test_bad_text(session, tmp_path, text, message):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(RequestError) as raised:
        read_spark_graph(session, path)
    assert message in str(raised.value)
    assert str(tmp_path) in str(raised.value)
    with pytest.raises(RequestError, match=r"x\.csv"):
        read_graph(path, ids="integer")


def test_the_line_is_found_in_a_large_file(session, tmp_path):
    path = tmp_path / "large one.txt"
    lines = ["12345678 87654321"] * 300_000
    lines[271_827] = "12345678 8765432l"
    path.write_text("\n".join(lines))
    before = session.spark.conf.get("spark.sql.files.maxPartitionBytes")
    session.spark.conf.set("spark.sql.files.maxPartitionBytes", "1m")
    try:
        with pytest.raises(RequestError, match=r"large one\.txt:271828: '8765432l' is not an id"):
            read_spark_graph(session, path)
    finally:
        session.spark.conf.set("spark.sql.files.maxPartitionBytes", before)


BAD_PARQUET = [
    ({"src": [1, 2]}, "has one column"),
    ({"src": ["a"], "dst": ["b"]}, "the column 'src' holds string, not ids"),
    ({"src": [1, -2], "dst": [1, 1]}, "row 2 is not an edge (src -2, dst 1); accepted: ids from 0"),
    ({"src": [1], "dst": [1], "w": ["x"]}, "the column 'w' holds string, not numbers"),
    ({"src": [1], "dst": [1], "w": [float("inf")]}, "row 1 is not an edge (src 1, dst 1, w inf)"),
    (None, "is not Parquet that can be read"),
]


@pytest.mark.parametrize(("table", "message"), BAD_PARQUET)
def test_bad_parquet(session, tmp_path, table, message):
    path = tmp_path / "x.parquet"
    path.write_text("no Parquet") if table is None else pq.write_table(pa.table(table), path)
    with pytest.raises(RequestError) as raised:
        read_spark_graph(session, path)
    assert message in str(raised.value)
    assert "x.parquet" in str(raised.value)


def test_places_that_are_not_there(session, tmp_path):
    with pytest.raises(RequestError, match=r"there is no file /nowhere/web\.txt"):
        read_spark_graph(session, "/nowhere/web.txt")
    (tmp_path / "web.docx").write_text("0 1\n")
    with pytest.raises(RequestError, match=r"the suffix '.docx'; Spark reads .csv"):
        read_spark_graph(session, tmp_path / "web.docx")
