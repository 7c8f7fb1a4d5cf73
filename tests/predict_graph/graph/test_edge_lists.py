"""Edge lists as users have them, in files, tables and graphs of other libraries."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from predict_graph.graph import EdgeList, check_graph
from predict_graph.graph.storage import write_edges
from tests.graphs import listed
from tests.refusals import refused


def edges_of(graph):
    return sorted(listed(graph))


def read(written, name, text, **options):
    return check_graph(EdgeList(written(text, name), **options))


# Names of columns, and which hold the ends of the only edge, from 1 to 2.
NAMES = [
    ("id,source_id,target_id", "9,1,2"),
    ("id_1,id_2", "1,2"),
    ("Source,Target,Time", "1,2,9"),
    ("from_address,to_address,value,block_timestamp", "1,2,9,8"),
    ("dst,src", "2,1"),
    ("time,i,j", "9,1,2"),
    ("citing,cited", "1,2"),
    ("start_time,end_time,caller,callee", "9,8,1,2"),
]


WINDOWS = "source\ttarget\r\ná\t2\r\n2\t3\r\n"


LISTS = [
    *(("a.csv", f"{names}\n{row}\n", [(1, 2)]) for names, row in NAMES),
    ("a.txt", "protein1 protein2 s\n9.A 9.B 49\n9.B 9.C 1\n", [("9.A", "9.B"), ("9.B", "9.C")]),
    ("a.tsv", "#node1\tnode2\n1\t2\n2\t3\n", [(1, 2), (2, 3)]),
    ("a.csv", ",source,target\n0,x,y\n1,y,z\n", [("x", "y"), ("y", "z")]),
    ("a.tsv", "\tsource\ttarget\n0\tx\ty\n1\ty\tz\n", [("x", "y"), ("y", "z")]),
    ("a.csv", "\tsource\ttarget\n0\t1\t2\n1\t2\t3\n", [(1, 2), (2, 3)]),
    ("a.txt", '"source" "target" "weight"\n"1" 1 2 0.5\n"2" 2 3 0.7\n', [(1, 2), (2, 3)]),  # by R
    ("a.csv", "source,target\n1,2,\n2,3,\n", [(1, 2), (2, 3)]),
    ("a.csv", "name,id_from,id_to\nq,1,2\nr,2,3\n", [(1, 2), (2, 3)]),
    ("a.csv", ":START_ID(Person),w:float,:END_ID(Person)\n1,2,2\n2,2,3\n", [(1, 2), (2, 3)]),
    ("a.csv", "head,mid,tail\n1,9,2\n2,9,3\n", [(1, 2), (2, 3)]),
    ("a.txt", "alice bob\nbob carol\n", [("alice", "bob"), ("bob", "carol")]),  # an edge first
    ("a.txt", "FromNodeId ToNodeId\n0 1\n", [(0, 1)]),
    ("a.csv", "node1,node2\nnode2,node3\n", [("node1", "node2"), ("node2", "node3")]),
    ("a.csv", "source,target\n#python,#ai\nml,#ai\n", [("#python", "#ai"), ("ml", "#ai")]),
    ("a.tsv", "New York\tLa Paz\nLa Paz\tBonn\n", [("La Paz", "Bonn"), ("New York", "La Paz")]),
    ("a.txt", "1.0 2.0\n2.0 3.0\n", [(1, 2), (2, 3)]),
    ("a.txt", "1 2 knows\n2 3 likes\n", [(1, 2), (2, 3)]),
    ("a.txt", "#Row\tGene A\tGene B\n7\t1\t2\n8\t2\t3\n", [(1, 2), (2, 3)]),
    ("a.txt", "# Sign FromNodeId ToNodeId\n1 1 2\n1 2 3\n", [(1, 2), (2, 3)]),
    ("a.csv", "person.id|person.id|date\n1|2|2020\n2|3|2021\n", [(1, 2), (2, 3)]),
    ("a.txt", "[[x|1]] x|2\nx|2 [[x|1]]\n", [("[[x|1]]", "x|2"), ("x|2", "[[x|1]]")]),
    ("a.csv", "_c0,_c1,_c2\n1,2,5\n2,3,6\n", [(1, 2), (2, 3)]),
    ("a.csv", ",0,1\n0,1,2\n1,2,3\n2,3,4\n", [(1, 2), (2, 3), (3, 4)]),  # by pandas
    ("a.csv", "0,1\na,b\nb,c\n", [("a", "b"), ("b", "c")]),
    ("a.csv", '"1","2","next"\n"2","3","c ""d"""\n', [(1, 2), (2, 3)]),
    ("a.txt", '"A, B" "C; D"\n"C; D" "E"\n', [("A, B", "C; D"), ("C; D", "E")]),
    ("a.csv", '"A, B","C; D"\n"C; D","E"\n', [("A, B", "C; D"), ("C; D", "E")]),
    ("a.csv", "_id,_labels,_start,_end,_type\n0,:U,,,\n1,:U,,,\n,,0,1,K\n", [(0, 1)]),  # by APOC
    ("a.csv", "sep=;\r\nsource;target\r\n1;2\r\n", [(1, 2)]),  # by Excel
    ("a.csv", 'source,target,note\n" 1",2,x\n2,3,"a ""b"""\n', [(1, 2), (2, 3)]),
    ("a.csv", 'source,target\n1" ,"x"\n"x",1"\n', [('1"', "x"), ("x", '1"')]),
    *(("a.txt", WINDOWS.encode(way), [("á", "2"), ("2", "3")]) for way in ("utf-16", "utf-8-sig")),
]


@pytest.mark.parametrize(("name", "text", "edges"), LISTS)
def test_headers_and_columns(written, name, text, edges):
    assert edges_of(read(written, name, text)) == sorted(edges)


ROWS = ['"Doe, J","x"', "1.0,2.0,1.05", '"J ""D""" , "x",', ' "1"," 2" ', "a\t,b\t,,", '"a b" c']


@pytest.mark.parametrize("row", ROWS)
def test_quoted_padded_and_decimal_ids_are_not_read_row_by_row(written, monkeypatch, row):
    monkeypatch.setattr("predict_graph.graph.readers.text._rows_of", None)
    assert read(written, "a.csv", f"{row}\n{row}\n").edges == 1


def test_blocks_of_comments_alone(written):
    text = "1 2\n" + "# a long comment\n" * 300_000 + "2 3\n"  # more than is read at a time
    assert edges_of(read(written, "g.txt", text)) == [(1, 2), (2, 3)]


def test_user_says_which_columns(written):
    text = "hue,one,red,blue,cost\n5,1,2,3,0.5\n6,2,3,4,0.25\n"
    refused("--src-column and --dst-column", read, written, "a.csv", text)
    ends = {"source_column": "red", "target_column": "Blue"}
    graph = read(written, "a.csv", text, weight_column="cost", **ends)
    assert listed(graph) == {(2, 3): 0.5, (3, 4): 0.25}
    graph = read(written, "a.txt", "9 1 2\n9 2 3\n", source_column=2, target_column=3)
    assert edges_of(graph) == [(1, 2), (2, 3)]
    said = "has no column 'q'; accepted: hue, one, red"
    refused(said, read, written, "a.csv", text, source_column="q", target_column="red")
    refused("weight column is also an end", read, written, "a.txt", "1 2\n2 3\n", weight_column=2)
    refused("is both ends", read, written, "a.csv", text, source_column=1, target_column="hue")
    refused(r"accepted: both .* or none", EdgeList, "a.csv", source_column="q")
    file = written("%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1", "a.mtx")
    chosen = EdgeList(file, source_column=1, target_column=2)
    refused("has no columns to choose", check_graph, chosen)


def test_user_says_whether_there_is_a_header(written):
    text = "a b\nc d\n"
    refused("--header or --no-header", read, written, "a.txt", text)
    assert edges_of(read(written, "a.txt", text, header=False)) == [("a", "b"), ("c", "d")]
    assert edges_of(read(written, "a.txt", text, header=True)) == [("c", "d")]
    many = "who whom\n" + "".join(f"a{i} b{i * i % 101}\n" for i in range(200))
    graph = read(written, "a.txt", many)
    assert (graph.edges, len(read(written, "a.txt", many, header=False).labels)) == (200, 253)
    note = "the first line, who, whom, read as names of columns (--no-header: an edge)"
    assert note in graph.notes


def test_a_text_id_near_the_beginning_makes_all_ids_text(written):
    graph = read(written, "a.txt", "1984 2001\nOrwell 1984\n")
    assert edges_of(graph) == [("1984", "2001"), ("Orwell", "1984")]
    assert any("'Orwell'" in note for note in graph.notes)
    far = "1984 2001\n" * 20_000 + "Orwell 1984\n"
    refused(r"a\.txt:20001: 'Orwell' is not an id; .* --ids string", read, written, "a.txt", far)
    assert read(written, "a.txt", far, ids="string").vertices == 3


@pytest.mark.parametrize("time", ["1254192988", "1254192988123"])
def test_times_are_no_weights(written, time):
    graph = read(written, "a.txt", f"9 8 {time}\n8 7 {time}\n")
    assert graph.weights is None
    assert any("third column holds times" in note for note in graph.notes)
    assert read(written, "a.txt", "9 8 1254\n8 7 1255\n").weights.tolist() == [1255, 1254]


BIPARTITE = [(1, 1), (1, 2), (2, 2)]


TWO_SIDES = [
    ("a.txt", "% bip unweighted\n% 3 2 2\n1 1\n1 2\n2 2\n"),
    ("a.csv", "userId,movieId,rating,timestamp\n1,1,4,9\n1,2,3,9\n2,2,5,9\n"),
    ("a.csv", ":START_ID(User),:END_ID(Item)\n1,1\n1,2\n2,2\n"),
]


@pytest.mark.parametrize(("name", "text"), TWO_SIDES)
def test_two_sides_have_ids_of_their_own(written, name, text):
    graph = read(written, name, text)
    assert graph.vertices == 4
    assert graph.labels.tolist() == [1, 2, 1, 2]
    assert read(written, name, text, bipartite=False).vertices == 2


def test_two_sides_of_texts_and_tables(written, tmp_path):
    graph = read(written, "a.txt", "b a\na b\na a\n", bipartite=True)
    assert (graph.vertices, graph.labels.tolist()) == (4, ["a", "b", "a", "b"])
    assert edges_of(graph) == [("a", "a"), ("a", "b"), ("b", "a")]
    table = pd.DataFrame(BIPARTITE, columns=["user", "item"])
    assert check_graph(table).labels.tolist() == [1, 2, 1, 2]
    given = check_graph(EdgeList(BIPARTITE, bipartite=True))
    refused("an id is that of two", write_edges, tmp_path / "a.txt", given)
    write_edges(tmp_path / "a.parquet", given)
    graph = check_graph(tmp_path / "a.parquet")
    assert graph.labels.tolist() == [1, 2, 1, 2]
    assert any("bipartite" in note for note in graph.notes)


@pytest.mark.parametrize("directed", [False, True])
def test_a_column_says_whether_edges_are_directed(written, tmp_path, directed):
    table = pd.DataFrame({"source": [1, 2], "target": [2, 3], "directed": [directed, directed]})
    kind = "Directed" if directed else "Undirected"
    gephi = f'"Source","Target","Type","Id"\n"1","2","{kind}","0"\n"2","3","{kind}","1"\n'
    texts = [read(written, "a.csv", text) for text in (table.to_csv(index=False), gephi)]
    for graph in (*texts, check_graph(table)):
        assert (graph.directed, graph.notes) == (directed, ())
    table.to_parquet(tmp_path / "a.parquet")
    notes = check_graph(tmp_path / "a.parquet").notes
    assert "the column 'directed' of a Parquet file is not read" in notes
    both = read(written, "a.csv", "Source,Target,Type\n1,2,Directed\n2,3,Undirected\n")
    assert any("read as directed" in note for note in both.notes)


DECIMAL_COMMAS = [
    "1;2;1,5\n2;3;0\n",
    "source;target;weight\n1;2;1,5\n2;3;,0\n",
    "1;2;1,5;x;7\n2;3;0;y;8\n",
    '"1"\t"2"\t"1,5"\n"2"\t"3"\t"0"\n',
]


@pytest.mark.parametrize("text", DECIMAL_COMMAS)
def test_a_weight_may_have_a_decimal_comma(written, text):
    assert listed(read(written, "a.csv", text)) == {(1, 2): 1.5, (2, 3): 0.0}


def test_lists_of_edges():
    assert edges_of(check_graph([(0, 1), (1, 2)])) == [(0, 1), (1, 2)]
    assert edges_of(check_graph([["a", "b"], ["b", "c"]])) == [("a", "b"), ("b", "c")]
    assert check_graph([(0, 1, 2.5), (1, 2, 1)]).weights.tolist() == [2.5, 1.0]
    backwards = EdgeList(np.array([(0, 1, 2.5)]), source_column=2, target_column=1)
    assert edges_of(check_graph(backwards)) == [(1, 0)]
    assert check_graph({(0, 1), (1, 2)}).vertices == 3
    assert edges_of(check_graph(pd.DataFrame([[5, 2, 9], [7, 3, 8]]))) == [(5, 2), (7, 3)]
    assert check_graph(np.array(EDGES, ">i8")).edges == check_graph(np.array(EDGES)).edges == 3
    assert edges_of(check_graph([(1.0, 2.0)])) == [(1, 2)]
    assert check_graph([(0, 1, {"weight": 3}), (1, 2, {})]).weights.tolist() == [3, 1]


def test_tables_are_read_by_the_same_names(tmp_path):
    table = pd.DataFrame({"ts": [5, 6], "u": [1, 2], "v": [2, 3], "weight": [0.5, 0.25]})
    file = tmp_path / "a.parquet"
    table.to_parquet(file)
    for source in (table, file):
        assert listed(check_graph(source)) == {(1, 2): 0.5, (2, 3): 0.25}
        chosen = EdgeList(source, source_column="u", target_column="ts", weight_column="v")
        assert edges_of(check_graph(chosen)) == [(1, 5), (2, 6)]
    pq.write_table(pa.table({"a": [1.0, 2.0], "b": [2.0, 3.0]}), file)
    assert edges_of(check_graph(file)) == [(1, 2), (2, 3)]


def test_the_command_line(written, program):
    rows = "".join(f"1,{v},{v + 1},{v + 2}\n" for v in range(40))
    options = ["run", "pagerank", str(written(f"hue,one,red,blue\n{rows}", "a.csv")), "--json", "-"]
    columns = ["--src-column", "one", "--dst-column", "3", "--directed"]
    graph = program(*options, *columns, "--bipartite").answer["graph"]
    assert (graph["vertices"], graph["edges"], graph["notes"]) == (80, 40, [])
    program(*options).is_refused("--src-column")
    program(*options, *columns, "--weight-column", "hue").is_refused("pagerank ignores weights")


# Objects of other libraries.

EDGES = [(0, 1), (1, 2), (2, 2)]


def test_igraph():
    igraph = pytest.importorskip("igraph")
    weights = {"weight": [1.0, 2.0, 3.0]}
    directed = check_graph(igraph.Graph(edges=EDGES, directed=True, edge_attrs=weights))
    assert listed(directed) == {(0, 1): 1.0, (1, 2): 2.0, (2, 2): 3.0}
    weights["weight"][0] = None
    source = igraph.Graph(edges=EDGES, edge_attrs=weights, vertex_attrs={"name": list("abc")})
    undirected = check_graph(source)
    assert not undirected.directed
    assert listed(undirected)["a", "b"] == listed(undirected)["b", "a"] == 1.0
    assert listed(check_graph(source, directed=True)) == listed(undirected)


def test_networkit_is_known_by_its_module_name():
    """It need not be installed: an object with its interface will do."""
    interface = {
        "iterNodes": lambda graph: iter([0, 1, 3]),  # 2 was removed
        "upperNodeIdBound": lambda graph: 4,
        **dict.fromkeys(("isWeighted", "isDirected"), lambda graph: False),
        "iterEdgesWeights": lambda graph: iter([(0, 1, 1.0), (1, 3, 1.0)]),
        "__module__": "networkit.graph",
    }
    graph = type("Graph", (), interface)()
    assert edges_of(check_graph(graph)) == [(0, 1), (1, 0), (1, 3), (3, 1)]


def test_polars_is_known_by_its_module_name():
    """It need not be installed: an object that is taken by [:, place] will do."""

    class DataFrame:
        columns = ("source", "target")

        def __getitem__(self, place):
            return pd.Series([edge[place[1]] for edge in EDGES])

    DataFrame.__module__ = "polars.dataframe.frame"
    assert edges_of(check_graph(DataFrame())) == EDGES
