"""Tables of runs on disk: appended to, one whole line at a time, never rewritten."""

from __future__ import annotations

import fcntl
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from predict_graph.errors import JobError, RequestError
from predict_graph.files import check_writable
from predict_graph.sizing.measuring.experiments import MEASURED, Experiment
from predict_graph.sizing.measuring.running import Outcome
from predict_graph.sizing.table_file import read_table, table_line

Key = tuple[str, ...]


class AppendedTable:
    """A CSV file, created or continued; only one process at a time appends to it."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._path = check_writable(path)
        self._header = table_line(columns)
        self._handle = -1

    def __enter__(self) -> Self:
        try:
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise RequestError(f"cannot write {self._path}: {error.strerror}") from error
        try:
            self._lock()
            self._check_header()
            self._mend()
        except BaseException:
            os.close(self._handle)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def append(self, cells: Sequence[object]) -> None:
        """Append a row; when this returns, it is on the disk."""
        self._write(table_line(cells))

    def _lock(self) -> None:
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RequestError(
                f"{self._path} is being written by another process; accepted: another --out, or "
                "waiting for its end"
            ) from None

    def _check_header(self) -> None:
        """Refuse a file with other columns, before anything in it is changed."""
        first, end, _ = self._path.read_bytes().partition(b"\n")
        if first + end == self._header or (not end and self._header.startswith(first)):
            return
        header = first.decode(errors="replace").strip()
        raise RequestError(
            f"{self._path} begins with {header[:200]!r}, but needs the columns "
            f"{self._header.decode().strip()}; accepted: another --out"
        )

    def _mend(self) -> None:
        """Drop a last line without an end, which a crash has left."""
        content = self._path.read_bytes()
        os.ftruncate(self._handle, content.rfind(b"\n") + 1)
        if os.fstat(self._handle).st_size == 0:
            self._write(self._header)

    def _write(self, content: bytes) -> None:
        try:
            while content:
                content = content[os.write(self._handle, content) :]
            os.fsync(self._handle)
        except OSError as error:
            raise JobError(f"writing {self._path} failed: {error.strerror}") from error


class PointsFile(AppendedTable):
    """Measured points of a design."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        super().__init__(path, [*columns, *MEASURED])
        self._columns = list(columns)
        self._commands: dict[Key, str] = {}

    def __enter__(self) -> Self:
        super().__enter__()
        if self._path.read_bytes().count(b"\n") > 1:
            for row in read_table(self._path).rows:
                if row.cells["outcome"] == "ok":
                    self._commands[self._key(row.cells, row.cells["repeat"])] = row.cells["command"]
        return self

    def has(self, experiment: Experiment) -> bool:
        """Whether this point was measured already; refuse one measured by another command."""
        known = self._commands.get(self._key(experiment.values, str(experiment.repeat)))
        if known is None:
            return False
        if list(map(_plain, shlex.split(known))) != list(map(_plain, experiment.command)):
            raise RequestError(
                f"{self._path} has {experiment.name} measured by another command: {known}; "
                f"accepted: the same command, or another --out"
            )
        return True

    def add(self, experiment: Experiment, outcome: Outcome) -> None:
        """Append a point."""
        self.append(
            [
                *(experiment.values[name] for name in self._columns),
                experiment.repeat,
                shlex.join(experiment.command),
                outcome.started,
                f"{outcome.seconds:.6f}",
                outcome.exit_status,
                outcome.outcome,
            ]
        )

    def _key(self, values: dict[str, str], repeat: str) -> Key:
        """Return the identity of a point: 4 and 4.0 are the same."""
        return (*(_plain(values[name]) for name in self._columns), repeat)


def _plain(value: str) -> str:
    """Return a number in one way of writing it, and any other text as it is."""
    try:
        return repr(float(value))
    except ValueError:
        return value
