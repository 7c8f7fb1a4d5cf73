import os

import numpy as np
import pandas as pd
import pytest

from predict_graph.errors import RequestError
from predict_graph.history import History, Imported
from predict_graph.table import Table

ENDINGS = ["parquet", "csv", "csv.gz"]


@pytest.fixture
def filled(history, record, table):
    history.add(record(graph='a "quoted", name\nof two lines', rows=Table(table(6, 2, 1))))
    history.add(record(kind="sample", sample={"ratio": 0.1}, sample_of="w", converged=False))
    history.add(
        record(converged=None, rows=Table(pd.DataFrame({"iteration": np.zeros(0, dtype=int)})))
    )
    mixed = pd.DataFrame({"iteration": [0, 1], "seconds": [1, 2], "working_set_bytes": [2**62, 1]})
    history.add(record(rows=Table(mixed)))
    return history


def assert_same_runs(left, right):
    one, two = left.runs(), right.runs()
    pd.testing.assert_frame_equal(one.drop(columns="id"), two.drop(columns="id"))
    for a, b in zip(one["id"], two["id"], strict=True):
        pd.testing.assert_frame_equal(left.table(a), right.table(b), check_exact=True)


@pytest.mark.parametrize("ending", ENDINGS)
def test_round_trip(filled, tmp_path, ending):
    path = tmp_path / f"runs.{ending}"
    assert filled.export(path) == 4
    other = History(tmp_path / "other.sqlite")
    assert other.import_(path) == Imported(added=4, skipped=0)
    assert_same_runs(filled, other)
    assert other.import_(path) == Imported(added=0, skipped=4)
    assert len(other) == 4
    assert sorted(os.listdir(tmp_path)) == sorted(
        ["history.sqlite", "other.sqlite", f"runs.{ending}"]
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_truncated_file_is_refused_whole(filled, tmp_path, ending):
    path = tmp_path / f"runs.{ending}"
    filled.export(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3])
    other = History(tmp_path / "other.sqlite")
    with pytest.raises(RequestError, match="runs"):
        other.import_(path)
    assert len(other) == 0


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_of_something_else_is_refused(history, tmp_path, ending):
    path = tmp_path / f"runs.{ending}"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(RequestError, match="not an exported history"):
        history.import_(path)


def test_wrong_names(filled, tmp_path):
    with pytest.raises(RequestError, match=r"accepted endings: \.parquet, \.csv"):
        filled.export(tmp_path / "runs.xlsx")
    with pytest.raises(RequestError, match="there is no file"):
        filled.import_(tmp_path / "absent.csv")
    with pytest.raises(RequestError, match="there is no folder"):
        filled.export(tmp_path / "no" / "folder.csv")
