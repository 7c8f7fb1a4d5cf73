"""Wrong files and requests: one clear sentence that names the value, the file and the line."""

import gzip
import os

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from predict_graph.errors import RequestError
from predict_graph.graph import check_graph, save_graph

TEXT = [
    (".txt", "", "is empty"),
    (".txt", "# nothing but a comment\n", "has no edges"),
    (".txt", "1\n2\n", r"g\.txt:1: the line has one column"),
    (".txt", "# c\n1 2\n\n3\n", r"g\.txt:4: the line has one column"),
    (".txt", "1 2\nx\x01 3\n", r"g\.txt:2: .* control character"),
    (".txt", "0 1 2 3\n1 4\n", r"g\.txt:1: the lines have 2 to 4 columns; .* \.adjlist"),
    (".txt", "1 2\n-3 4\n", r"g\.txt:2: '-3' is not an id"),
    (".csv", "s,t\n1,-2\n", r"g\.csv:2: '-2' is not an id"),
    (".txt", "1.5 2\n", r"g\.txt:1: '1\.5' is not an id"),
    (".csv", "1,2\n,2\n", r"g\.csv:2: an id is missing"),
    (".txt", "1 2\n3 9223372036854775808\n", r"g\.txt:2: the id 9223372036854775808 is too large"),
    (".txt", "1 2\n3 4 5\n", r"g\.txt:2: the line has more columns"),
    (".txt", "1 2 0.5\n3 4\n", r"g\.txt:2: the line has no weight"),
    (".txt", "1 2 0.5\n3 4 nan\n", r"g\.txt:2: 'nan' is not a weight; accepted: finite"),
    (".txt", "1 2 1e99\n", r"g\.txt:1: '1e99' is not a weight"),
    (".csv", 'a,b\n1,"2\n', r"g\.csv:2: a quoted field does not end"),
    (".csv", 'a,b\n1,"2"x\n', r"g\.csv:2: text follows a closing quote"),
    (".csv", "weight,source,target\n1,1\n", r"g\.csv:2: an id is missing"),
    (".mtx", "1 1 1\n1 1\n", r"g\.mtx:1: a Matrix Market file begins with"),
    (".mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n", "array real general"),
    (".mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n", "2 by 3"),
    (".mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2\n1 1\n", ":2: the line of"),
    (".mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n", "but holds 1"),
    (
        ".mtx",
        "%%MatrixMarket matrix coordinate pattern general\n% c\n2 2 1\n0 1\n",
        r"g\.mtx:4: the id 0 is out of range; accepted: 1 to 2",
    ),
    (".graph", "x y\n", r"g\.graph:1: the header of a METIS file"),
    (".graph", "2 1 7\n2\n1\n", r"fmt is 007"),
    (".graph", "3 1\n2\n1\n", "says 3 vertices, but 2 lines follow"),
    (".graph", "2 1\n2\n1\n2\n", r"g\.graph:4: the header says 2 vertices, but a further line"),
    (".graph", "2 2\n2\n1\n", "says 2 edges, that is 4 neighbours, but 2 are listed"),
    (".graph", "2 1\n3\n1\n", r"g\.graph:2: the id 3 is out of range; accepted: 1 to 2"),
    (".graph", "2 1\n2\nx\n", r"g\.graph:3: the id x is out of range"),
    (".graph", "4 2\n2 3\n1\n4\n\n", "listed at one of its ends only"),
    (".graph", "2 1 1\n2 1\n1\n", r"g\.graph:3: a vertex or edge weight is missing"),
    (".graph", "2 0\n\n\n", "has no edges"),
    (".npz", "no zip", "is not an .npz file"),
    (".parquet", "no parquet", "is not a Parquet file"),
    (".doc", "1 2\n", r"has the suffix '\.doc'; accepted: \.adjlist"),
]


@pytest.mark.parametrize(("suffix", "content", "message"), TEXT)
def test_files(tmp_path, suffix, content, message):
    file = tmp_path / f"g{suffix}"
    file.write_text(content)
    with pytest.raises(RequestError, match=message) as caught:
        check_graph(file)
    assert "\n" not in str(caught.value)
    assert str(file) in str(caught.value)
    assert caught.value.exit_status == 2


LINES = "".join(f"{s} {s * s}\n" for s in range(20_000)).encode()


@pytest.mark.parametrize(
    ("suffix", "packed", "message"),
    [
        (".gz", gzip.compress(LINES)[:-2000], "gzip data are damaged: .* ended before"),
        (".gz", gzip.compress(LINES)[:-8] + bytes(8), "gzip data are damaged"),
        (".gz", b"0 1\n", "is not gzip data"),
        (".zst", pa.compress(LINES, codec="zstd", asbytes=True)[:-1000], "zstd data are damaged"),
    ],
)
def test_compressed_files(tmp_path, suffix, packed, message):
    (tmp_path / f"g.txt{suffix}").write_bytes(packed)
    with pytest.raises(RequestError, match=message):
        check_graph(tmp_path / f"g.txt{suffix}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.txt", r"there is no file .*none\.txt.*accepted: .*rmat"),
        (".", "is a folder; accepted"),
        ("web-NotreDam", r"'web-NotreDam'; did you mean web-NotreDame\? .*web-Google"),
        ("", "accepted"),
    ],
)
def test_names(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RequestError, match=message):
        check_graph(name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable(tmp_path):
    file = tmp_path / "g.txt"
    file.write_text("0 1\n")
    file.chmod(0)
    with pytest.raises(RequestError, match="cannot be read: Permission denied"):
        check_graph(file)


@pytest.mark.parametrize(
    ("name", "content", "ids", "message"),
    [
        ("g.txt", b"a b\nb \xff\n", "string", r"g\.txt:2: the text is not UTF-8"),
        ("g.txt", b"1 2\n", "text", "ids is 'text'; accepted: integer, string"),
        ("g.mtx", b"%%MatrixMarket matrix coordinate", "string", "integer ids only"),
    ],
)
def test_ids(tmp_path, name, content, ids, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RequestError, match=message):
        check_graph(tmp_path / name, ids=ids)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1, 2]}, "has one column"),
        ({"a": [1, 2], "b": [1.5, 2.0]}, "'b' is 1.5 in row 1; accepted: integers"),
        ({"a": [1, 2], "b": [True, False]}, "column 'b' holds bool, not ids; accepted: integers"),
        ({"a": [1, None], "b": [1, 2]}, "'a' is empty in row 2"),
        ({"a": [1, 2], "b": [0, -4]}, "'b' is -4 in row 2"),
        ({"a": [1], "b": [2], "weight": [float("nan")]}, "weight of edge 0 of .* is nan"),
        ({"a": [1], "b": [2], "weight": ["x"]}, "holds string, not numbers"),
        ({"a": pa.array([], pa.int64()), "b": pa.array([], pa.int64())}, "has no edges"),
    ],
)
def test_parquet(tmp_path, columns, message):
    pq.write_table(pa.table(columns), tmp_path / "g.parquet")
    with pytest.raises(RequestError, match=message):
        check_graph(tmp_path / "g.parquet")


def test_webgraph(tmp_path, shared_graph_file):
    graph = shared_graph_file("uk-2007-05@100000.graph").read_bytes()
    facts = shared_graph_file("uk-2007-05@100000.properties").read_text()
    (tmp_path / "w.graph").write_bytes(graph)
    with pytest.raises(RequestError, match=r"a WebGraph needs w\.properties beside it"):
        check_graph(tmp_path / "w.graph")
    properties = tmp_path / "w.properties"
    for old, new, message in [
        ("BVGraph\n", "EFGraph\n", "graphclass is"),
        ("nodes=100000", "nodes=many", "nodes is many"),
        ("compressionflags=", "compressionflags=RESIDUALS_GOLOMB", "RESIDUALS_GOLOMB is not"),
        ("arcs=3050615", "arcs=3050616", "but w.properties says 3050616"),
        ("zetak=3", "zetak=2", "is damaged: the successors of vertex"),
    ]:
        properties.write_text(facts.replace(old, new))
        with pytest.raises(RequestError, match=message):
            check_graph(tmp_path / "w.graph")
    properties.write_text(facts)
    (tmp_path / "w.graph").write_bytes(graph[: len(graph) // 2])
    with pytest.raises(RequestError, match="is damaged: the successors of vertex"):
        check_graph(tmp_path / "w.graph")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({0: 1}, "cannot be made of dict; accepted"),
        ([(0, 1), (1, 2, 3)], "not all pairs of ids"),
        (nx.Graph(), "no vertices"),
        (nx.empty_graph(4), r"has no edges \(4 vertices\)"),
        (sparse.csr_array((3, 3)), "has no edges"),
        (sparse.csr_array(np.ones((2, 3))), "accepted: square"),
        (sparse.csr_array(np.eye(2) * 1j), "complex values"),
        (sparse.csr_array([[0.0, np.nan], [1.0, 0.0]]), "accepted: finite numbers"),
        (nx.DiGraph([(0, 1, {"weight": "heavy"})]), "not a number"),
        (nx.DiGraph([(0, 1, {"weight": np.inf})]), "weight of edge 0 of the networkx graph"),
    ],
)
def test_objects(source, message):
    with pytest.raises(RequestError, match=message):
        check_graph(source)


def test_saving(tmp_path):
    for name, match in (("s.pgraph", r"a name that ends in \.npz"), ("no/s.npz", "is no folder")):
        with pytest.raises(RequestError, match=match):
            save_graph(check_graph("star:n=9"), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
