"""Measuring a job at the points of a design."""

from __future__ import annotations

import queue
import re
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from predict_graph.errors import RequestError
from predict_graph.sizing.measuring.experiments import Design, Experiment
from predict_graph.sizing.measuring.points_file import PointsFile
from predict_graph.sizing.measuring.running import PATIENCE, Job, Outcome

MOST_PARALLEL = 1_000  # limit: each has a thread and a process; not tuned
MOST_SECONDS = 31_536_000  # limit: a year; not tuned

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
    out: Path,
    *,
    repeats: int = 1,
    parallel: int = 1,
    timeout: float | None = None,
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
    timeout : float, optional
        Seconds after which a run is ended and counts as failed.
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
    if not 1 <= parallel <= MOST_PARALLEL:
        raise RequestError(f"parallel is {parallel}; accepted: 1 to {MOST_PARALLEL:,}")
    if timeout is not None and not 0 < timeout <= MOST_SECONDS:
        raise RequestError(
            f"the timeout is {timeout:g} seconds; accepted: above 0, up to a year, {MOST_SECONDS:,}"
        )
    experiments = design.experiments(command, repeats)
    _check_programs(experiments)
    if logs is not None:
        try:
            logs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RequestError(f"cannot make the folder {logs}: {error.strerror}") from error
    with PointsFile(out, design.columns) as points:
        left = [one for one in experiments if not points.has(one)]
        result = Collected([], [], len(experiments) - len(left))
        waiting = _Waiting(left, timeout, logs, points)
        try:
            for _ in range(min(parallel, len(left))):
                waiting.start_next()
            for done in range(1, len(left) + 1):
                experiment, outcome = waiting.next_ended()
                kept = result.measured if outcome.outcome == "ok" else result.failed
                kept.append((experiment, outcome))
                if report is not None:
                    report(experiment, outcome, done, len(left))
        finally:
            waiting.end()
    return result


Ended = tuple[Experiment, Outcome]


class _Waiting:
    """Experiments that are left, run one by one in any number of threads.

    A thread writes its point before it reports it: an interrupt reaches the main thread only, so no
    point that was measured is lost.
    """

    def __init__(
        self,
        experiments: Sequence[Experiment],
        timeout: float | None,
        logs: Path | None,
        points: PointsFile,
    ) -> None:
        self._left = iter(experiments)
        self._timeout = timeout
        self._logs = logs
        self._points = points
        self._writing = threading.Lock()
        self._ended: queue.SimpleQueue[Ended | BaseException] = queue.SimpleQueue()
        self._running: list[tuple[Job, threading.Thread]] = []

    def start_next(self) -> None:
        """Start the next experiment, if there is one."""
        experiment = next(self._left, None)
        if experiment is None:
            return
        job = Job(experiment.command, self._timeout, _log(self._logs, experiment))
        thread = threading.Thread(target=self._run, args=(experiment, job), daemon=True)
        self._running.append((job, thread))
        thread.start()

    def next_ended(self) -> Ended:
        """Wait for the next experiment to end, and start another one in its place.

        Raises
        ------
        JobError
            If its point cannot be written.
        """
        found = self._ended.get()
        if isinstance(found, BaseException):
            raise found
        self.start_next()
        return found

    def end(self) -> None:
        """End what is still running: asked first, then made to."""
        running = [(job, thread) for job, thread in self._running if thread.is_alive()]
        try:
            for job, _ in running:
                job.stop()
            patience = time.monotonic() + PATIENCE
            for _, thread in running:
                thread.join(max(patience - time.monotonic(), 0.0))
        finally:
            for job, thread in running:
                if thread.is_alive():
                    job.kill()
                    thread.join(PATIENCE)

    def _run(self, experiment: Experiment, job: Job) -> None:
        try:
            outcome = job.run()
            if outcome is not None:
                with self._writing:
                    self._points.add(experiment, outcome)
                self._ended.put((experiment, outcome))
        except BaseException as error:  # reaches the main thread
            self._ended.put(error)


def _check_programs(experiments: Sequence[Experiment]) -> None:
    for program in {one.command[0] for one in experiments}:
        if shutil.which(program) is None:
            raise RequestError(
                f"the command {program!r} is not there or not executable; accepted: a program in "
                "PATH or with its path"
            )


def _log(folder: Path | None, experiment: Experiment) -> Path | None:
    if folder is None:
        return None
    return folder / (re.sub(r"[^\w.]+", "-", experiment.name) + ".log")
