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
from predict_graph.graph import check_graph
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


class TestText:
    def test_snap_with_comments_gaps_and_duplicates(self, session, tmp_path):
        path = tmp_path / "snap.txt"
        path.write_text(SNAP)
        graph = same_as_local(session, path)
        assert (graph.vertices, graph.edges) == (4, 4)

    def test_compressed(self, session, tmp_path):
        path = tmp_path / "snap.txt.gz"
        path.write_bytes(gzip.compress(SNAP.encode()))
        assert same_as_local(session, path).name == "snap"

    def test_undirected_keeps_a_self_loop_once(self, session, tmp_path):
        path = tmp_path / "snap.txt"
        path.write_text(SNAP)
        assert same_as_local(session, path, directed=False).edges == 5

    def test_a_comment_says_undirected(self, session, tmp_path):
        path = tmp_path / "snap.txt"
        path.write_text("# Undirected graph: x\n0 1\n1 2\n")
        assert same_as_local(session, path).edges == 4
        assert same_as_local(session, path, directed=True).edges == 2

    @pytest.mark.parametrize("directed", [True, False])
    def test_weights_of_copies_are_added(self, session, tmp_path, directed):
        path = tmp_path / "weights.txt"
        path.write_text("0 1 0.5\n0 1 1e-1\n1 0 -2\n1 2 .25\n")
        same_as_local(session, path, directed=directed)

    def test_csv_with_a_header_and_quotes(self, session, tmp_path):
        path = tmp_path / "named.csv"
        path.write_text('kind,"to",from,weight\n"a, b",1,2,0.5\nc,"2", 0 ,2.5\n')
        same_as_local(session, path)

    def test_tsv_and_semicolons(self, session, tmp_path):
        path = tmp_path / "a.tsv"
        path.write_text("id_1\tid_2\n4\t2\n2\t9\n")
        same_as_local(session, path)
        path = tmp_path / "b.csv"
        path.write_text("4;2;1.5;x\n2;9;2;y\n")
        same_as_local(session, path)

    def test_folder_and_pattern(self, session, tmp_path):
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

    def test_byte_order_mark_and_last_line_without_an_end(self, session, tmp_path):
        path = tmp_path / "marked.txt"
        path.write_bytes(b"\xef\xbb\xbf3 4\n4 5")
        same_as_local(session, path)


class TestParquet:
    def test_columns_by_name(self, session, tmp_path):
        path = tmp_path / "named.parquet"
        table = {"weight": [1.0, 2.0, 4.0], "target": [7, 7, 1], "source": [3, 3, 3]}
        pq.write_table(pa.table(table), path)
        same_as_local(session, path)

    def test_first_two_columns_and_unsigned_ids(self, session, tmp_path):
        path = tmp_path / "plain.pq"
        columns = [pa.array([0, 1, 2], pa.uint64()), pa.array([1, 2, 0], pa.int32())]
        pq.write_table(pa.table(columns, names=["a.b", "b"]), path)
        same_as_local(session, path, directed=False)

    def test_rmat_as_parquet(self, session, tmp_path):
        local = check_graph("rmat:scale=10,edge_factor=8,seed=3")
        sources = np.repeat(np.arange(local.vertices), local.out_degrees)
        path = tmp_path / "rmat.parquet"
        pq.write_table(
            pa.table({"src": sources * 10**9, "dst": local.indices.astype(np.int64) * 10**9}), path
        )
        same_as_local(session, path, directed=False)


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
    ("0,1\n1,b\n", "x.csv:2: 'b' is not an id"),
    ("0,1\n-3,1\n", "x.csv:2: '-3' is not an id"),
    ("0,1\n1,\n", "x.csv:2: an id is missing"),
    ("0,1\n1,9223372036854775808\n", "x.csv:2: the id 9223372036854775808 is too large"),
    ("0,1\n1,2,3\n", "x.csv:2: the line has more columns"),
    ("0,1,2\n1,2\n", "x.csv:2: the line has no weight"),
    ("0,1,2\n1,2,nan\n", "x.csv:2: 'nan' is not a weight"),
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


def test_bad_parquet(session, tmp_path):
    path = tmp_path / "x.parquet"
    for table, message in (
        ({"src": [1, 2]}, "has one column"),
        ({"src": ["a"], "dst": ["b"]}, "the column 'src' holds string, not ids"),
        ({"src": [1, -2], "dst": [1, 1]}, "'src' is -2 in row 2; accepted: integers from 0"),
        ({"src": [1, 2], "dst": [1, None]}, "'dst' is empty in row 2"),
        ({"src": [1], "dst": [1], "w": ["x"]}, "the column 'w' holds string, not numbers"),
        ({"src": [1], "dst": [1], "w": [float("inf")]}, "'w' is inf in row 1"),
    ):
        pq.write_table(pa.table(table), path)
        with pytest.raises(RequestError) as raised:
            read_spark_graph(session, path)
        assert message in str(raised.value)
        assert "x.parquet" in str(raised.value)
    path.write_text("no Parquet")
    with pytest.raises(RequestError, match=r"x\.parquet is not Parquet that can be read"):
        read_spark_graph(session, path)


def test_places_that_are_not_there(session, tmp_path):
    with pytest.raises(RequestError, match=r"there is no file /nowhere/web\.txt"):
        read_spark_graph(session, "/nowhere/web.txt")
    (tmp_path / "web.docx").write_text("0 1\n")
    with pytest.raises(RequestError, match=r"the suffix '.docx'; Spark reads .csv"):
        read_spark_graph(session, tmp_path / "web.docx")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RequestError, match="there is no file"):
        read_spark_graph(session, tmp_path / "empty")
