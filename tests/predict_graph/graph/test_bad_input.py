"""Wrong files and requests: one clear sentence that names the value, the file and the line."""

import gzip
import lzma
import os
import zipfile

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from benchmarks.robustness import webgraph
from predict_graph.graph import check_graph, save_graph
from predict_graph.graph.readers.streams import Content
from predict_graph.limits import limited
from tests.graphs import no_graph, parquet, zipped
from tests.refusals import refused

LINES = "".join(f"{s} {s * s}\n" for s in range(20_000)).encode()
MATRIX = "%%MatrixMarket matrix coordinate pattern general\n"
BOMB = '<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><graphml>&b;</graphml>'


FILES = [
    (".txt", "", "is empty"),
    (".txt", "# nothing but a comment\n", "has no edges"),
    (".txt", "1\n2\n", r"g\.txt:1: the line has one column"),
    (".txt", "1 2\nx\x01 3\n", r"g\.txt:2: .* control character"),
    (".txt", "0 1 2 3\n1 4\n", r"g\.txt:1: the lines have 2 to 4 columns; .* \.adjlist"),
    (".txt", "1 2\n-3 4\n", r"g\.txt:2: '-3' is not an id"),
    (".csv", "1,2\n,2\n", r"g\.csv:2: an id is missing"),
    (".txt", "1 2\n3 9223372036854775808\n", r"g\.txt:2: the id 92233720368.* is out of range"),
    (".txt", "1 2\n3 4 5\n", r"g\.txt:2: the line has more columns"),
    (".txt", "1 2 0.5\n3 4\n", r"g\.txt:2: the line has no weight"),
    (".txt", "1 2 0.5\n3 4 nan\n", r"g\.txt:2: 'nan' is not a weight; accepted: finite"),
    (".csv", "1;2;1,5\n2;3;0\n3;4;2.5\n", r"g\.csv:3: '2\.5' is not a weight"),
    (".csv", "source,target\nSmith, John,Doe, Jane\n", r"g\.csv:2: the line has more columns"),
    (".csv", 'a,b\n1,"2\n', r"g\.csv:2: a quoted field does not end"),
    (".csv", 'source,target\na,"," "\n', r"g\.csv:2: text follows a closing quote"),
    # Line ends of old systems.
    (".csv", "a,b\r0,1\r1,2\r", r"g\.csv:1: .* carriage return inside"),
    (".txt", "\r", "has no edges"),
    (".txt", b"\xff\xfe1\0 \x002\0\n\x003", "begins as UTF-16"),
    # Tables and pages of something else.
    (".csv", "Id,Label\n1,x\n2,y\n", "do not say what the ends of an edge are"),
    (".csv", 'node,neighbors\n1,"2,3"\n2,3\n', "do not say what the ends of an edge are"),
    (".csv", "id,name,age\n1,tom,33\n2,ann,44\n", "such as 'tom' and '33', which are unlike"),
    (".txt", "1 -> 2\n2 -> 3\n", "such as '1' and '->', which are unlike"),
    (".csv", "2020-01-01,1,2\n2020-01-02,2,3\n", "the first column seems to hold times"),
    (".csv", "0,1,0,1\n1,0,1,0\n0,1,0,1\n1,0,1,0\n", "an adjacency matrix"),
    (".txt", "0 2 1 9\n2 0.0 4 5\n1 4 0 3\n9 5 3 0\n", "an adjacency matrix"),
    (".csv", ",x,y\nx,0,3\ny,3,0\n", "an adjacency matrix"),
    (".txt", "a knows b\nb likes a\n", "second column seems to hold labels of edges, such as 'kn"),
    (".txt", "<!DOCTYPE html><html>\n<body>Not found</body>\n", "a page of HTML or XML"),
    (".txt", '{"source": 1, "target": 2}\n', "holds JSON; accepted: a list of edges"),
    (".txt", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "pointer of Git LFS"),
    # Matrices.
    (".mtx", "1 1 1\n1 1\n", r"g\.mtx:1: a Matrix Market file begins with"),
    (".mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n", "array real general"),
    (".mtx", f"{MATRIX}2 3 1\n1 1\n", "2 by 3"),
    (".mtx", f"{MATRIX}2 2 2\n1 1\n", "but holds 1"),
    (".mtx", f"{MATRIX}% c\n2 2 1\n0 1\n", r"g\.mtx:4: the id 0 is out of range; accepted: 1 to 2"),
    (".mtx", f"{MATRIX}{'9' * 5000} 2 1\n1 1\n", "whole numbers below 10"),
    (".mtx", MATRIX.replace("general", "symmetric") + "90000000 90000000 1\n2 1\n", "unpack_ratio"),
    # METIS and DIMACS.
    (".graph", "2 1 1\n2 0.5\n1 x\n", r"g\.graph:3: the weight x is out of range"),
    (".graph", "2 1 7\n2\n1\n", r"header begins with '2 1 7'; .* fmt of digits 0 and 1"),
    (".graph", "2 1 1 1001\n2\n1\n", r"g\.graph:1: the header .* ncon below 1000"),
    (".graph", "3 1\n2\n1\n", "says 3 vertices, but 2 lines follow"),
    (".graph", "2 1\n2\n1\n2\n", r"g\.graph:4: the header says 2 vertices, but a further line"),
    (".graph", "2 2\n2\n1\n", "says 2 edges, that is 4 neighbours, but 2 are listed"),
    (".graph", "2 1\n3\n1\n", r"g\.graph:2: the id 3 is out of range; accepted: 1 to 2"),
    (".graph", "4 2\n2 3\n1\n4\n\n", "listed at one of its ends only"),
    (".graph", "2 1 1\n2 1\n1\n", r"g\.graph:3: a vertex or edge weight is missing"),
    (".graph", "2 0\n\n\n", "has no edges"),
    (".metis", f"2 1 010 {'9' * 30}\n1 2\n1 1\n", r"g\.metis:1: the header"),
    (".gr", "p sp 4 2\na 1 2 7\n", "says 2 edges, but holds 1"),
    (".gr", "p sp 4 1\na 1 5 7\n", r"g\.gr:2: the id 5 is out of range"),
    (".gr", "a 1 2 3\n", "begins with '1 2 3'; accepted: 'p PROBLEM"),
    (".gr", "p sp 400000000 1\na 1 2 7\n", "unpack_ratio"),
    # Files of networkx.
    (".graphml", BOMB, "DOCTYPE"),
    (".graphml", BOMB.encode("utf-16"), "DOCTYPE"),
    (".adjlist", "1\n2\n", "has no edges"),
    (".gexf", "<gexf>", "is not GEXF that can be read"),
    (".gml", "graph [ node [", "is not GML that can be read"),
    (".gml", "[" * 100_000, "is not GML that can be read"),
    (".json", "[" * 100_000, "nested too deeply"),
    (".json", "{}", "no 'nodes' and 'links'"),
    (".json", "[1]", "is not JSON of nodes and links"),
    (".json", '{"nodes": [{"id": 1}], "links": []}', "has no edges"),
    (".json", '{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}', "not among the ids"),
    (".net", '*vertices 2\n1 "x"\n2 "x"\n*arcs\n1 2', "2 vertices, but has 1 labels"),
    (".net", "*vertices 1000000000\n*arcs\n1 2\n", "vertices 1000000000|unpack_ratio"),
    (".net", "*vertices 2\n*edges\n1 3\n", "joins .'1', '3'.; accepted: two vertices from 1 to 2"),
    (".net", "*vertices 2\n*lines\n1 2 3\n", "lines"),
    # Parquet.
    (".parquet", parquet(a=[1, 2]), "has one column"),
    (".parquet", parquet(a=[1, 2], b=[1.5, 2.0]), "'b' is 1.5 in row 1; accepted: integers"),
    (".parquet", parquet(a=[1, 2], b=[True, False]), "column 'b' holds bool, not ids; accepted: i"),
    (".parquet", parquet(a=[1, None], b=[1, 2]), "'a' is empty in row 2"),
    (".parquet", parquet(a=[1], b=[2], weight=[float("nan")]), "weight of edge 0 of .* is nan"),
    (".parquet", parquet(a=[1], b=[2], weight=["x"]), "holds string, not numbers"),
    (".parquet", parquet(a=pa.array([], "i8"), b=pa.array([], "i8")), "has no edges"),
    # Packed files, and names.
    (".txt.gz", gzip.compress(LINES)[:-2000], "gzip data are damaged: .* ended before"),
    (".txt.gz", gzip.compress(LINES)[:-8] + bytes(8), "gzip data are damaged"),
    (".txt.gz", b"0 1\n", "is not gzip data"),
    (".txt.zst", pa.compress(LINES, "zstd", asbytes=True)[:-1000], "zstd data are damaged"),
    (".txt.xz", lzma.compress(LINES)[:-400], "xz data are damaged"),
    (".zip", zipped("a.txt", "b.txt"), "holds 2 files; accepted: one"),
    (".zip", zipped("a.doc"), "the suffix '.doc'"),
    (".zip", zipped("a.txt", method=zipfile.ZIP_BZIP2), "is packed otherwise"),
    (".zip", zipped("a.txt")[:-30], "zip data are damaged"),
    (".npz", "no zip", "is not an .npz file"),
    (".parquet", "no parquet", "is not a Parquet file"),
    (".doc", "1 2\n", r"has the suffix '\.doc'; accepted: \.adjlist"),
]


@pytest.mark.parametrize(
    ("suffix", "content", "message"), FILES, ids=[one + said for one, _, said in FILES]
)
def test_files(written, suffix, content, message):
    no_graph(written(content, f"g{suffix}"), message)


def test_ids(written):
    def read(name, content, ids):
        check_graph(written(content, name), ids=ids)

    refused(r"g\.txt:2: the text is not UTF-8", read, "g.txt", b"a b\nb \xff\n", "string")
    refused("ids is 'text'; accepted: integer, string", read, "g.txt", b"1 2\n", "text")
    refused("'Orwell' is not an id", read, "g.txt", b"1984 2001\nOrwell 1984\n", "integer")
    refused("integer ids only", read, "g.mtx", b"%%MatrixMarket matrix coordinate", "string")
    table = parquet(a=["x", "y"], b=["y", "z"])
    refused("holds string, not ids", read, "g.parquet", table, "integer")


def test_a_file_that_changes_while_it_is_read(written):
    content = Content(file := written(LINES, "g.txt"))
    os.truncate(file, 100)
    refused(r"g\.txt changed while it was read", list, content.blocks())


def test_a_document_that_is_larger_than_its_limit(written):
    with limited(document_bytes=100_000):
        no_graph(written("[" + " " * 100_000, "g.json"), "a quarter of .* 100,000 bytes")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable(written):
    file = written("0 1\n", "g.txt")
    file.chmod(0)
    no_graph(file, "cannot be read: Permission denied")


def test_webgraph(written, tmp_path):
    rows = [[(v * step) % 90 for step in range(1, 9)] for v in range(1, 91)]
    symbols = webgraph.symbols_of([sorted(set(row)) for row in rows])
    graph, arcs = webgraph.packed(symbols), sum(len(set(row)) for row in rows)
    facts = webgraph.properties(90, arcs)
    file, properties = written(graph, "w.graph"), tmp_path / "w.properties"
    no_graph(file, r"a WebGraph needs w\.properties beside it")
    for old, new, message in [
        (".BVGraph\n", ".EFGraph\n", "graphclass is"),
        ("nodes=90", "nodes=many", "nodes is many"),
        ("compressionflags=", "compressionflags=RESIDUALS_GOLOMB", "RESIDUALS_GOLOMB is not"),
        (f"arcs={arcs}", f"arcs={arcs + 1}", f"but w.properties says {arcs + 1}"),
        ("zetak=3", "zetak=2", "is damaged: the successors of vertex"),
    ]:
        properties.write_text(facts.replace(old, new))
        no_graph(file, message)
    properties.write_text(facts)
    assert check_graph(file).edges == arcs
    file.write_bytes(graph[: len(graph) // 2])
    no_graph(file, "is damaged: the successors of vertex")


SOURCES = [
    # Names.
    ("none.txt", r"there is no file .*none\.txt.*accepted: .*rmat"),
    (".", "is a folder; accepted"),
    ("lost.txt", r"lost\.txt cannot be read: No such file"),  # a link that leads nowhere
    ("https://user:secret@host/a.txt", "^the address holds a user or a password; accepted: one wi"),
    ("web-NotreDam", r"'web-NotreDam'; did you mean web-NotreDame\? .*web-Google"),
    ("", "accepted"),
    # Generators.
    ("rmat:scale", "'rmat:scale': the parameter 'scale'; accepted: NAME=VALUE"),
    ("rmat:scale=8,scale=9", "the parameter scale is given twice"),
    ("rmat:size=8", "no parameter 'size'; accepted: scale, edge_factor, seed"),
    ("rmat:scale=x", "scale of rmat is 'x'; accepted: an integer"),
    ("rmat:scale=0", "scale of rmat is 0; accepted: 1 to 30"),
    ("rmat:scale=4,seed=-1", "seed of rmat is '-1'"),
    ("rmat:scale=4,a=nan", "accepted: finite numbers"),
    ("rmat:scale=4,a=0.9", "accepted: probabilities"),
    ("rmat:scale=4,directed=maybe", "directed of rmat is 'maybe'; accepted: true, false"),
    ("star", "needs n="),
    ("star:n=1", "has no edges"),
    ("erdos-renyi:n=4,p=2", "p of erdos-renyi is 2"),
    ("barabasi-albert:n=3,m=5", "cannot be made: .*m >= 1 and m < n"),
    # Objects.
    ({0: 1}, "cannot be made of dict; accepted"),
    ([(0, 1), (1, 2, 3)], "not all pairs of ids"),
    ([(0, 1, 3e38), (0, 1, 3e38)], "weight of edge 0 of list, added to those of its copies, is in"),
    (nx.Graph(), "has no vertices"),
    (nx.empty_graph(4), r"has no edges \(4 vertices\)"),
    (sparse.csr_array(np.ones((2, 3))), "accepted: square"),
    (sparse.csr_array(np.eye(2) * 1j), "values of complex128; accepted: real"),
    (sparse.csr_array([[0.0, np.nan], [1.0, 0.0]]), "accepted: finite numbers"),
    (nx.DiGraph([(0, 1, {"weight": "heavy"})]), "not a number"),
    (nx.DiGraph([(0, 1, {"weight": np.inf})]), "weight of edge 0 of the networkx graph"),
    # Tables of pandas.
    (pd.DataFrame(np.ones((3, 3)), list("abc"), list("abc")), "adjacency matrix"),
    (pd.DataFrame({"vertex": [1, 2], "pagerank": [0.5, 0.25]}), "do not say what the ends"),
    (pd.DataFrame({"a": [1]}), "the table has one column"),
    (pd.DataFrame({"a": ["x", None], "b": ["y", "z"]}), "'a' is empty in row 2"),
    (pd.DataFrame({"a": [1.0, np.nan], "b": [2.0, 3.0]}), "'a' is empty in row 2"),
    (pd.DataFrame({"a": [1, "x"], "b": [2, 3]}), "values of 'a' are not all numbers, or all text"),
    (pd.DataFrame({"a": [1.5], "b": ["x"]}), "floating-point numbers, others are text"),
    (pd.DataFrame({"a": [], "b": []}), "the table has no edges"),
]


@pytest.mark.parametrize(("source", "message"), SOURCES)
def test_sources(tmp_path, monkeypatch, source, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lost.txt").symlink_to("nowhere")
    no_graph(source, message)


def test_saving(tmp_path):
    star = check_graph("star:n=9")
    refused(r"a name that ends in \.npz", save_graph, star, tmp_path / "s.pgraph")
    refused("is no folder", save_graph, star, tmp_path / "no" / "s.npz")
    assert list(tmp_path.iterdir()) == []
