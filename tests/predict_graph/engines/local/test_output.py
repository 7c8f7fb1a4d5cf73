import numpy as np
import pandas as pd
import pytest

from predict_graph.algorithms import ConnectedComponents, TopKRanking
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.engine import write_values
from predict_graph.graph.build import from_edges


def read(path):
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, sep="," if path.suffix == ".csv" else "\t")


def cells(table):
    """Rows as lists; None for what is empty."""
    return table.astype(object).where(table.notna(), None).to_numpy().tolist()


def path_graph(labels=None, directed=False):
    """0 - 1 - 2, and 3 alone."""
    return from_edges(
        np.array([0, 1]), np.array([1, 2]), vertices=4, directed=directed, labels=labels
    )


NUMBERS = np.array([70, 50, 90, 10])
WORDS = np.array(["ada", "bob", "cleo", "dan"])


# On a directed path ranks grow from its beginning to its end.
RUNS = [
    (ConnectedComponents(), False, [[0], [0], [0], [3]]),
    (TopKRanking(k=2, tau=1e-9), True, [[0, None], [1, 0], [2, 1], [3, None]]),
]


@pytest.mark.parametrize(("algorithm", "directed", "values"), RUNS)
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("labels", [None, NUMBERS, WORDS], ids=["none", "numbers", "words"])
def test_values_that_are_vertices_are_written_as_original_ids(
    tmp_path, suffix, labels, algorithm, directed, values
):
    path = tmp_path / f"values{suffix}"
    LocalEngine().run(algorithm, path_graph(labels, directed=directed), write_to=path)
    ids = range(4) if labels is None else labels.tolist()
    table = read(path)
    names = ["value"] if len(values[0]) == 1 else ["value_1", "value_2"]
    assert list(table.columns) == ["vertex", *names]
    named = [[None if each is None else ids[each] for each in row] for row in values]
    assert cells(table) == [[ids[v], *row] for v, row in enumerate(named)]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_several_numbers_a_vertex_have_a_column_each(tmp_path):
    path = tmp_path / "numbers.tsv"
    values = np.array([[1.5, -1.0], [2.5, 0.0], [3.5, 1.0], [4.5, 2.0]])
    write_values(path, path_graph(WORDS), values)
    table = read(path)
    assert table["vertex"].tolist() == WORDS.tolist()
    assert table[["value_1", "value_2"]].to_numpy().tolist() == values.tolist()
