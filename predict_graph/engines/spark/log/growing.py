"""An event log that grows while it is read: only what is new is read each time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from predict_graph.engines.spark.log.eventlog import EventLog, event_log_of, take_lines
from predict_graph.engines.spark.log.events import LogReader
from predict_graph.engines.spark.log.logfiles import ROLLED, log_files, log_lines
from predict_graph.errors import JobError, RequestError

__all__ = ["GrowingLog", "running_log"]

_UNFINISHED = ".inprogress"
_PLAIN = b'{"Event":'
_PIECE = 1 << 24  # bytes that are read at a time; a choice: memory


@dataclass
class _Taken:
    """What was read of a file: bytes of a plain one, lines, and the first line."""

    size: int = 0
    lines: int = 0
    head: bytes = b""


class GrowingLog:
    """The event log of an application that may still run.

    A plain log is read from where it was left. One that is compressed is unpacked from its
    beginning each time, because only whole blocks can be; what was taken before is passed over. One
    that is rotated, to a file whose name goes on, is read to its end and then from its new
    beginning.

    Parameters
    ----------
    path : Path
        A file, or the folder of a rolled log.
    start : int
        Byte of a plain file to begin at; what came before is left out.
    reader : LogReader, optional
        That knows what was there before.

    Raises
    ------
    RequestError
        If there is none.
    """

    def __init__(self, path: Path, start: int = 0, reader: LogReader | None = None) -> None:
        self.path = path
        self._start, self._reader = start, reader or LogReader()
        self._taken: dict[str, _Taken] = {path.name: _Taken(start)} if start else {}
        self._newest = -1  # number of the newest rolled file that was read
        log_files(path)

    @property
    def name(self) -> str:
        """What the application is called, and its log."""
        called = self._reader.application.get("name")
        return f"{called} ({self.path.name})" if called else self.path.name

    @property
    def ended(self) -> bool:
        """Whether the application has said that it ends."""
        return "finished" in self._reader.application

    def poll(self) -> bool:
        """Read what is new; return whether there was anything.

        Raises
        ------
        JobError
            If the log was cut short, or went away.
        RequestError
            If it is no event log.
        """
        before = self._lines
        for file in self._files():
            take_lines(self._reader, self._new_lines(file), self.path)
        return self._lines > before

    @property
    def _lines(self) -> int:
        return sum(taken.lines for taken in self._taken.values())

    def read(self) -> EventLog:
        """Read what is new, and return all that was read so far.

        Raises
        ------
        JobError, RequestError
            As :meth:`poll`.
        """
        self.poll()
        return self.log()

    def log(self) -> EventLog:
        """Return what was read so far.

        Raises
        ------
        RequestError
            If that is no event log.
        """
        nothing = not (self._start or self._reader.application or self._reader.jobs)
        if nothing and self._taken:
            raise RequestError(
                f"{self.path} is not an event log of Spark; accepted: one event a line, JSON"
            )
        return event_log_of(self._reader)

    def _files(self) -> list[Path]:
        """Return the files that may have something new: Spark renames a log that is finished."""
        if not self.path.exists() and self.path.name.endswith(_UNFINISHED):
            finished = self.path.with_name(self.path.name.removesuffix(_UNFINISHED))
            if finished.exists():
                if self.path.name in self._taken:
                    self._taken[finished.name] = self._taken.pop(self.path.name)
                self.path = finished
        if not self.path.exists():
            raise JobError(f"the event log {self.path} went away while it was watched")
        files = log_files(self.path)
        files = [each for file in files for each in (*self._rotated(file), file)]
        if not any(ROLLED.match(file.name) for file in files):
            return list(dict.fromkeys(files))
        unread = []
        for file in files:
            found = ROLLED.match(file.name)
            number = int(found.group(1)) if found else -1
            # What was read and compacted since is not read again; the newest may have grown.
            if number < self._newest or (number == self._newest and file.name not in self._taken):
                continue
            self._newest = max(number, self._newest)
            unread.append(file)
        return unread

    def _rotated(self, file: Path) -> list[Path]:
        """Return where a file went that was read and begins otherwise now, if it is there."""
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
        for line in self._lines_after(file, taken):
            taken.head = taken.head or line.rstrip()
            taken.lines += 1
            yield line

    def _lines_after(self, file: Path, taken: _Taken) -> Iterator[bytes]:
        try:
            size = file.stat().st_size
            with file.open("rb") as content:
                plain = content.read(len(_PLAIN)) == _PLAIN
                if size and not plain:
                    yield from _unpacked(file, taken.lines)
                    return
                if size < taken.size:
                    raise _cut_short(file, f"{taken.size} bytes", size)
                content.seek(taken.size)
                rest = b""
                while piece := content.read(_PIECE):
                    *lines, rest = (rest + piece).split(b"\n")
                    for line in lines:
                        taken.size += len(line) + 1
                        yield line
        except OSError as error:
            raise JobError(f"cannot read {file}: {error.strerror}") from error


def _unpacked(file: Path, taken: int) -> list[bytes]:
    lines = list(log_lines(file))
    if lines and not lines[-1].rstrip().endswith(b"}"):
        lines.pop()  # only the beginning of it is there yet
    if len(lines) < taken:
        raise _cut_short(file, f"{taken} events", len(lines))
    return lines[taken:]


def _cut_short(file: Path, taken: str, now: int) -> JobError:
    return JobError(
        f"the event log {file} was cut short while it was watched: {taken} were read of it, now it "
        f"has {now}"
    )


def _first_line(file: Path) -> bytes:
    """Return the first line of a log; nothing if there is none yet, or it cannot be read."""
    try:
        return next(log_lines(file), b"").rstrip()
    except (RequestError, OSError):
        return b""


def running_log(path: Path) -> tuple[Path, int]:
    """Return the log that a path stands for, and how many others in the same folder are unfinished.

    Parameters
    ----------
    path : Path
        A log, or a folder of logs: of those that are unfinished, the one that changed last.

    Raises
    ------
    RequestError
        If there is nothing, or no log in the folder is unfinished.
    """
    if not path.exists():
        raise RequestError(
            f"there is no {path}; accepted: the address of a running application, such as "
            "http://127.0.0.1:4040, its event log, or a folder of event logs"
        )
    if not path.is_dir() or any(
        ROLLED.match(each.name) or (each.name == "eventlog" and each.is_file())
        for each in path.iterdir()
    ):
        return path, 0
    running, ended = [], 0
    for each in path.iterdir():
        rolled = each.is_dir() and each.name.startswith("eventlog_v2_")
        if rolled:
            unfinished = any(part.name.endswith(_UNFINISHED) for part in each.iterdir())
        else:
            unfinished = each.is_file() and each.name.endswith(_UNFINISHED)
        if unfinished:
            running.append(each)
        else:
            ended += rolled or each.is_file()
    if not running:
        raise RequestError(
            f"no event log in {path} is of an application that runs ({ended} have ended); "
            "accepted: the name of a log, or a folder with one that is unfinished"
        )
    running.sort(key=_changed)
    return running[-1], len(running) - 1


def _changed(path: Path) -> float:
    parts = list(path.iterdir()) if path.is_dir() else [path]
    return max((part.stat().st_mtime for part in parts), default=0.0)
