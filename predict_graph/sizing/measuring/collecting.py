"""Measuring a job at the points of a design: each run is a command with its children."""

from __future__ import annotations

import io
import math
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote
from zlib import crc32

from predict_graph.durations import parse_duration
from predict_graph.errors import RequestError, explained_by_system
from predict_graph.processes import supervise
from predict_graph.sizing.measuring.experiments import Design, Experiment
from predict_graph.sizing.measuring.measurements import MEASURED
from predict_graph.sizing.quantities import check_count
from predict_graph.sizing.table_file import NoRowsError, appended_table, read_table
from predict_graph.texts import to_number
from predict_graph.timing import clock


@dataclass(frozen=True)
class Outcome:
    """What became of a run.

    Attributes
    ----------
    started : str
        Date and time, UTC, ISO 8601.
    seconds : float
        From before the start of the process to its end, by the wall clock; at most the timeout.
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


def start(
    command: Sequence[str], *, always: bool, timeout: float | None = None, **options: Any
) -> subprocess.Popen[bytes]:
    """Start a command without input, below a process that ends it in time, and what it leaves."""
    begin = partial(supervise, always=always, timeout=timeout)
    return subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        preexec_fn=begin,  # noqa: PLW1509 - it takes no lock
        **options,
    )


@dataclass
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

    command: Sequence[str]
    timeout: float | None = None
    log: Path | None = None
    _process: subprocess.Popen[bytes] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: bool = False

    def run(self) -> Outcome | None:
        """Run the command to its end; None when :meth:`stop` ended it."""
        if self._stopped:
            return None  # and the log of an earlier run stays
        with tempfile.TemporaryFile() if self.log is None else open(self.log, "w+b") as output:
            started = datetime.now(UTC).isoformat(timespec="seconds")
            begun = clock.wall()
            try:
                with self._lock:
                    if self._stopped:
                        return None
                    options: dict[str, Any] = {"stdout": output, "stderr": subprocess.STDOUT}
                    options |= {"timeout": self.timeout, "start_new_session": True}
                    self._process = start(self.command, always=False, **options)
            except OSError as error:
                seconds = clock.wall() - begun
                reason = f"{self.command[0]}: {error.strerror}"
                return Outcome(started, seconds, 127, "failed", reason)  # as of a shell
            status = self._process.wait()
            seconds = clock.wall() - begun
            last = _last_line(output)
        if self._stopped:
            return None
        outcome = "failed" if status else "ok"
        if self.timeout is not None and seconds >= self.timeout:
            outcome, seconds = "timeout", self.timeout  # how long it took to stop says nothing
        return Outcome(started, seconds, status, outcome, last)

    def stop(self) -> None:
        """End the command and its children; it is not measured."""
        with self._lock:
            process = self._process
            self._stopped = process is None or process.returncode is None  # else it is measured
            if process is not None and self._stopped:
                process.send_signal(signal.SIGTERM)


def _last_line(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(size - io.DEFAULT_BUFFER_SIZE, 0))
    lines = output.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


Report = Callable[[Experiment, Outcome, int, int], None]


@dataclass(frozen=True)
class Collected:
    """What a collection did.

    Attributes
    ----------
    measured, failed : list of (Experiment, Outcome)
        In the order in which they ended.
    skipped : int
        Points that the file had already.
    """

    measured: list[tuple[Experiment, Outcome]]
    failed: list[tuple[Experiment, Outcome]]
    skipped: int


def collect(
    design: Design,
    command: Sequence[str],
    out: str | os.PathLike[str],
    *,
    repeats: int = 1,
    parallel: int = 1,
    timeout: float | str | None = None,
    logs: Path | None = None,
    report: Report | None = None,
) -> Collected:
    """Run a command at every point of a design, and keep the seconds of each run.

    Each run that ends is on the disk before the next one starts. Points that `out` has already are
    skipped; failed ones are run again. An interrupt ends the running jobs and keeps what is
    measured.

    Parameters
    ----------
    design : Design
    command : sequence of str
        With placeholders such as ``{scale}`` and ``{machines}``.
    out : Path
        CSV that grows.
    repeats : int, default 1
    parallel : int, default 1
        Runs at the same time. They must not share machines.
    timeout : float or str, optional
        Seconds, or a text such as ``90s``, after which a run is ended and counts as failed.
    logs : Path, optional
        Folder for the output of the runs.
    report : callable, optional
        Called after each run with the experiment, its outcome, how many are done, and of how many.

    Returns
    -------
    Collected

    Raises
    ------
    RequestError
        If an option, the command or the file is wrong.
    JobError
        If a point cannot be written.
    """
    parallel = check_count("parallel is", parallel, most=1_000)  # each has a thread and a process
    limit = None if timeout is None else parse_duration(str(timeout), "timeout")
    if limit is not None and limit >= threading.TIMEOUT_MAX:
        most = f"{threading.TIMEOUT_MAX:,.0f}"
        raise RequestError(f"the timeout is {limit:g} seconds; accepted: below {most}")
    experiments = design.experiments(command, repeats)
    _check_programs(experiments)
    if logs is not None:
        with explained_by_system(f"cannot make the folder {logs}"):
            logs.mkdir(parents=True, exist_ok=True)
    with appended_table(out, [*design.columns, *MEASURED]) as append:
        left = _not_measured(experiments, Path(out))
        result = Collected([], [], len(experiments) - len(left))
        jobs = [Job(one.command, limit, _log(logs, one)) for one in left]
        writing = threading.Lock()

        def measure(experiment: Experiment, job: Job) -> tuple[Experiment, Outcome | None]:
            outcome = job.run()
            if outcome is not None:  # else it was stopped
                ran = {"repeat": experiment.repeat, "command": shlex.join(experiment.command)}
                row = experiment.values | ran | vars(outcome)
                with writing:
                    append(row | {"seconds": f"{outcome.seconds:.6f}"})
            return experiment, outcome

        with ThreadPoolExecutor(parallel) as pool:
            runs = [pool.submit(measure, one, job) for one, job in zip(left, jobs, strict=True)]
            try:
                for done, run in enumerate(as_completed(runs), 1):
                    experiment, outcome = run.result()
                    assert outcome is not None
                    kept = result.measured if outcome.outcome == "ok" else result.failed
                    kept.append((experiment, outcome))
                    if report is not None:
                        report(experiment, outcome, done, len(left))
            finally:
                for job in jobs:
                    job.stop()
    return result


def _not_measured(experiments: Sequence[Experiment], out: Path) -> list[Experiment]:
    """Return what a file has no run of that succeeded; refuse runs by another command."""
    known: dict[tuple[str, ...], str] = {}
    with suppress(NoRowsError):
        cells = read_table(out).cells
        done = cells[cells["outcome"] == "ok"]
        points = done[[*experiments[0].values, "repeat"]].map(_plain)
        known = dict(zip(points.itertuples(index=False, name=None), done["command"], strict=True))
    left = []
    for one in experiments:
        command = known.get(tuple(map(_plain, [*one.values.values(), str(one.repeat)])))
        if command is None:
            left.append(one)
        elif list(map(_plain, shlex.split(command))) != list(map(_plain, one.command)):
            raise RequestError(
                f"{out} has {one.name} measured by another command: {command}; "
                f"accepted: the same command, or another file"
            )
    return left


def _plain(value: str) -> str:
    """Return a number in one way of writing it, 4 and 4.0, and any other text as it is."""
    number = to_number(value)
    return value if math.isnan(number) else repr(number)


def _check_programs(experiments: Sequence[Experiment]) -> None:
    for program in {one.command[0] for one in experiments}:
        if shutil.which(program) is None:
            raise RequestError(
                f"the command {program!r} is not there or not executable; accepted: a program in "
                "PATH or with its path"
            )


def _log(folder: Path | None, experiment: Experiment) -> Path | None:
    """Return the file for the output of a run: of a name that no other has, and not too long."""
    values = [*experiment.values.items(), ("repeat", str(experiment.repeat))]
    name = ",".join("-".join(quote(text, safe="") for text in pair) for pair in values)
    short = name if len(name) < 200 else f"{name[:200]}-{crc32(name.encode())}"  # of 255 bytes
    return folder and folder / f"{short}.log"
