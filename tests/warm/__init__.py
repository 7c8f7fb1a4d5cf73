"""Processes of the program that start at once.

Python, numba, pandas and scipy take seconds of the processor before a command does its first thing:
of hundreds of commands, most of the time of the tests. Here one process imports them, and is forked
for each command: what runs is a process of its own, with its own folder, environment, streams, exit
status and end. What a test says of starting itself (what is imported, what an interrupt or a limit
does before there is anything) is for ``subprocess``.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.warm import client

__all__ = ["WarmPython"]

HERE = Path(__file__).parent


class WarmPython:
    """A Python that has imported what the program imports.

    Parameters
    ----------
    env : mapping
        Its environment; ``os.environ`` by default. Of what Python and numba read when they start,
        a command has to have the same; otherwise it is run by a Python that starts for it.
    """

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="warm-"))
        self.env = dict(os.environ if env is None else env)
        self._socket = str(self._folder / "s")
        self._server = subprocess.Popen(
            [sys.executable, str(HERE / "server.py"), self._socket],
            stdin=subprocess.PIPE,  # it ends with this process, as nobody holds the other end
            stdout=subprocess.PIPE,
            cwd=HERE.parents[1],
            env=self.env | {"PREDICT_GRAPH_HISTORY": "none"},
        )
        assert self._server.stdout is not None
        if self._server.stdout.readline() != b"ready\n":
            raise RuntimeError("the Python of the tests did not start")

    def run(
        self,
        arguments: Sequence[Any],
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        input: bytes | None = None,
        timeout: float = 120.0,
    ) -> subprocess.CompletedProcess[bytes]:
        """Do what ``subprocess.run([sys.executable, *arguments], capture_output=True)`` does."""
        words = [str(self.programs() / "python"), *map(str, arguments)]
        return subprocess.run(
            words,
            input=input or b"",
            capture_output=True,
            cwd=cwd,
            env=env,
            timeout=timeout,
            check=False,
        )

    def programs(self) -> Path:
        """Return a folder with ``python`` and ``predict-graph`` for the PATH of a shell."""
        folder = self._folder / "bin"
        if not folder.is_dir():
            folder.mkdir()
            for name in ("python", "python3", "predict-graph"):
                words = ["-m", "predict_graph"] if name == "predict-graph" else []
                file = folder / name
                source = (HERE / "client.py").read_text(encoding="utf-8")
                given = client.read_at_start(self.env)
                file.write_text(
                    f"#!{sys.executable} -ISs\n{source}\n"
                    f"main({self._socket!r}, {sys.executable!r}, {words!r}, {given!r})\n"
                )
                file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return folder

    def close(self) -> None:
        """End it, and remove what it kept."""
        with self._server as server:
            server.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
