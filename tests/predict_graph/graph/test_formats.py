"""Any edge list comes back the same through every format."""

import bz2
import gzip
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

from predict_graph.graph import check_graph, save_graph
from predict_graph.graph.build import from_edges
from predict_graph.graph.objects import from_networkx

# No times since 1970, in milliseconds, which are refused as a first column.
IDS = st.one_of(st.integers(0, 12), st.integers(2**42, 2**63 - 1))
WEIGHTS = st.floats(-1e6, 1e6, width=32)
EDGES = st.lists(st.tuples(IDS, IDS), min_size=1, max_size=40)
WEIGHTED = st.lists(
    st.tuples(IDS, IDS, WEIGHTS), min_size=1, max_size=40, unique_by=lambda edge: edge[:2]
)


def listed(graph):
    """Return the stored edges, in terms of the original ids."""
    rows = np.repeat(np.arange(graph.vertices), graph.out_degrees)
    columns = graph.indices
    if graph.labels is not None:
        rows, columns = graph.labels[rows], graph.labels[columns]
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def read(content, suffix, **options):
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"graph{suffix}"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return check_graph(file, **options)


def expect(graph, edges, directed=True):
    wanted = {edge[:2] for edge in edges}
    if not directed:
        wanted |= {(target, source) for source, target in wanted}
    assert sorted(listed(graph)) == sorted(wanted)
    assert graph.directed is directed
    ids = {end for edge in edges for end in edge[:2]}
    assert graph.vertices == len(ids)
    for v in range(graph.vertices):
        row = graph.neighbors(v)
        assert np.all(np.diff(row.astype(np.int64)) > 0)


def expect_weights(graph, edges):
    found = dict(zip(listed(graph), graph.weights.tolist(), strict=True))
    assert found == {edge[:2]: np.float32(edge[2]) for edge in edges}


@given(EDGES, st.sampled_from(["\t", " ", "   ", " \t ", ",", ", ", ";"]), st.booleans())
def test_text(edges, delimiter, directed):
    lines = ["# comment", "", *(f"{s}{delimiter}{t}" for s, t in edges)]
    lines.insert(3, "% another comment, 1 2")
    expect(read("\n".join(lines), ".txt", directed=directed), edges, directed)


@given(EDGES, st.sampled_from(["\n", "\r\n"]))
def test_line_ends_and_trailing_blanks(edges, end):
    expect(read(end.join(f"  {s} {t} " for s, t in edges) + end, ".txt"), edges)


@given(WEIGHTED, st.sampled_from([" ", "\t", ",", " ; "]))
def test_weighted_text(edges, delimiter):
    text = "\n".join(f"{s}{delimiter}{t}{delimiter}{np.float32(w)!s}" for s, t, w in edges)
    graph = read(text, ".txt")
    expect(graph, edges)
    expect_weights(graph, edges)


@given(WEIGHTED)
def test_csv_columns_by_name(edges):
    rows = [f'{w!r},"{t}",x,{s}' for s, t, w in edges]
    graph = read("\n".join(["weight,target,note,source", *rows]), ".csv")
    expect(graph, edges)
    expect_weights(graph, edges)


TEXTS = (
    st.text(
        st.characters(blacklist_categories=["Cs", "Cc"], blacklist_characters="\n\r"), min_size=1
    )
    .map(str.strip)
    .filter(bool)
)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=20))
def test_text_ids_in_quotes(edges):
    def quoted(text):
        return '"' + text.replace('"', '""') + '"'

    rows = [f"{quoted(s)},{quoted(t)}" for s, t in edges]
    expect(read("\n".join(["source,target", *rows]), ".csv", ids="string"), edges)


@given(st.lists(st.tuples(IDS, IDS), min_size=1, max_size=20))
def test_text_ids_may_look_like_numbers(edges):
    graph = read("\n".join(f"{s} 0{t}" for s, t in edges), ".txt", ids="string")
    expect(graph, [(str(s), f"0{t}") for s, t in edges])
    assert graph.labels.tolist() == sorted(graph.labels.tolist())


@given(WEIGHTED)
def test_parquet(edges):
    table = pa.table(
        {
            "weight": pa.array([w for _, _, w in edges], pa.float32()),
            "from": [s for s, _, _ in edges],
            "to": [t for _, t, _ in edges],
        }
    )
    content = io.BytesIO()
    pq.write_table(table, content)
    graph = read(content.getvalue(), ".parquet")
    expect(graph, edges)
    expect_weights(graph, edges)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=20))
def test_parquet_of_texts(edges):
    table = pa.table({"a": [s for s, _ in edges], "b": [t for _, t in edges]})
    content = io.BytesIO()
    pq.write_table(table, content)
    expect(read(content.getvalue(), ".parquet", ids="string"), edges)


def test_parquet_with_dictionaries():
    texts = pa.array(["x", "y", "x"]).dictionary_encode()
    numbers = pa.array([7, 7, 9]).dictionary_encode()
    for columns, ids, edges in [
        ({"a": texts, "b": texts}, "string", [("x", "x"), ("y", "y")]),
        ({"a": numbers, "b": pa.array([9, 9, 7])}, "integer", [(7, 9), (9, 7)]),
        ({"a": texts, "b": numbers}, "string", [("x", "7"), ("x", "9"), ("y", "7")]),
    ]:
        content = io.BytesIO()
        pq.write_table(pa.table(columns), content)
        expect(read(content.getvalue(), ".parquet", ids=ids), edges)


SMALL = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), WEIGHTS),
            min_size=1,
            max_size=40,
            unique_by=lambda edge: edge[:2],
        ),
    )
)


def matrix_of(n, edges):
    rows, columns, weights = zip(*edges, strict=True)
    return sparse.coo_array((np.array(weights), (rows, columns)), shape=(n, n))


@given(SMALL)
def test_matrix_market(case):
    n, edges = case
    content = io.BytesIO()
    scipy_io.mmwrite(content, matrix_of(n, edges), symmetry="general", precision=9)
    graph = read(content.getvalue(), ".mtx")
    assert graph.vertices == n
    assert sorted(listed(graph)) == sorted(edge[:2] for edge in edges)
    expect_weights(graph, edges)


@given(SMALL)
def test_symmetric_matrix_market_is_undirected(case):
    n, edges = case
    matrix = matrix_of(n, [(s, t, 1) for s, t, _ in edges])
    matrix = ((matrix + matrix.T) > 0).astype(np.int8)
    content = io.BytesIO()
    scipy_io.mmwrite(content, matrix, symmetry="symmetric", field="pattern")
    graph = read(content.getvalue(), ".mtx")
    assert not graph.directed
    assert (graph.to_scipy() != matrix).nnz == 0


@given(SMALL, st.sampled_from(["csr", "csc", "coo"]))
def test_npz_of_scipy(case, form):
    n, edges = case
    content = io.BytesIO()
    sparse.save_npz(content, matrix_of(n, edges).asformat(form))
    graph = read(content.getvalue(), ".npz")
    assert graph.vertices == n
    assert sorted(listed(graph)) == sorted(edge[:2] for edge in edges)


@given(SMALL, st.booleans(), st.booleans())
def test_saved(case, weighted, directed):
    n, edges = case
    rows, columns, weights = (np.array(column) for column in zip(*edges, strict=True))
    graph = from_edges(
        rows,
        columns,
        vertices=n,
        weights=weights if weighted else None,
        directed=directed,
        labels=np.array([f"é{v}" for v in range(n)], dtype=object),
    )
    with TemporaryDirectory() as folder:
        again = check_graph(save_graph(graph, Path(folder) / "g.npz"))
        assert again.fingerprint == graph.fingerprint
        assert again.labels.tolist() == graph.labels.tolist()
        assert again.directed is directed


@given(SMALL, st.booleans())
def test_metis(case, weighted):
    n, edges = case
    pairs = {(min(s, t), max(s, t)): abs(w) for s, t, w in edges if s != t}
    if not pairs:
        pairs = {(0, n): 1.0}
        n += 1
    lines = [f"% comment\n{n} {len(pairs)}" + (" 001" if weighted else "")]
    for v in range(n):
        row = [(t, w) for (s, t), w in pairs.items() if s == v]
        row += [(s, w) for (s, t), w in pairs.items() if t == v]
        shown = (f"{u + 1} {np.float32(w)!s}" if weighted else f"{u + 1}" for u, w in row)
        lines.append(" ".join(shown))
    graph = read("\n".join(lines) + "\n", ".graph")
    assert graph.vertices == n
    assert not graph.directed
    expect_weights_of = {**pairs, **{(t, s): w for (s, t), w in pairs.items()}}
    assert set(listed(graph)) == set(expect_weights_of)
    if weighted:
        expect_weights(graph, [(*edge, w) for edge, w in expect_weights_of.items()])


def test_metis_with_vertex_sizes_and_weights():
    graph = read("3 2 111 2\n9 1 2 2 0.5\n9 1 2 1 0.5 3 4\n9 1 2 2 4\n", ".graph")
    assert listed(graph) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert graph.weights.tolist() == [0.5, 0.5, 4, 4]


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        (".txt.gz", gzip.compress),
        (".txt.bz2", bz2.compress),
        (".csv.zst", lambda text: pa.compress(text, codec="zstd", asbytes=True)),
    ],
)
def test_compressed(suffix, pack):
    edges = [(s, (7 * s) % 1000) for s in range(1000)]
    expect(read(pack("\n".join(f"{s}\t{t}" for s, t in edges).encode()), suffix), edges)


def test_gzip_of_several_members_and_padding():
    packed = gzip.compress(b"0 1\n1") + gzip.compress(b" 2\n2 0\n") + bytes(100)
    assert listed(read(packed, ".txt.gz")) == [(0, 1), (1, 2), (2, 0)]


def test_lines_across_blocks(monkeypatch):
    from predict_graph.graph.readers import streams

    monkeypatch.setattr(streams, "_BLOCK", 7)
    monkeypatch.setattr(streams, "_READ", 7)
    edges = [(s, s * s) for s in range(1000)]
    text = "\n".join(f"{s} {t}" for s, t in edges)
    expect(read(text, ".txt"), edges)
    expect(read(gzip.compress(text.encode()), ".txt.gz"), edges)
    with pytest.raises(ValueError, match=r"graph\.txt:1001: '-1' is not an id"):
        read(text + "\n-1 3\n", ".txt")


def test_byte_order_mark():
    assert listed(read(b"\xef\xbb\xbf0 1\n", ".txt")) == [(0, 1)]
    assert listed(read(b"\xef\xbb\xbfsource,target\n0,1\n", ".csv")) == [(0, 1)]


def test_networkx_and_scipy_agree_with_files():
    made = nx.gnp_random_graph(30, 0.2, seed=3, directed=True)
    matrix = nx.to_scipy_sparse_array(made)
    text = "\n".join(f"{s} {t}" for s, t in made.edges())
    fingerprints = {
        check_graph(made).fingerprint,
        check_graph(matrix).fingerprint,
        read(text, ".txt").fingerprint,
    }
    assert len(fingerprints) == 1


NAMES = st.one_of(st.integers(0, 9), st.integers(-5, 30), st.sampled_from("abcdefg"))


@given(
    kind=st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]),
    edges=st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=30),
    weight=st.sampled_from(["none", "some", "all"]),
    part=st.booleans(),
    directed=st.sampled_from([None, True, False]),
)
def test_graphs_of_networkx_are_read_by_rows_as_edge_by_edge(kind, edges, weight, part, directed):
    source = kind()
    for number, (one, other) in enumerate(edges):
        has = weight == "all" or (weight == "some" and number % 2)
        source.add_edge(one, other, **({"weight": 0.5 + number} if has else {}))
    if part:  # a view that filters
        source = source.subgraph(list(source)[::2])
    nodes = list(source)
    if all(type(node) is int for node in nodes):
        nodes.sort()
    place = {node: number for number, node in enumerate(nodes)}
    listed = [(place[u], place[v], data.get("weight")) for u, v, data in source.edges(data=True)]
    ends = np.array([edge[:2] for edge in listed], np.int64).reshape(-1, 2)
    weights = [edge[2] for edge in listed]
    expected = from_edges(
        ends[:, 0],
        ends[:, 1],
        vertices=len(nodes),
        weights=None if None in weights or not weights else np.array(weights),
        directed=source.is_directed() if directed is None else directed,
    )
    found = from_networkx(source, directed=directed)
    assert found.directed is expected.directed
    assert np.array_equal(found.indptr, expected.indptr)
    assert np.array_equal(found.indices, expected.indices)
    assert (found.weights is None) == (expected.weights is None)
    if found.weights is not None:
        np.testing.assert_allclose(found.weights, expected.weights)
