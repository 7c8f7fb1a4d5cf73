"""What tests of Spark share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
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
