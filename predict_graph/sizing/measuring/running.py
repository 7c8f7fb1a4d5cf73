"""One run of any command: its seconds, its exit status, and its end when asked."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any

from predict_graph.processes import ENDING, supervise
from predict_graph.timing import clock

PATIENCE = 5.0  # seconds between SIGTERM and SIGKILL; not tuned


@dataclass(frozen=True)
class Outcome:
    """What became of a run.

    Attributes
    ----------
    started : str
        Date and time, UTC, ISO 8601.
    seconds : float
        From before the start of the process to its end, by the wall clock.
    exit_status : int
        Of the process; minus the number of the signal that ended it.
    outcome : str
        ``"ok"``, ``"failed"`` or ``"timeout"``.
    last_line : str
        The last line that it printed.
    """

    started: str
    seconds: float
    exit_status: int
    outcome: str
    last_line: str


def start(command: Sequence[str], *, always: bool, **options: Any) -> subprocess.Popen[bytes]:
    """Start a command without input, below a process that ends what it leaves."""
    begin = partial(supervise, always=always)
    return subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        preexec_fn=begin,  # noqa: PLW1509 - it takes no lock
        **options,
    )


class Job:
    """A command that runs below a process of its own, with its children.

    Parameters
    ----------
    command : sequence of str
    timeout : float, optional
        Seconds after which it is ended.
    log : Path, optional
        Where its output goes; nowhere lasting by default.
    """

    def __init__(
        self, command: Sequence[str], timeout: float | None = None, log: Path | None = None
    ) -> None:
        self._command = list(command)
        self._timeout = timeout
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._stopped = False
        self._late = False
        self._done = threading.Event()

    def run(self) -> Outcome | None:
        """Run the command to its end; None when :meth:`stop` ended it."""
        with self._output() as output:
            started = datetime.now(UTC).isoformat(timespec="seconds")
            begun = clock.wall()
            try:
                with self._lock:
                    if self._stopped:
                        return None
                    streams = {"stdout": output, "stderr": subprocess.STDOUT}
                    self._process = start(
                        self._command, always=False, start_new_session=True, **streams
                    )
            except OSError as error:
                seconds = clock.wall() - begun
                reason = f"{self._command[0]}: {error.strerror}"
                return Outcome(started, seconds, 127, "failed", reason)  # as of a shell
            status = self._wait(self._process)
            seconds = clock.wall() - begun
            last = _last_line(output)
        if self._stopped:
            return None
        outcome = "timeout" if self._late else "failed" if status else "ok"
        return Outcome(started, seconds, status, outcome, last)

    def stop(self) -> None:
        """End the command and its children; it is not measured."""
        with self._lock:
            if self._done.is_set():
                return  # measured
            self._stopped = True
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End what did not end by :meth:`stop`."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(ENDING)

    def _wait(self, process: subprocess.Popen[bytes]) -> int:
        # Popen.wait with a timeout looks every 50 ms only, which would be part of the seconds.
        timer = threading.Timer(self._timeout or 0.0, self._expire, [process])
        timer.daemon = True
        if self._timeout is not None:
            timer.start()
        try:
            return process.wait()
        finally:
            timer.cancel()
            self._done.set()

    def _expire(self, process: subprocess.Popen[bytes]) -> None:
        self._late = process.returncode is None
        process.send_signal(signal.SIGTERM)
        if not self._done.wait(PATIENCE):
            process.send_signal(ENDING)

    def _output(self) -> IO[bytes]:
        if self._log is None:
            return tempfile.TemporaryFile()
        return open(self._log, "w+b")


def _last_line(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(size - io.DEFAULT_BUFFER_SIZE, 0))
    lines = output.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
