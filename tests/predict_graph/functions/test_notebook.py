"""`predict` and `track` in the cells of a notebook that is run as people run one."""

from __future__ import annotations

import pytest

nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel")
pytest.importorskip("ipykernel", reason="needs nbclient and ipykernel")

CELLS = (
    "import networkx as nx, predict_graph\nG = nx.barabasi_albert_graph(900, 5, seed=1)",
    "predict_graph.predict(nx.betweenness_centrality, G, history='none')",
    "found = predict_graph.track(nx.betweenness_centrality, G, history='none')",
    "print(len(found), found == nx.betweenness_centrality(G))",
)


@pytest.mark.slow
def test_the_three_calls_in_a_notebook() -> None:
    import nbformat

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    _, predicted, tracked, checked = (cell.outputs for cell in notebook.cells)
    shown = next(each for each in predicted if each.output_type == "execute_result")
    assert "90% sure" in shown.data["text/html"]
    assert "<table" in shown.data["text/html"]
    said = "".join(each.text for each in tracked if each.output_type == "stream")
    assert "took" in said
    assert "the first prediction was" in said
    assert not [each for each in tracked if each.output_type == "error"]
    assert [each.text for each in checked] == ["900 True\n"]
