"""Spark for tests: small, and one session after the other."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from predict_graph.engines.spark import SparkSettings


@pytest.fixture(scope="module")
def ctrl_c_before():
    """What an interrupt did before a session was opened."""
    return signal.getsignal(signal.SIGINT)


@pytest.fixture(scope="module")
def local_session(spark_here, quick_conf, ctrl_c_before):
    """A session of two threads in one process."""
    from predict_graph.engines.spark.session.opening import open_session

    settings = SparkSettings(master="local[2]", machines=2, memory="1g", conf=quick_conf)
    with open_session(settings) as session:
        yield session


@pytest.fixture
def processes_of():
    """List the processes of a login session: those that a test started and all they started."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("processes are found in /proc")

    def find(session: int) -> list[str]:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                stat = (process / "stat").read_text()
                command = (process / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
            state, _, _, its_session = stat.rpartition(")")[2].split()[:4]
            if int(its_session) == session and state != "Z":
                found.append(f"{process.name} {command[:100]}")
        return found

    return find
