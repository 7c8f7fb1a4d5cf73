"""An event log that is still being written: each poll reads what is new."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from predict_graph.engines.spark.log.eventlog import EventLog, LogReader, not_a_log
from predict_graph.engines.spark.log.logfiles import ROLLED, log_files, log_lines
from predict_graph.errors import JobError, RequestError

_UNFINISHED = ".inprogress"
_PLAIN = b'{"Event":'


@dataclass
class _Taken:
    """How much of a file was read: bytes of a plain one, lines, and the first line."""

    size: int = 0
    lines: int = 0
    head: bytes = b""


class GrowingLog:
    """The event log of an application that may still run.

    A plain file is read from where the last poll ended, or from byte `start` on. A compressed one
    is decompressed from its beginning each time, since only whole blocks can be, and the lines read
    before are skipped. A file that was rotated, to a name that extends its own, is read to its end
    under that name and then from its new beginning.
    """

    def __init__(self, path: Path, start: int = 0, reader: LogReader | None = None) -> None:
        self.path, self.key = path, path.name.removesuffix(_UNFINISHED)
        self._partial, self._reader = start > 0, reader or LogReader()
        self._taken: dict[str, _Taken] = {path.name: _Taken(start)} if start else {}
        self._newest = -1  # number of the newest rolled file that was read
        log_files(path)

    @property
    def name(self) -> str:
        """The names of the application and of its log."""
        called = self._reader.application.get("name")
        return f"{called} ({self.path.name})" if called else self.path.name

    @property
    def ended(self) -> bool:
        """Whether the log has the end of the application."""
        return "finished" in self._reader.application

    def poll(self) -> bool:
        """Read what is new; return whether there was anything."""
        before = self._lines
        for file in self._files():
            self._reader.take(self._new_lines(file))
        return self._lines > before

    @property
    def _lines(self) -> int:
        return sum(taken.lines for taken in self._taken.values())

    def read(self) -> EventLog:
        """Read what is new, and return all that was read so far."""
        self.poll()
        return self.log()

    def log(self) -> EventLog:
        """Return all that was read so far."""
        if self._reader.empty and self._taken and not self._partial:
            raise not_a_log(self.path)
        return self._reader.log()

    def _files(self) -> list[Path]:
        """Return the files that may have something new; Spark renames a finished log."""
        if not self.path.exists() and self.path.name.endswith(_UNFINISHED):
            finished = self.path.with_name(self.path.name.removesuffix(_UNFINISHED))
            if finished.exists():
                if self.path.name in self._taken:
                    self._taken[finished.name] = self._taken.pop(self.path.name)
                self.path = finished
        if not self.path.exists():
            raise JobError(f"the event log {self.path} went away while it was watched")
        files = [each for file in log_files(self.path) for each in (*self._rotated(file), file)]
        unread = []
        for file in dict.fromkeys(files):
            found = ROLLED.match(file.name)
            number = int(found.group(1)) if found else self._newest
            # Skip what was read and compacted since; the newest file may have grown.
            compacted = found and number == self._newest and file.name not in self._taken
            if number >= self._newest and not compacted:
                self._newest = number
                unread.append(file)
        return unread

    def _rotated(self, file: Path) -> list[Path]:
        """Return the new name of a file that was read and has another first line now."""
        taken = self._taken.get(file.name)
        if taken is None or not taken.head or _first_line(file) in (taken.head, b""):
            return []
        for other in sorted(file.parent.iterdir()):
            longer = other.name.startswith(file.name) and other.name != file.name
            if longer and other.is_file() and _first_line(other) == taken.head:
                self._taken[other.name] = self._taken.pop(file.name)
                return [other]
        return []

    def _new_lines(self, file: Path) -> Iterator[bytes]:
        taken = self._taken.setdefault(file.name, _Taken())
        try:
            with file.open("rb") as content:
                plain = content.read(len(_PLAIN)) == _PLAIN
            lines = _plain_lines if plain or not file.stat().st_size else _unpacked_lines
            for line in lines(file, taken):
                taken.head = taken.head or line.rstrip()
                taken.lines += 1
                yield line
        except OSError as error:
            raise JobError(f"cannot read {file}: {error.strerror}") from error


def _plain_lines(file: Path, taken: _Taken) -> Iterator[bytes]:
    size = file.stat().st_size
    if size < taken.size:
        raise _cut_short(file, f"{taken.size} bytes", size)
    with file.open("rb") as content:
        content.seek(taken.size)
        for line in content:
            if not line.endswith(b"\n"):
                break  # only its beginning has been written
            taken.size += len(line)
            yield line


def _unpacked_lines(file: Path, taken: _Taken) -> list[bytes]:
    lines = list(log_lines(file))
    if lines and not lines[-1].rstrip().endswith(b"}"):
        lines.pop()  # only its beginning has been written
    if len(lines) < taken.lines:
        raise _cut_short(file, f"{taken.lines} events", len(lines))
    return lines[taken.lines :]


def _cut_short(file: Path, taken: str, now: int) -> JobError:
    return JobError(
        f"the event log {file} was cut short while it was watched: {taken} were read of it, now it "
        f"has {now}"
    )


def _first_line(file: Path) -> bytes:
    """Return the first line of a log; nothing if there is none yet, or it is unreadable."""
    try:
        return next(log_lines(file), b"").rstrip()
    except (RequestError, OSError):
        return b""


def running_logs(path: Path) -> list[Path]:
    """Return a log, or of a folder of logs the unfinished ones; what changed last comes last."""
    if not path.exists():
        raise RequestError(
            f"there is no {path}; accepted: the address of a running application, such as "
            "http://127.0.0.1:4040, its event log, or a folder of event logs"
        )
    if not path.is_dir() or any(
        ROLLED.match(each.name) or (each.name == "eventlog" and each.is_file())
        for each in path.iterdir()
    ):
        return [path]
    logs = (each for each in path.iterdir() if each.is_file() or "eventlog_v2_" in each.name)
    running = (
        each for each in logs if any(part.name.endswith(_UNFINISHED) for part in _parts(each))
    )
    return sorted(running, key=_changed)


def _parts(log: Path) -> list[Path]:
    return list(log.iterdir()) if log.is_dir() else [log]


def _changed(log: Path) -> float:
    return max(part.stat().st_mtime for part in _parts(log))
