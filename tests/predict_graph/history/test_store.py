import os
import sqlite3
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from predict_graph.history import History, Imported, check_history, default_path
from predict_graph.history.database import FIELDS
from predict_graph.limits import limited
from predict_graph.table import Table
from tests.predict_graph.history.records import record, table
from tests.refusals import refused


def test_a_run_comes_back_as_it_was_added(history):
    time = datetime(2026, 3, 1, 12, 30, tzinfo=timezone(timedelta(hours=2)))
    sample = {"sampler": "brj", "ratio": np.float64(0.1)}
    added = record(kind="sample", sample=sample, sample_of="whole", time=time, converged=None)
    found = history.record(history.add(added))
    for name in (*FIELDS, "seconds"):
        if name != "sample":
            assert getattr(found, name) == getattr(added, name)
    assert found.sample == {"sampler": "brj", "ratio": 0.1}
    pd.testing.assert_frame_equal(found.table, added.table, check_dtype=False, check_exact=True)


def test_runs_are_listed_newest_first_and_filtered(history):
    jobs = [("pagerank", "a", "run"), ("topk", "a", "run"), ("pagerank", "b", "sample")]
    for day, job in enumerate(jobs):
        named = dict(zip(("algorithm", "graph", "kind"), job, strict=True))
        history.add(record(**named, time=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day)))
    runs = history.runs()
    assert runs["id"].tolist() == [3, 2, 1]
    assert runs["seconds"].tolist() == pytest.approx([3.6] * 3)
    assert runs["rows"].tolist() == [8] * 3
    asked = ({"algorithm": "pagerank"}, {"graph": "a", "limit": 1}, {"kind": "sample"})
    assert [history.runs(**each)["id"].tolist() for each in asked] == [[3, 1], [2], [3]]
    assert (len(history.runs(limit=0)), len(history)) == (0, 3)


def test_a_history_without_a_file_is_empty_and_stays_unwritten(history):
    assert [len(history.runs()), len(history), history.prune(keep=0)] == [0, 0, 0]
    assert history.training_runs("pagerank", {}, "A") == []
    assert not history.path.exists()


def test_prune_keeps_the_newest(history):
    now = datetime.now(UTC)
    for days in (40, 3, 20, 1):
        history.add(record(time=now - timedelta(days=days)))
    asked = ({"older_than": 30}, {"older_than": timedelta(days=30)}, {"keep": 2})
    assert [history.prune(**each) for each in asked] == [1, 0, 1]
    assert (history.runs()["id"].tolist(), len(history.table(2))) == ([4, 2], 8)
    assert history.prune(keep=0) == 2


def test_a_run_that_cannot_be_kept_is_refused():
    refused("'walk'; accepted: run, sample", record, kind="walk")
    refused("-1 vertices", record, vertices=-1)
    refused("'read'", record, phases={"read": float("nan")})
    refused("parameters", record, parameters={"x": object()})
    refused("'name'", record, rows=Table({"name": ["a"]}))
    refused("reserved", record, rows=Table({"run_uid": [1]}))
    refused("time zone", record, time=datetime(2026, 1, 1))


def test_wrong_requests_are_refused(history):
    history.add(record())
    refused("no run 7", history.table, 7)
    refused("already", history.add, history.record(1))
    with limited(document_bytes=99):
        refused("has 384 bytes; accepted: up to 99 bytes", history.add, record())
    refused("needs one of two", history.prune)
    refused("needs one of two", history.prune, keep=1, older_than=1)
    refused("is -1, but must be 0 or more", history.prune, keep=-1)
    assert len(history) == 1


def test_training_runs_are_of_the_same_job_engine_and_machine(history):
    engine = {"name": "local", "threads": 2}
    history.add(record(fingerprint="other"))
    history.add(record(fingerprint="mine"))
    history.add(record(kind="sample", fingerprint="part", sample_of="mine"))
    history.add(record(kind="sample", fingerprint="part"))
    history.add(record(engine={"name": "local", "workers": 2, "threads": 8}))
    history.add(record(machine="B"))
    history.add(record(rows=Table({"iteration": np.zeros(0, dtype=int)})))
    history.add(record(algorithm="topk"))
    history.add(record(rows=Table({"iteration": [0], "peak_memory_bytes": [7]})))
    mine = history.training_runs("pagerank", engine, "A", exclude_fingerprint="mine")
    assert [len(run.rows) for run in mine] == [1, 8]
    both = history.training_runs("pagerank", engine, "A", "mine", kinds=("run", "sample"))
    assert [run.fingerprint for run in both] == ["f0", "part", "other"]
    assert [len(run.rows) for run in history.training_runs("pagerank", engine, "A", limit=1)] == [1]


def test_check_history(tmp_path, monkeypatch):
    monkeypatch.setenv("PREDICT_GRAPH_HISTORY", str(tmp_path / "h.sqlite"))
    history = check_history(None)
    assert history.path == check_history(True).path == tmp_path / "h.sqlite"
    assert check_history(history) is history
    assert check_history(tmp_path / "x").path == tmp_path / "x"
    assert [check_history(none) for none in ("none", False)] == [None, None]
    monkeypatch.setenv("PREDICT_GRAPH_HISTORY", "none")
    assert check_history(None) is None
    refused("no history file", History)
    refused("int", check_history, 3)
    monkeypatch.delenv("PREDICT_GRAPH_HISTORY")
    assert default_path().name == "history.sqlite"


def test_paths_with_characters_of_urls(tmp_path):
    odd = Path(tmp_path / "a b?c#d%20é" / "h.sqlite")
    History(odd).add(record())
    assert odd.exists()
    assert len(History(odd)) == 1


ENDLESS = "(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c)"
OTHERS = "other tables, views or triggers than a history"
STRANGE = [
    ("PRAGMA user_version = 2", "is of version 2, newer than 1"),
    ("PRAGMA application_id = 7", "another program"),
    ("ALTER TABLE runs RENAME TO r; CREATE VIEW runs AS SELECT r.* FROM r, " + ENDLESS, OTHERS),
    (
        f"CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM runs WHERE id IN {ENDLESS}; END",
        OTHERS,
    ),
    ("CREATE TABLE more (x)", OTHERS),
    ("ALTER TABLE runs ADD COLUMN x GENERATED ALWAYS AS (id + 1)", OTHERS),
    ("CREATE INDEX more ON runs (length(hex(zeroblob(id))))", OTHERS),
    ("DROP TABLE tables", OTHERS),
    ("ANALYZE", None),  # adds a table, too
]


@pytest.mark.parametrize(("script", "said"), STRANGE)
def test_a_file_with_anything_that_we_do_not_make_is_refused(history, script, said):
    history.add(record())
    connection = sqlite3.connect(history.path)
    connection.executescript(script)
    connection.close()
    for look in (lambda: len(history), history.runs, lambda: history.add(record(graph="b"))):
        refused(said, look) if said else look()


# Exported and imported.


@pytest.fixture
def filled(history):
    history.add(record(graph='a "quoted", name\nof two lines', rows=Table(table(6, 2, 1))))
    history.add(record(kind="sample", sample={"ratio": 0.1}, sample_of="w", converged=False))
    history.add(record(converged=None, rows=Table({"iteration": np.zeros(0, dtype=int)})))
    mixed = pd.DataFrame({"iteration": [0, 1], "seconds": [1, 2], "peak_memory_bytes": [2**62, 1]})
    history.add(record(rows=Table(mixed)))
    return history


def test_round_trip(filled, tmp_path):
    path = tmp_path / "runs.sqlite"
    assert filled.export(path) == 4
    other = History(tmp_path / "other.sqlite")
    assert other.import_(path) == Imported(added=4, skipped=0)
    one, two = filled.runs(), other.runs()
    pd.testing.assert_frame_equal(one.drop(columns="id"), two.drop(columns="id"))
    for a, b in zip(one["id"], two["id"], strict=True):
        pd.testing.assert_frame_equal(filled.table(a), other.table(b), check_exact=True)
    assert other.import_(path) == Imported(added=0, skipped=4)
    assert len(other) == 4
    assert sorted(os.listdir(tmp_path)) == ["history.sqlite", "other.sqlite", "runs.sqlite"]


def test_wrong_names(filled, written, tmp_path):
    refused(r"accepted: a name in \.sqlite", filled.export, tmp_path / "runs.xlsx")
    refused("No such file", filled.import_, tmp_path / "absent.sqlite")
    refused(r"other\.sqlite is no history to imp", filled.import_, written("a", "other.sqlite"))
    os.mkfifo(tmp_path / "pipe")
    with limited(stream_seconds=0.1):
        refused("pipe is no history to imp", filled.import_, tmp_path / "pipe")
    refused("there is no folder", filled.export, tmp_path / "no" / "folder.sqlite")
