"""Files of networkx, KONECT and DIMACS, archives, and what small files must not cost."""

import bz2
import contextlib
import json
import lzma
import time

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from predict_graph.graph.build import READ_AS_DIRECTED
from predict_graph.limits import limited
from tests.graphs import listed, no_graph, zipped
from tests.paces import peak_bytes

WRITERS = {
    ".graphml": nx.write_graphml_xml,
    ".gexf": nx.write_gexf,
    ".gml": nx.write_gml,
    ".net": nx.write_pajek,
    ".json": lambda graph, file: file.write_text(json.dumps(nx.node_link_data(graph))),
}


@pytest.mark.parametrize("names", ["abcd", range(4), [3, 5, 8, 9]])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("suffix", WRITERS)
def test_files_of_networkx(written, tmp_path, suffix, directed, names):
    made = nx.DiGraph() if directed else nx.Graph()
    names = list(names)
    made.add_nodes_from(names)
    edges = ((0, 1, 2.5), (1, 2, 1.0), (3, 0, 4.0))
    made.add_weighted_edges_from((names[u], names[v], weight) for u, v, weight in edges)
    file = tmp_path / f"g{suffix}"
    WRITERS[suffix](made, file)
    graph = check_graph(file)
    assert (graph.vertices, graph.directed, graph.notes) == (4, directed, ())
    assert listed(graph) == listed(check_graph(made))
    packed = written(bz2.compress(file.read_bytes()), f"g{suffix}.bz2")
    assert check_graph(packed).fingerprint == graph.fingerprint


LINKS = '{"nodes": [{"name": "x"}, {"name": "y"}], "links": [{"source": 0, "target": 1}]}'
NODE = 'node [ id {} label "x" ] '
EDGE = "edge [ source 1 target 2 ] "  # twice, as in the blogs of Adamic and Glance
GML = f"\ufeffVersion 1 graph [ directed 1 {NODE.format(1)}{NODE.format(2)} {2 * EDGE} ]"
ROADS = "c roads\np sp 4 3\na 1 2 7\nc between\na 2 3 5\na 3 1 2\n"
SIZED = "3 2 111 2\n9 1 2 2 0.5\n9 1 2 1 0.5 3 4\n9 1 2 2 4\n"  # and weights of the vertices


MIXED = "*Vertices 3\n*Arcs\n3 3 c Blue\n1 2 2\n*Edges\n2 3 5\n*Arcslist\n3 1\n"
SMALL_FILES = [
    ("a.net", "*Vertices 4\n*Arcs\n*Edges\n1 2\n2 3\n", 4, False, {(1, 2): 1.0, (2, 3): 1.0}),
    ("a.net", MIXED, 3, True, {(1, 2): 2.0, (2, 3): 5.0, (3, 2): 5.0, (3, 1): 1.0, (3, 3): 1.0}),
    ("a.json", f"\ufeff{LINKS}", 2, True, {(0, 1): 1.0}),
    ("a.gml", GML, 2, True, {(1, 2): 1.0}),  # its labels are no ids
    ("a.gr", ROADS, 4, True, {(0, 1): 7.0, (1, 2): 5.0, (2, 0): 2.0}),
    ("a.txt", ROADS.encode("utf-16"), 4, True, {(0, 1): 7.0, (1, 2): 5.0, (2, 0): 2.0}),
    ("a.graph", SIZED, 3, False, {(0, 1): 0.5, (1, 2): 4.0}),
    ("a.txt", "c\np edge 3 2\nn 1 4\ne 1 2\ne 2 3\n", 3, False, {(0, 1): 1.0, (1, 2): 1.0}),
    ("out.a_b", "% asym weighted\n1 2 1\n2 3 2\n", 3, True, {(1, 2): 1.0, (2, 3): 2.0}),
    ("part-00000", "1 2\n2 3\n", 3, True, {(1, 2): 1.0, (2, 3): 1.0}),
    ("a.edgelist", "a {b}\n{b} c\n", 3, True, {("a", "{b}"): 1.0, ("{b}", "c"): 1.0}),
]


@pytest.mark.parametrize(("name", "text", "vertices", "directed", "edges"), SMALL_FILES)
def test_small_files(written, name, text, vertices, directed, edges):
    graph = check_graph(written(text, name))
    assert (graph.vertices, graph.directed) == (vertices, directed)
    backwards = {} if directed else {(t, s): weight for (s, t), weight in edges.items()}
    assert listed(graph) == edges | backwards
    assert graph.labels is None or graph.labels.tolist() == sorted(graph.labels)
    assert (READ_AS_DIRECTED in graph.notes) == (name in ("a.json", "part-00000", "a.edgelist"))


def test_edge_and_adjacency_lists_of_networkx(tmp_path):
    made, file = nx.cycle_graph(5), tmp_path / "a.edgelist"
    blue = {"color": "blue", "weight": 0.5}
    weighted = nx.Graph([(0, 1, {"weight": 2.5, "color": "r}ed"}), (1, 2, blue)])
    for graph, options in ((made, {}), (weighted, {}), (weighted, {"delimiter": ","})):
        nx.write_edgelist(graph, file, **options)
        assert check_graph(file, directed=False).fingerprint == check_graph(graph).fingerprint
    file = tmp_path / "a.adjlist"
    for write in (nx.write_adjlist, nx.write_multiline_adjlist):
        write(made, file)
        assert check_graph(file, directed=False).fingerprint == check_graph(made).fingerprint
    file.write_text("\ufeffa b c\n\nb c\nd\n")
    assert listed(check_graph(file)) == {("a", "b"): 1.0, ("a", "c"): 1.0, ("b", "c"): 1.0}
    assert check_graph(file).labels.tolist() == ["a", "b", "c", "d"]


@pytest.mark.slow
def test_archives(written, monkeypatch):
    text = b"".join(b"%d %d\n" % (v, v * v % 99_991) for v in range(60_000))
    whole = check_graph(written(text, "a.txt")).fingerprint
    for name, packed in (
        ("a.txt.xz", lzma.compress(text[:700_000]) + bytes(8) + lzma.compress(text[700_000:])),
        ("a.zip", zipped("folder/", "folder/b.csv", "__MACOSX/c", text=text)),
        ("b.zip", zipped("b.txt", text=text)),
    ):
        assert check_graph(written(packed, name)).fingerprint == whole
    monkeypatch.setattr("predict_graph.limits.check_unpacked.__defaults__", (1 << 20,))
    zeros = b"0 1\n" * 2_000_000
    with limited(unpack_ratio=10):
        no_graph(written(lzma.compress(zeros, preset=0), "c.txt.xz"), "unpack_ratio")
        no_graph(written(zipped("a.txt", text=zeros), "c.zip"), "unpack_ratio")


def test_a_folder_of_parquet_files(tmp_path):
    folder = tmp_path / "all" / "edges.parquet"  # as Spark calls it
    (folder / "day=1").mkdir(parents=True)
    for place, ends in (("a", [[1, 2], [2, 3]]), ("day=1/b", [[5], [6]])):
        pq.write_table(pa.table(dict(zip("ab", ends, strict=True))), folder / f"{place}.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "_old.parquet").write_text("none")
    assert listed(check_graph(folder.parent)) == {(1, 2): 1.0, (2, 3): 1.0, (5, 6): 1.0}
    pq.write_table(pa.table({"x": [1], "y": [2]}), folder / "c.parquet")
    no_graph(folder, r"c\.parquet has other columns")


# --- what small files must not cost ---------------------------------------------------------------


def test_sparse_arrays_that_unpack_to_much(tmp_path):
    file = tmp_path / "a.npz"
    diagonal = sparse.dia_array((np.ones((1, 4)), [0]), shape=(300_000_000, 300_000_000))
    sparse.save_npz(file, diagonal)
    with limited(vertices=10**9):
        no_graph(file, "unpack_ratio")
    zeros = np.zeros(10_000_000, np.int64)
    np.savez_compressed(file, indptr=zeros, indices=zeros, directed=np.True_)
    assert peak_bytes(lambda: no_graph(file, "unpack_ratio")) < 1 << 26


def test_texts_of_parquet_files_are_kept_once(tmp_path):
    file, rows = tmp_path / "a.parquet", 1 << 17
    place = pa.array(np.zeros(rows, np.int64))
    texts = pa.array(["s" * 50_000]).dictionary_encode().take(place)  # 6.5 GB without dictionary
    pq.write_table(pa.table({"source": texts, "target": pa.array(["y"] * rows)}), file)
    before = pa.total_allocated_bytes()
    graph = check_graph(file)
    assert (graph.vertices, graph.edges) == (2, 1)
    assert pa.total_allocated_bytes() - before < 1 << 26


@pytest.mark.slow
def test_texts_of_parquet_files_that_store_what_differs(tmp_path):
    file = tmp_path / "a.parquet"
    options = {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY", "b": "PLAIN"}}
    pq.write_table(pa.table({"a": ["xy", "xz"] * 500, "b": ["y"] * 1000}), file, **options)
    assert listed(check_graph(file)) == {("xy", "y"): 1.0, ("xz", "y"): 1.0}
    pq.write_table(pa.table({"a": ["x" * 50_000] * 4096, "b": ["y"] * 4096}), file, **options)
    no_graph(file, "unpack_ratio")


LONG_LINES = [
    b"0 1 " + b"{" * 400_000,
    b"0 1 " + b"{'" * 200_000,
    b"0 1" + b" " * 400_000 + b"{",
    b"1" * 400_000 + b"x 2",
    b"(" * 400_000 + b",b",
    b",".join(b"src%d" % place for place in range(20_000)),
    b"#" * 400_000 + b",x",
]


@pytest.mark.parametrize("line", LONG_LINES)
def test_long_lines_take_time_in_proportion(written, line):
    file = written(b"{\n" * line.startswith(b"0 1") + line + b"\n1 2\n")
    began = time.process_time()
    with contextlib.suppress(RequestError):
        check_graph(file)
    assert time.process_time() - began < 5.0


def test_a_name_of_a_parquet_column_that_is_damaged_somewhere(tmp_path):
    file = tmp_path / "a.parquet"
    pq.write_table(pa.table({"from": ["x", "y"], "to": ["y", "z"]}), file)
    whole = file.read_bytes()
    places = [at for at in range(len(whole)) if whole.startswith(b"from", at)]
    assert len(places) > 1  # of the schema, of a group of rows, of Arrow's own schema
    for at in places:
        damaged = whole[:at] + b"\xee" + whole[at + 1 :]
        with contextlib.suppress(RequestError):
            file.write_bytes(damaged)
            check_graph(file)
