"""`predict` and `track` in the cells of a notebook that is run as people run one."""

import re

import pytest

nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel")

CELLS = (
    "%load_ext predict_graph\nimport networkx as nx, predict_graph\n"
    "G = nx.barabasi_albert_graph(700, 5, seed=1)",
    "predict_graph.predict(nx.betweenness_centrality, G, budget='1s', history='none')",
    "found = predict_graph.track(nx.betweenness_centrality, G, history='none')",
    "print(len(found), found == nx.betweenness_centrality(G))",
    "%%predict budget='1s', history='none'\nnx.betweenness_centrality(G, k=100)",
    "%%track history='none'\nfound = nx.betweenness_centrality(G)",
    "print(len(found), found == nx.betweenness_centrality(G))",
    "predict_graph.predict('pagerank', G, history='none').plot()",
    "%track nx.number_of_nodes(G)",
    "%predict len(G) + 1",
    "%predict max(nx.betweenness_centrality(G).values())",
    "%%predict budget=1s\nnx.number_of_nodes(G)",
    "class Own:\n    def f(self): ...\nlen(predict_graph.plugin_files.code_digest(Own))",
)


def outputs_of(cells):
    """Run a notebook; return the outputs of each cell, errors among them."""
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    nbclient.NotebookClient(notebook, timeout=300, allow_errors=True).execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.mark.slow
def test_calls_and_magics_in_a_notebook():
    _, *calls, drawn, line, refused, nested, option, digest = outputs_of(CELLS)
    for predicted, tracked, checked in (calls[:3], calls[3:]):
        (shown,) = predicted
        assert shown.output_type == "execute_result"
        assert "90% sure" in shown.data["text/html"]
        assert "<table" in shown.data["text/html"]
        said = "".join(each.text for each in tracked if each.output_type == "stream")
        assert "networkx:betweenness_centrality took" in said
        assert "the first prediction was" in said
        assert not [each for each in tracked if each.output_type == "error"]
        assert [each.text for each in checked] == ["700 True\n"]
        assert "ipywidgets" not in str(predicted + tracked)
    assert drawn[-1].data["image/png"]
    assert line[-1].data["text/plain"] == "700"
    assert "the cell is not one call with a graph" in refused[-1].evalue
    assert "what nx.betweenness_centrality(G) returns" in nested[-1].evalue
    assert "what follows the magic is no Python" in option[-1].evalue
    assert digest[-1].data["text/plain"] == "16"


LOOP = """
import threading, time, types
from predict_graph.clock import applications, display
applications._EVERY, applications._SHARE = 0.1, 1.0  # a look takes long on a busy machine
class Often(threading.Event):
    wait = lambda event, pause: threading.Event.wait(event, 0.2)
display.threading = types.SimpleNamespace(Event=Often, Thread=threading.Thread)
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.port", "0").getOrCreate()
def loop(rounds):
    ranks = spark.range(9).localCheckpoint()
    for _ in range(rounds):
        ranks = ranks.groupBy("id").count().select("id").localCheckpoint()
        time.sleep(1.0)
    return ranks.count()
loop(1)
"""
WATCHED = (
    "%load_ext predict_graph\n" + LOOP,
    "%%watch iterations=9, history='none'\nx = loop(5)\nx",  # not so many, however quick it is
    "%%watch iteration=3\nx",
    "spark.stop()\nprint(x)",
    "%%watch\nx",
)


def test_a_loop_on_spark_is_watched_while_its_cell_runs(spark_here, quick_java, monkeypatch):
    monkeypatch.setenv("JDK_JAVA_OPTIONS", quick_java)
    _, watched, unknown, checked, refused = outputs_of(WATCHED)
    said = "".join(each.data["text/plain"] for each in watched if "data" in each)
    assert re.search(r"superstep \d+ of 9, .* left", said), watched
    assert said.endswith("9"), said
    assert "no option 'iteration'; accepted: iterations, history" in unknown[-1].evalue
    assert [each.text for each in checked if each.name == "stdout"] == ["9\n"]
    assert "no active Spark session has a web page" in refused[-1].evalue
