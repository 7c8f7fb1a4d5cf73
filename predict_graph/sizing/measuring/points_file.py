"""The file of measured points: appended to, one whole line at a time, never rewritten."""

from __future__ import annotations

import fcntl
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from predict_graph.errors import JobError, RequestError
from predict_graph.files import check_writable
from predict_graph.sizing.measuring.experiments import MEASURED, Experiment
from predict_graph.sizing.measuring.running import OUTCOMES, Outcome
from predict_graph.sizing.table_file import read_table, table_line

Key = tuple[str, ...]


class PointsFile:
    """Measured points on disk; only one process at a time writes them.

    Parameters
    ----------
    path : Path
        Created when it is missing; continued when it has the same columns.
    columns : sequence of str
        Of the design.

    Raises
    ------
    RequestError
        If it cannot be written, is being written by another process, or has other columns.
    """

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._path = check_writable(path)
        self._columns = list(columns)
        self._handle = -1
        self._commands: dict[Key, str] = {}

    def __enter__(self) -> Self:
        try:
            self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            raise RequestError(f"cannot write {self._path}: {error.strerror}") from error
        try:
            self._lock()
            self._check_header()
            self._mend()
            self._read()
        except BaseException:
            os.close(self._handle)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._handle)

    def has(self, experiment: Experiment) -> bool:
        """Whether this point was measured already.

        Raises
        ------
        RequestError
            If it was, but by another command.
        """
        known = self._commands.get(self._key(experiment))
        if known is None:
            return False
        if [_plain(word) for word in shlex.split(known)] != [
            _plain(word) for word in experiment.command
        ]:
            raise RequestError(
                f"{self._path} has {experiment.name} measured by another command: {known}; "
                f"accepted: the same command, or another --out"
            )
        return True

    def add(self, experiment: Experiment, outcome: Outcome) -> None:
        """Append a point; when this returns, it is on the disk.

        Raises
        ------
        JobError
            If it cannot be written: disk full.
        """
        values = [experiment.values[name] for name in self._columns]
        measured = [
            experiment.repeat,
            shlex.join(experiment.command),
            outcome.started,
            f"{outcome.seconds:.6f}",
            outcome.exit_status,
            outcome.outcome,
        ]
        self._append([*values, *measured])
        if outcome.outcome == "ok":
            self._commands[self._key(experiment)] = shlex.join(experiment.command)

    def _key(self, experiment: Experiment) -> Key:
        return _key([experiment.values[name] for name in self._columns], str(experiment.repeat))

    def _lock(self) -> None:
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RequestError(
                f"{self._path} is being written by another collect; accepted: another --out, or "
                "waiting for its end"
            ) from None

    def _check_header(self) -> None:
        """Refuse a file that is not ours, before anything in it is changed."""
        first, end, _ = self._path.read_bytes().partition(b"\n")
        expected = table_line([*self._columns, *MEASURED])
        if first + end == expected or (not end and expected.startswith(first)):
            return
        header = first.decode(errors="replace").strip()
        raise RequestError(
            f"{self._path} begins with {header[:200]!r}, but this design needs the columns "
            f"{expected.decode().strip()}; accepted: another --out"
        )

    def _mend(self) -> None:
        """Complete or drop a last line without an end, which a crash has left."""
        content = self._path.read_bytes()
        if content and not content.endswith(b"\n"):
            whole, _, last = content.rpartition(b"\n")
            if whole and last.rpartition(b",")[2].decode(errors="replace") in OUTCOMES:
                self._write(b"\n")
            else:
                os.ftruncate(self._handle, len(whole) + 1 if whole else 0)
        if os.fstat(self._handle).st_size == 0:
            self._append([*self._columns, *MEASURED])

    def _read(self) -> None:
        if self._path.read_bytes().count(b"\n") < 2:
            return  # new, or interrupted before the first point
        for row in read_table(self._path).rows:
            if row.cells["outcome"] == "ok":
                values = [row.cells[name] for name in self._columns]
                self._commands[_key(values, row.cells["repeat"])] = row.cells["command"]

    def _append(self, cells: Sequence[object]) -> None:
        self._write(table_line(cells))

    def _write(self, content: bytes) -> None:
        try:
            while content:
                content = content[os.write(self._handle, content) :]
            os.fsync(self._handle)
        except OSError as error:
            raise JobError(f"writing {self._path} failed: {error.strerror}") from error


def _key(values: Sequence[str], repeat: str) -> Key:
    """Return what identifies a point: 4 and 4.0 are the same."""
    return (*(_plain(value) for value in values), repeat)


def _plain(value: str) -> str:
    """Return a number in one way of writing it, and any other text as it is."""
    try:
        return repr(float(value))
    except ValueError:
        return value
