"""Several processes, killed processes, full disks, damaged and foreign files."""

import os
import sqlite3
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from predict_graph.history import History, database
from tests.predict_graph.history.records import record
from tests.python import python, started
from tests.refusals import failed, refused

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]

WRITER = """
from tests.predict_graph.history.records import record, table
from predict_graph.errors import JobError
from predict_graph.history import History
from predict_graph.table import Table
history = History({path!r})
"""


def code(path, body):
    """Return the words of a Python that writes to a history; it has to start in ROOT."""
    return "-c", WRITER.format(path=str(path)) + textwrap.dedent(body)


def test_several_processes_write_at_once(tmp_path):
    path = tmp_path / "history.sqlite"
    words = code(path, "[history.add(record()) for _ in range(8)]")
    with ThreadPoolExecutor() as pool:
        ended = [*pool.map(lambda _: python(*words, check=False, cwd=ROOT), range(3))]
    assert [each.returncode for each in ended] == [0] * 3, ended
    history = History(path)
    assert (len(history), len({*history.runs()["uid"]})) == (24, 24)


def test_a_killed_writer_leaves_a_readable_file(tmp_path):
    path = tmp_path / "history.sqlite"
    body = """
    big = table(300, 8)
    while True:
        print(history.add(record(rows=Table(big))), flush=True)
    """
    reported = 0
    for _ in range(2):
        with started(*code(path, body), cwd=ROOT) as writer:
            first = writer.stdout.readline()
            time.sleep(0.05)
            writer.kill()
            last = writer.stdout.read()
        reported = max([reported, *map(int, (first + last).split())])
        history = History(path)
        # Every run that was reported is there, whole; at most one more was on its way.
        assert reported <= len(history.runs()) <= reported + 1
        assert len(history.table(reported)) == 2400
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_full_disk_adds_nothing(tmp_path):
    path = tmp_path / "history.sqlite"
    body = """
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    history.add(record())
    size = 200_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        for _ in range(100):
            history.add(record(rows=Table(table(300, 8))))
    except JobError as error:
        print(error)
    """
    writer = python(*code(path, body), check=False, cwd=ROOT)
    assert writer.returncode == 0, writer.stderr
    assert f"the history {path} could not be written" in writer.stdout
    history = History(path)
    for number in history.runs()["id"]:
        assert len(history.table(number)) in (8, 2400)
    assert len(history) >= 1
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_failure_in_the_middle_of_an_import_adds_nothing(history):
    def runs():
        yield record()
        raise MemoryError

    with pytest.raises(MemoryError):
        history.add_all(runs())
    assert len(history) == 0
    history.add(record())
    assert len(history) == 1


@pytest.mark.parametrize("content", [b"not a database, but text " * 50, b"SQLite format 3\0" * 99])
def test_a_damaged_file_is_named_and_left_alone(history, content):
    history.path.write_bytes(content)
    for action in (history.runs, lambda: history.add(record()), lambda: history.prune(keep=1)):
        refused(r"history\.sqlite is damaged.*move it away", action)
    assert history.path.read_bytes() == content


def test_a_folder_or_a_file_in_the_way(tmp_path):
    refused("is a folder", History(tmp_path).runs)
    (tmp_path / "file").touch()
    failed("could not be written", History(tmp_path / "file" / "h.sqlite").add, record())


def test_a_locked_file_is_a_failure_of_the_job(history, monkeypatch):
    history.add(record())
    monkeypatch.setattr(database._connected.__wrapped__, "__defaults__", (0.1,))
    other = sqlite3.connect(history.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    failed("locked", history.add, record())
    assert len(history.runs()) == 1  # readers do not wait for writers
    other.close()


def test_a_read_only_medium_can_be_read(history, monkeypatch):
    history.add(record())
    folder = history.path.parent
    real = os.access
    monkeypatch.setattr(os, "access", lambda p, mode: Path(p) != folder and real(p, mode))
    folder.chmod(0o500)
    try:
        assert len(history.runs()) == 1
        assert [name.name for name in folder.iterdir()] == ["history.sqlite"]
        if os.geteuid() != 0:
            failed("could not be written", history.add, record())
    finally:
        folder.chmod(0o700)
