"""An event log that is still being written: each poll reads what is new.

The supersteps of a single call, of a library or a user's function, are visible only in the event
log of its session, which a thread polls.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any

from predict_graph.engines.base import RunFollower
from predict_graph.engines.spark.log.eventlog import EventLog, LogReader, not_a_log
from predict_graph.engines.spark.log.logfiles import ROLLED, lines_of, log_files
from predict_graph.engines.spark.recognition.supersteps import recognised_so_far
from predict_graph.errors import JobError, PredictGraphError, RequestError

_UNFINISHED = ".inprogress"


@dataclass
class _Taken:
    """How much of a file was read: bytes of its unpacked content, and its first line."""

    size: int = 0
    head: bytes = b""


class GrowingLog:
    """The event log of an application that may still run.

    Each file is read from where the last poll ended, or from byte `start` on. A file that was
    rotated, to a name that extends its own, is read to its end under that name and then from its
    new beginning.
    """

    def __init__(self, path: Path, start: int = 0, reader: LogReader | None = None) -> None:
        self.path, self.key = path, path.name.removesuffix(_UNFINISHED)
        self._reader = reader or LogReader()
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
        before = self._size
        for file in self._files():
            self._reader.take(self._new_lines(file))
        return self._size > before

    @property
    def _size(self) -> int:
        return sum(taken.size for taken in self._taken.values())

    def read(self) -> EventLog:
        """Read what is new, and return all that was read so far."""
        self.poll()
        return self.log()

    def log(self) -> EventLog:
        """Return all that was read so far."""
        if self._reader.empty and self._taken:
            raise not_a_log(self.path)
        return self._reader.log()

    def _files(self) -> list[Path]:
        """Return the files that may have something new; Spark renames a finished log."""
        finished = self.path.with_name(self.key)
        if not self.path.exists() and finished.exists():
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
        for other in sorted(file.parent.glob(f"{escape(file.name)}?*")):
            if other.is_file() and _first_line(other) == taken.head:
                self._taken[other.name] = self._taken.pop(file.name)
                return [other]
        return []

    def _new_lines(self, file: Path) -> Iterator[bytes]:
        taken = self._taken.setdefault(file.name, _Taken())
        for line in lines_of(file, taken.size):
            if not line.endswith(b"\n"):
                break  # only its beginning has been written
            taken.head = taken.head or line
            taken.size += len(line)
            yield line


def _first_line(file: Path) -> bytes:
    """Return the first line of a log; nothing if there is none yet, or it is unreadable."""
    with suppress(RequestError):
        return next(lines_of(file), b"")
    return b""


def running_logs(path: Path) -> list[Path]:
    """Return a log, or of a folder of logs the unfinished ones; what changed last comes last."""
    if not os.path.exists(path):  # nor does one whose name is too long
        raise RequestError(
            f"there is no {path}; accepted: the address of a running application, such as "
            "http://127.0.0.1:4040, its event log, or a folder of event logs"
        )
    if not path.is_dir() or any(
        ROLLED.match(each.name) or (each.name == "eventlog" and each.is_file())
        for each in path.iterdir()
    ):
        return [path]
    unfinished = [*path.glob(f"*{_UNFINISHED}"), *path.glob(f"eventlog_v2_*/*{_UNFINISHED}")]
    changed = {}
    for file in unfinished:
        log = file if file.parent == path else file.parent  # that of a rolled log
        # It has just ended, and its log is renamed; or just begun, and has no events yet.
        with suppress(FileNotFoundError, RequestError):
            changed[log] = max(each.stat().st_mtime for each in log_files(log))
    return sorted(changed, key=lambda log: changed[log])


_EVERY = 1.0  # limits the rate of polls: seconds between two
_SHARE = 0.05  # limits the CPU time of polls / the time that passes


@contextmanager
def followed_call(
    spark: Any, logged: GrowingLog, follower: RunFollower | None, library: str | None
) -> Iterator[None]:
    """Notify a follower of supersteps as they end, while the jobs of a call run in this thread.

    `library` is the name of a library's algorithm, whose job group has the supersteps; without it
    they are recognised among all jobs. Those since the last poll are not reported.

    An exception of the follower cancels these jobs, and is raised here. Nothing else may read the
    log meanwhile.
    """
    if follower is None:
        yield
        return
    context: Any = spark.sparkContext
    tag = f"predict-graph-{uuid.uuid4().hex[:8]}"
    over, raised = threading.Event(), list[BaseException]()

    def work() -> None:
        pause, reported = _EVERY, list[float]()
        while not over.wait(pause):
            began = time.thread_time()
            try:
                found = recognised_so_far(logged.log(), library) if logged.poll() else None
            except PredictGraphError:
                return  # the final reader of the log reports what is wrong with it
            ended = [step.finished for step in found.supersteps] if found else reported
            try:
                if not raised:
                    _report(follower, ended, reported)
            except BaseException as error:  # raised again by the thread of the call
                raised.append(error)
            if raised:  # more than once: a call may go on with other jobs
                with suppress(Exception):  # a stopped session has no jobs left
                    context.cancelJobsWithTag(tag)
            reported = ended
            pause = max(_EVERY, (time.thread_time() - began) / _SHARE)

    context.addJobTag(tag)
    thread = threading.Thread(target=work, name="predict-graph supersteps", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with suppress(Exception):  # a stopped session has no tags left
            context.removeJobTag(tag)
        if raised:
            raise raised[0]


def _report(follower: RunFollower, found: list[float], before: list[float]) -> None:
    """Report from the first superstep that is new or changed; the last, if there are fewer."""
    same = [one == other for one, other in zip(found, before, strict=False)]
    first = same.index(False) if False in same else len(same)
    if len(found) < len(before):
        first = min(first, max(len(found) - 1, 0))
    for number, ended in enumerate(found[first:], start=first + 1):
        follower.superstep(number, ended)
