"""Any edge list comes back the same through every format."""

import bz2
import gzip
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

from predict_graph.graph import check_graph, save_graph
from predict_graph.graph.build import as_asked, from_edges
from predict_graph.graph.foreign import from_networkx
from tests.graphs import bytes_of, listed, parquet
from tests.refusals import invalid, refused

# No times since 1970, in milliseconds, which are refused as a first column.
IDS = st.one_of(st.integers(0, 12), st.integers(2**42, 2**63 - 1))
WEIGHTS = st.floats(-1e6, 1e6, width=32)


def weighted_edges(ends):
    """Edges between such ends, none of them twice."""
    edges = st.tuples(ends, ends, WEIGHTS)
    return st.lists(edges, min_size=1, max_size=40, unique_by=lambda edge: edge[:2])


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
    assert graph.vertices == len({end for edge in edges for end in edge[:2]})
    assert graph.ascending


def expect_weights(graph, edges):
    assert listed(graph) == {edge[:2]: np.float32(edge[2]) for edge in edges}


@given(
    edges=st.lists(st.tuples(IDS, IDS), min_size=1, max_size=40),
    delimiter=st.sampled_from(["\t", "\t\t", " ", "   ", " \t ", ",", ", ", ";"]),
    end=st.sampled_from(["\n", " \r\n"]),
    directed=st.booleans(),
)
def test_text(edges, delimiter, end, directed):
    lines = ["# comment", "", *(f"  {s}{delimiter}{t}" for s, t in edges)]
    lines.insert(3, "% another comment, 1 2")
    expect(read(end.join(lines), ".txt", directed=directed), edges, directed)


def delimited(edges, delimiter):
    return "\n".join(f"{s}{delimiter}{t}{delimiter}{np.float32(w)!s}" for s, t, w in edges)


def named(edges):
    return "\n".join(["weight,target,note,source", *(f'{w!r},"{t}",x,{s}' for s, t, w in edges)])


def table(edges):
    sources, targets, weights = zip(*edges, strict=True)
    return parquet(**{"weight": pa.array(weights, pa.float32()), "from": sources, "to": targets})


WEIGHTED_FORMATS = [
    *((".txt", partial(delimited, delimiter=mark)) for mark in (" ", "\t", " ; ")),
    (".csv", partial(delimited, delimiter=",")),
    (".csv", named),
    (".parquet", table),
]


@pytest.mark.parametrize(("suffix", "write"), WEIGHTED_FORMATS)
@given(edges=weighted_edges(IDS))
def test_weighted_edges(suffix, write, edges):
    graph = read(write(edges), suffix)
    expect(graph, edges)
    expect_weights(graph, edges)


CHARACTERS = st.characters(blacklist_categories=["Cs", "Cc"])  # line ends are among the latter
TEXTS = st.text(CHARACTERS, min_size=1).map(str.strip).filter(bool) | IDS.map("0{}".format)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=20))
def test_text_ids(edges):
    quoted = [[f'"{text.replace(chr(34), 2 * chr(34))}"' for text in edge] for edge in edges]
    graph = read("\n".join(["source,target", *map(",".join, quoted)]), ".csv", ids="string")
    expect(graph, edges)
    assert graph.labels.tolist() == sorted(graph.labels.tolist())
    sources, targets = zip(*edges, strict=True)
    expect(read(parquet(a=sources, b=targets), ".parquet", ids="string"), edges)


def test_parquet_with_dictionaries():
    texts = pa.array(["x", "y", "x"]).dictionary_encode()
    numbers = pa.array([7, 7, 9]).dictionary_encode()
    for columns, ids, edges in [
        ({"a": texts, "b": texts}, "string", [("x", "x"), ("y", "y")]),
        ({"a": numbers, "b": pa.array([9, 9, 7])}, "integer", [(7, 9), (9, 7)]),
        ({"a": texts, "b": numbers}, "string", [("x", "7"), ("x", "9"), ("y", "7")]),
    ]:
        expect(read(parquet(**columns), ".parquet", ids=ids), edges)


SMALL = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), weighted_edges(st.integers(0, n - 1)))
)


def market(matrix, symmetry="general"):
    return bytes_of(lambda file: scipy_io.mmwrite(file, matrix, symmetry=symmetry, precision=9))


def stored(matrix, form):
    return bytes_of(lambda file: sparse.save_npz(file, matrix.asformat(form)))


MATRICES = [(".mtx", market), *((".npz", partial(stored, form=f)) for f in ("csr", "csc", "coo"))]


@pytest.mark.parametrize(("suffix", "write"), MATRICES)
@given(case=SMALL)
def test_matrices(suffix, write, case):
    n, edges = case
    rows, columns, weights = zip(*edges, strict=True)
    graph = read(write(sparse.coo_array((weights, (rows, columns)), shape=(n, n))), suffix)
    assert graph.vertices == n
    assert sorted(listed(graph)) == sorted(edge[:2] for edge in edges)
    if suffix == ".mtx" or any(weight != 1 for weight in weights):
        expect_weights(graph, edges)


def test_copies_of_an_element_are_added_up():
    matrix = sparse.coo_array(([1, 1, 1], ([0, 0, 1], [1, 1, 2])), shape=(3, 3))
    assert check_graph(matrix).weights.tolist() == [2, 1]


@given(SMALL, st.booleans(), st.booleans())
def test_saved(case, weighted, directed):
    n, edges = case
    rows, columns, weights = (np.array(column) for column in zip(*edges, strict=True))
    labels = np.array([f"é{v}" for v in range(n)], dtype=object)
    options = {"weights": weights if weighted else None, "directed": directed, "labels": labels}
    graph = from_edges(rows, columns, vertices=n, **options)
    with TemporaryDirectory() as folder:
        again = check_graph(save_graph(graph, Path(folder) / "g.npz"))
        assert again.fingerprint == graph.fingerprint
        assert again.labels.tolist() == graph.labels.tolist()
        assert again.directed is directed


def metis(graph, weighted):
    lines = [f"% comment\n{graph.vertices} {graph.logical_edges}" + (" 001" if weighted else "")]
    for v in range(graph.vertices):
        weights = graph.weights[graph.indptr[v] : graph.indptr[v + 1]]
        row = zip((graph.neighbors(v) + 1).tolist(), weights, strict=True)
        lines.append(" ".join(f"{w} {weight}" if weighted else f"{w}" for w, weight in row))
    return "\n".join(lines) + "\n"


@given(SMALL, st.booleans())
def test_undirected_formats(case, weighted):
    n, edges = case
    edges = [edge for edge in edges if edge[0] != edge[1]] or [(0, n, 2.0)]
    rows, columns, weights = (np.array(column) for column in zip(*edges, strict=True))
    graph = from_edges(rows, columns, vertices=n + 1, weights=weights, directed=False)
    matrix = market(graph.to_scipy(), "symmetric")
    for text, suffix in ((metis(graph, weighted), ".graph"), (matrix, ".mtx")):
        found = read(text, suffix)
        assert (found.vertices, found.directed) == (n + 1, False)
        if weighted or suffix == ".mtx":
            assert listed(found) == listed(graph)
        else:
            assert sorted(listed(found)) == sorted(listed(graph))


SKIPPED = b"\x50\x2a\x4d\x18\4\0\0\0\x19\0\0\0\x51\x2a\x4d\x18\5\0\0\0hello"  # frames of zstd


COMPRESSED = [
    (".txt.gz", lambda text: gzip.compress(text[:99]) + gzip.compress(text[99:]) + bytes(100)),
    (".txt.bz2", bz2.compress),
    (".csv.zst", lambda text: SKIPPED + pa.compress(text, codec="zstd", asbytes=True)),
]


@pytest.mark.parametrize(("suffix", "pack"), COMPRESSED)
def test_compressed(suffix, pack):
    edges = [(s, (7 * s) % 1000) for s in range(1000)]
    expect(read(pack("\n".join(f"{s}\t{t}" for s, t in edges).encode()), suffix), edges)


@pytest.mark.slow
def test_lines_across_blocks(monkeypatch):
    from predict_graph.graph.readers import streams

    monkeypatch.setattr(streams, "_BLOCK", 7)
    monkeypatch.setattr(streams, "_READ", 7)
    edges = [(s, s * s) for s in range(1000)]
    text = "\n".join(f"{s} {t}" for s, t in edges)
    expect(read(text, ".txt"), edges)
    expect(read(gzip.compress(text.encode()), ".txt.gz"), edges)
    invalid(r"graph\.txt:1001: '-1' is not an id", read, text + "\n-1 3\n", ".txt")


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
    if directed and not source.is_directed():
        listed += [(v, u, weight) for u, v, weight in listed if u != v]
    ends = np.array([edge[:2] for edge in listed], np.int64).reshape(-1, 2)
    weights = [edge[2] for edge in listed]
    known = np.array([each or 1.0 for each in weights]) if any(weights) else None
    wanted = source.is_directed() if directed is None else directed
    expected = from_edges(*ends.T, vertices=len(nodes), weights=known, directed=wanted)
    found = as_asked(from_networkx(source), directed, None)
    assert found.directed is expected.directed
    assert found.fingerprint == expected.fingerprint


def test_a_stored_graph_that_lost_its_last_arrays_is_refused(tmp_path):
    (tmp_path / "g.csv").write_text("a,b,2\nb,c,3\n")
    stored = np.load(save_graph(check_graph(tmp_path / "g.csv", ids="string"), tmp_path / "g.npz"))
    for count in range(1, len(stored.files)):
        np.savez(tmp_path / "part.npz", **{name: stored[name] for name in stored.files[:count]})
        refused(None, check_graph, tmp_path / "part.npz")
