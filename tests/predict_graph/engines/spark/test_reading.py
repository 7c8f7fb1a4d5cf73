"""Graphs that Spark reads are those of the local readers."""

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from predict_graph.algorithms import check_algorithm
from predict_graph.engines.spark.blocks.packing import packed_graph, whole_graph
from predict_graph.graph import EdgeList, Graph, check_graph
from predict_graph.graph.readers import read_graph
from tests.refusals import refused


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


@pytest.fixture(scope="module")
def read_by_spark(local_session):
    def read(source, directed=None) -> Graph:
        with packed_graph(local_session, source, directed=directed) as packed:
            return whole_graph(packed)

    return read


@pytest.fixture(scope="module")
def same_as_local(read_by_spark):
    """Read a graph both ways and compare all that both know; return what Spark read."""

    def read(source, path, directed=None) -> Graph:
        found, local = read_by_spark(source, directed), read_graph(path, directed=directed)
        assert found.indptr.tolist() == local.indptr.tolist()
        assert found.indices.tolist() == local.indices.tolist()
        assert found.directed == local.directed
        for name in ("labels", "weights"):
            own, expected = getattr(found, name), getattr(local, name)
            assert (own is None) == (expected is None)
            assert own is None or own == pytest.approx(expected, rel=1e-6)
        return found

    return read


SNAP = "# Directed graph\n# FromNodeId\tToNodeId\n30\t7\n7\t30\n\n7\t1000000000000\r\n30\t7\n5 5\n"
WEIGHTS = "0 1 0.5\n0 1 1e-1\n1 0 -2\n1 2 .25\n"
TEXTS = [
    ("snap.txt", SNAP, None, 4),  # with comments, gaps and duplicates
    ("snap.txt", SNAP, False, 5),  # a self-loop is kept once
    ("said.txt", "# Undirected graph: x\n0 1\n1 2\n", None, 4),
    ("weights.txt", WEIGHTS, True, 3),  # those of copies are added
    ("weights.txt", WEIGHTS, False, 4),
    ("named.csv", 'kind,"to",from,weight\n"a, b",1,2,0.5\nc,"2", 0 ,2.5\n', None, 2),
    ("marked.txt", "\ufeff3 4\n4 5", None, 2),  # a byte order mark, and no last line end
    ("remarks.txt", "# c\n" * 3000 + "0 1\n", None, 1),
    ("far.csv", f"source,target,w\n{2**53 + 1},1,2\n1,{2**53 + 1},3\n1,1,4\n1,1,1\n", False, 3),
]


@pytest.mark.parametrize(("name", "text", "directed", "edges"), TEXTS)
def test_text(same_as_local, written, name, text, directed, edges):
    path = written(text, name)
    assert same_as_local(path, path, directed).edges == edges


def test_compressed_files_folders_and_patterns(
    local_session, read_by_spark, same_as_local, written, tmp_path
):
    path = written(gzip.compress(SNAP.encode()), "snap.txt.gz")
    assert same_as_local(path, path).name == "snap"
    same_as_local(turned := EdgeList(path, source_column=2, target_column=1), turned)
    with packed_graph(local_session, path) as packed:
        named = check_algorithm("shortest-paths", {"landmarks": "30"}).on(packed)
    assert packed.labels[named.known].tolist() == [30]
    folder = tmp_path / "a [web] folder"
    folder.mkdir()
    (folder / "_SUCCESS").write_text("")
    (folder / "part-0.csv").write_text("src,dst\n0,1\n")
    (folder / "part-1").write_text("src,dst\n1,2\n2,0\n")
    whole = read_by_spark(folder)
    assert (whole.name, whole.vertices, whole.edges) == ("a [web] folder", 3, 3)
    (tmp_path / "x-1.txt").write_text("0 1\n")
    (tmp_path / "x-2.txt").write_text("1 2\n")
    assert read_by_spark(f"{tmp_path}/x-*.txt").edges == 2


PARQUET = [
    ({"weight": [1.0, 2.0, 4.0], "target": [7, 7, 1], "source": [3, 3, 3]}, None),
    ({"a.b": pa.array([0, 1, 2], pa.uint64()), "b": pa.array([1, 2, 0], pa.int32())}, False),
]


@pytest.mark.parametrize(("table", "directed"), PARQUET)
def test_columns_of_parquet(same_as_local, tmp_path, table, directed):
    path = tmp_path / "named.parquet"
    pq.write_table(pa.table(table), path)
    same_as_local(path, path, directed)


def test_identity_of_the_files(read_by_spark, written):
    """That of their edges, of which equal ones do not cancel out, in a copy as well."""
    texts = ["0 1\n1 2\n", "0 1\n1 2\n2 0\n", 2 * "0 1\n1 2\n", 2 * "0 2\n2 1\n"]
    found = [read_by_spark(written(text, "a.txt")).fingerprint for text in texts]
    assert read_by_spark(written(texts[0], "b.txt")).fingerprint == found[0]
    assert len({*found, read_by_spark(written(texts[0], "b.txt"), False).fingerprint}) == 5


def test_a_table_is_a_graph(spark, read_by_spark, same_as_local, edges):
    table = spark.read.parquet(str(edges)).selectExpr("'x' k", "dst AS target", "src AS source")
    digest = same_as_local(table, edges).fingerprint
    assert read_by_spark(table.orderBy("target")).fingerprint == digest
    for other in (EdgeList(table, source_column=2, target_column=3), table.where("target > 20")):
        assert read_by_spark(other).fingerprint != digest


BAD_TEXT = [
    ("", "is empty"),
    ("src,dst\n", "has no edges"),
    ("1\n2\n", "x.csv:1: the line has one column"),
    ("0,1\n\n# c\n2\n", "x.csv:4: the line has one column"),
    ("0,1,2\n1,2,1e39\n", "x.csv:2: '1e39' is not a weight"),
    ("user,item\n1,2\n", "is bipartite: an id means two vertices"),
]
BAD_PARQUET = [
    ({"src": [1, 2]}, "has one column"),
    ({"user": [1], "item": [2]}, "is bipartite: an id means two vertices"),
    ({"src": ["a"], "dst": ["b"]}, "the column 'src' holds string, not ids"),
    ({"src": [1, -2], "dst": [1, 1]}, "row 2 is not an edge (src -2, dst 1); accepted: ids from 0"),
    ({"src": [1], "dst": [1], "w": ["x"]}, "the column 'w' holds string, not numbers"),
    ({"src": [1], "dst": [1], "w": [float("inf")]}, "row 1 is not an edge (src 1, dst 1, w inf)"),
    (None, "is not Parquet that can be read"),
]
BAD_TABLES = [
    ("SELECT 1.5D AS src, 2 AS dst", "'src' holds double, not ids"),
    ("SELECT 1 AS src, CAST(NULL AS INT) AS dst", "not an edge (src 1, dst None)"),
    ("SELECT 1 AS src, 2 AS dst, DOUBLE('NaN') AS weight", "not an edge"),
    ("SELECT 1 AS src, 2 AS dst WHERE 1 = 2", "no edges"),
]


@pytest.mark.parametrize(("content", "message"), [*BAD_TEXT, *BAD_PARQUET, *BAD_TABLES])
def test_what_is_no_graph_is_refused_and_nothing_is_left(
    spark, read_by_spark, tmp_path, content, message
):
    source = tmp_path / ("x.csv" if (content, message) in BAD_TEXT else "x.parquet")
    if (content, message) in BAD_TABLES:
        source = spark.sql(content)
    elif isinstance(content, dict):
        pq.write_table(pa.table(content), source)
    else:
        source.write_text(content or "no Parquet" * (source.suffix == ".parquet"))
    kept = spark.sparkContext._jsc.getPersistentRDDs
    before = len(kept())
    raised = refused(None, read_by_spark, source)
    assert message in raised
    assert (content, message) in BAD_TABLES or source.name in raised
    assert len(kept()) == before


def test_the_line_is_found_in_a_large_file(spark, read_by_spark, written):
    lines = ["12345678 87654321"] * 300_000
    lines[271_827] = "12345678 8765432l"
    path = written("\n".join(lines), "large one.txt")
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "1m")
    try:
        refused(r"large one\.txt:271828: '8765432l' is not an id", read_by_spark, path)
    finally:
        spark.conf.set("spark.sql.files.maxPartitionBytes", before)


def test_what_cannot_be_read(local_session, read_by_spark, written, edges):
    refused(r"there is no file /nowhere/web\.txt", read_by_spark, "/nowhere/web.txt")
    refused(r"the suffix '.docx'; Spark reads .csv", read_by_spark, written("0 1\n", "web.docx"))
    # More vertices than blocks can number.
    packed = packed_graph(local_session, edges, most=100)
    refused(r"has [\d,]+ vertices; accepted: up to 100", packed.__enter__)
