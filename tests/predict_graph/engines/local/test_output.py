import numpy as np
import pandas as pd
import pytest

from predict_graph.algorithms import ConnectedComponents, Neighborhood, TopKRanking
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.output import write_values
from predict_graph.errors import RequestError
from predict_graph.graph.build import from_edges

SUFFIXES = (".csv", ".tsv", ".parquet")


def read(path):
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, sep="," if path.suffix == ".csv" else "\t")


def cells(table):
    """Rows as lists; None for what is empty."""
    return [
        [None if pd.isna(cell) else cell for cell in row] for row in table.itertuples(index=False)
    ]


def path_graph(labels=None, directed=False):
    """0 - 1 - 2, and 3 alone."""
    return from_edges(
        np.array([0, 1]), np.array([1, 2]), vertices=4, directed=directed, labels=labels
    )


NUMBERS = np.array([70, 50, 90, 10])
WORDS = np.array(["ada", "bob", "cleo", "dan"])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("labels", [None, NUMBERS, WORDS], ids=["none", "numbers", "words"])
def test_values_that_are_vertices_are_written_as_original_ids(tmp_path, suffix, labels):
    path = tmp_path / f"components{suffix}"
    LocalEngine().run(ConnectedComponents(), path_graph(labels), write_to=path)
    ids = range(4) if labels is None else labels.tolist()
    table = read(path)
    assert list(table.columns) == ["vertex", "value"]
    assert cells(table) == [[ids[v], ids[least]] for v, least in enumerate([0, 0, 0, 3])]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("labels", [None, NUMBERS, WORDS], ids=["none", "numbers", "words"])
def test_lists_of_vertices_have_a_column_an_entry_and_gaps_stay_empty(tmp_path, suffix, labels):
    path = tmp_path / f"lists{suffix}"
    LocalEngine().run(TopKRanking(k=2, tau=1e-9), path_graph(labels, directed=True), write_to=path)
    ids = range(4) if labels is None else labels.tolist()
    table = read(path)
    assert list(table.columns) == ["vertex", "value_1", "value_2"]
    # On a directed path ranks grow from its beginning to its end.
    lists = [(0, None), (1, 0), (2, 1), (3, None)]
    expected = [
        [ids[v], *(None if entry is None else ids[entry] for entry in found)]
        for v, found in enumerate(lists)
    ]
    assert cells(table) == expected


def test_values_that_are_numbers_stay_numbers(tmp_path):
    path = tmp_path / "reach.csv"
    profile = LocalEngine().run(Neighborhood(), path_graph(NUMBERS), write_to=path)
    table = read(path)
    assert table["vertex"].tolist() == NUMBERS.tolist()
    np.testing.assert_allclose(table["value"], profile.values, rtol=1e-15)


def test_several_numbers_a_vertex_have_a_column_each(tmp_path):
    path = tmp_path / "numbers.tsv"
    values = np.array([[1.5, -1.0], [2.5, 0.0], [3.5, 1.0], [4.5, 2.0]])
    write_values(path, path_graph(WORDS), values)
    table = read(path)
    assert table["vertex"].tolist() == WORDS.tolist()
    assert table[["value_1", "value_2"]].to_numpy().tolist() == values.tolist()


def test_what_is_at_the_path_stays_when_the_suffix_is_unknown(tmp_path):
    path = tmp_path / "values.txt"
    path.write_text("old")
    with pytest.raises(RequestError, match=r"accepted: a name in \.csv, \.tsv, \.parquet"):
        write_values(path, path_graph(), np.zeros(4))
    assert path.read_text() == "old"
