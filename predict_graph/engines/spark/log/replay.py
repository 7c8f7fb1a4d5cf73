"""A logged Spark job on other numbers of executors: its tasks are scheduled again.

The tasks of a stage take the cores of the executors in the order in which they came; a stage comes
up as long after the stages before it as in the log, which is the driver's time. So do Sparklens
(Qubole, 2018) and the simulations of Ousterhout et al. (NSDI 2015). Here executors also come as
late as in the log, each core takes longer for its first task of a stage, as in the log, and what
Spark had split by the number of cores is split anew.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.answers import readable_bytes
from predict_graph.arrays import FloatArray
from predict_graph.durations import counted
from predict_graph.engines.spark.log.eventlog import DAMAGED, EventLog, read_event_log, succeeded
from predict_graph.engines.spark.session.settings import is_local
from predict_graph.errors import RequestError, explained


@dataclass(frozen=True)
class LoggedStage:
    """An attempt of a stage.

    Parameters
    ----------
    submitted, ended : float
        Seconds since the application started.
    logged : ndarray of float
        Seconds of each task, in the order in which they started.
    tasks : ndarray of float
        The same without `first`.
    first : float or None
        What the first task on each core takes on top: starting Python, compiling. None where too
        few tasks came later to know.
    split_by_cores : bool
        Whether it had a task for each core, so that on more cores it has more and shorter ones:
        Spark does so with what has no number of partitions of its own.
    """

    submitted: float
    ended: float
    logged: FloatArray
    tasks: FloatArray
    first: float | None
    split_by_cores: bool


@dataclass(frozen=True)
class LoggedJob:
    """The stages of an application, and the executors that they ran on.

    Parameters
    ----------
    executors, slots : int
        Executors with tasks, and the tasks that one of them runs at a time. Threads of a local
        session count as executors.
    arrivals : ndarray of float
        When executors came, in seconds since the application started.
    stages : tuple of LoggedStage
        In the order in which they came up.
    seconds : float
        From the start of the application to its end.
    conf : mapping
        Spark's settings.
    doubts : tuple of str
        Why a replay may be wrong.
    """

    executors: int
    slots: int
    arrivals: FloatArray
    stages: tuple[LoggedStage, ...]
    seconds: float
    conf: dict[str, str]
    doubts: tuple[str, ...] = ()

    def submit(self, executors: int, cores: int | None = None) -> str:
        """Return the options of spark-submit for so many executors, of so many cores each."""
        master = self.conf.get("spark.master", "")
        cores = cores or self.cores
        if is_local(master):
            return f"--master local[{executors * cores}]"
        each = f"--executor-cores {cores}"
        if memory := self.conf.get("spark.executor.memory"):
            each += f" --executor-memory {memory}"
        if self.conf.get("spark.dynamicAllocation.enabled") == "true":  # their number would change
            each += " --conf spark.dynamicAllocation.enabled=false"
        if master.startswith("spark://"):
            return f"--total-executor-cores {executors * cores} {each}"
        return f"--num-executors {executors} {each}"

    def seconds_on(self, executors: int, cores: int | None = None) -> float:
        """Return the runtime on so many executors: the log's, and what replays differ by."""
        asked = self._replayed(executors, self.tasks_at_a_time(cores))
        if self._own_replay > self.seconds:  # not all that held tasks up there did so in the log
            return asked * self.seconds / self._own_replay
        return self.seconds + asked - self._own_replay

    @cached_property
    def _own_replay(self) -> float:
        """What a replay on the executors of the log takes."""
        return self._replayed(self.executors, self.slots)

    def tasks_at_a_time(self, cores: int | None = None) -> int:
        """Return how many tasks an executor of so many cores runs; by default that of the log."""
        slots = self.slots if cores is None else cores // _cores_of_a_task(self.conf)
        if slots < 1:
            raise RequestError(
                f"an executor has {cores} cores; accepted: at least {_cores_of_a_task(self.conf)}, "
                "those of a task (spark.task.cpus)"
            )
        return slots

    @property
    def cores(self) -> int:
        """Cores of an executor."""
        return self.slots * _cores_of_a_task(self.conf)

    def _replayed(self, executors: int, slots: int) -> float:
        places = (np.arange(executors) + 0.5) / executors
        arrivals = np.repeat(np.quantile(self.arrivals, places), slots)
        free = [(float(second), core) for core, second in enumerate(arrivals)]  # sorted: a heap
        running: list[tuple[float, float]] = []  # ends of stages: in the log, and here
        logged = here = 0.0  # the last end before a stage comes up
        for stage in self.stages:
            while running and running[0][0] <= stage.submitted:
                end, replayed = heapq.heappop(running)
                logged, here = max(logged, end), max(here, replayed)
            ready = last = here + stage.submitted - logged
            warm: set[int] = set()
            for seconds in self._tasks(stage, executors * slots):
                start, core = free[0]
                end = max(start, ready) + seconds + (0.0 if core in warm else stage.first or 0.0)
                warm.add(core)
                heapq.heapreplace(free, (end, core))
                last = max(last, end)
            heapq.heappush(running, (stage.ended, last))
        logged = max([logged, *(end for end, _ in running)])
        return max([here, *(end for _, end in running)]) + self.seconds - logged

    def _tasks(self, stage: LoggedStage, cores: int) -> list[float]:
        """Return the seconds of a stage's tasks on so many cores."""
        tasks = stage.tasks
        if stage.split_by_cores and cores != len(tasks):
            shares = np.quantile(tasks, (np.arange(cores) + 0.5) / cores)
            tasks = shares * (tasks.sum() / max(shares.sum(), 1e-9))
        return list(map(float, tasks))

    @property
    def one_wave(self) -> float:
        """The share of the task time in stages that do not show what first tasks take on top."""
        return _share(self.stages, lambda stage: stage.first is None)


def logged_job(path: Path) -> LoggedJob:
    """Read the event log of a Spark application.

    Raises
    ------
    RequestError
        If it is no such log, or no task has succeeded in it.
    """
    log = read_event_log(path)
    tasks, conf = succeeded(log.tasks), dict(log.conf)
    if tasks.empty or log.executors.empty:
        raise RequestError(f"the event log {path} has no tasks: nothing ran, or it was cut off")
    with explained(f"the event log {path} is not as Spark writes it", of=DAMAGED):
        began = float(log.application.get("started", tasks["started"].min()))
        ended = float(log.application.get("finished", tasks["finished"].max()))
        added, removed = log.executors["added"], log.executors["removed"].dropna()
        # The most that there were at a time.
        executors = max(int((added <= now).sum() - (removed <= now).sum()) for now in added)
        slots = int(log.executors["cores"].max()) // _cores_of_a_task(conf)
        if is_local(conf.get("spark.master", "")):
            executors, slots = slots, 1
        stages = tuple(_stages(log, tasks, began, executors * slots))
        return LoggedJob(
            executors=executors,
            slots=slots,
            arrivals=np.sort(added.to_numpy(np.float64))[:executors] - began,
            stages=stages,
            seconds=ended - began,
            conf=conf,
            doubts=tuple(_doubts(log, tasks, stages)),
        )


def _cores_of_a_task(conf: dict[str, str]) -> int:
    return int(conf.get("spark.task.cpus", "1"))


def _stages(log: EventLog, tasks: pd.DataFrame, began: float, cores: int) -> Iterator[LoggedStage]:
    """Yield the attempts of stages whose output was used, in the order in which they came up."""
    runs = {key: rows.sort_values("started") for key, rows in tasks.groupby(["stage", "attempt"])}
    every: Any = log.stages.sort_values("submitted").itertuples()
    for stage in every:
        if (stage.stage, stage.attempt) not in runs:
            continue
        mine = runs[stage.stage, stage.attempt]
        seconds = (mine["finished"] - mine["started"]).to_numpy(np.float64)
        first, later = seconds[:cores], seconds[cores:]
        extra = None
        if 2 * len(later) >= cores:  # enough of them to know what a task takes
            extra = max(float(first.mean() - np.median(later)), 0.0)
        yield LoggedStage(
            submitted=float(stage.submitted) - began,
            ended=float(mine["finished"].max()) - began,
            logged=seconds,
            tasks=np.concatenate([np.maximum(first - (extra or 0.0), 0.0), later]),
            first=extra,
            split_by_cores=cores > 1 and stage.tasks == cores,
        )


def _doubts(log: EventLog, tasks: pd.DataFrame, stages: Sequence[LoggedStage]) -> Iterator[str]:
    """Yield why a replay may be wrong, in one sentence each."""
    if is_local(log.conf.get("spark.master", "")):
        yield "the log is of one process, whose threads count as machines here"
    if "finished" not in log.application:
        yield "the log has no end: times are those until it was cut off, or until now"
    if log.conf.get("spark.dynamicAllocation.enabled") == "true":
        yield "executors came and went by dynamic allocation; a plan has all of them all the time"
    if log.unread:
        yield f"{counted(log.unread, 'lines')} of the log cannot be read: their work is left out"
    if lost := len(log.tasks) - len(tasks):
        yield f"{lost} of {len(log.tasks)} tasks failed or were repeated, and are left out"
    if spilled := int(tasks["spilled_bytes"].sum()):
        memory = log.conf.get("spark.executor.memory", "1g")
        yield (
            f"tasks spilled {readable_bytes(spilled)}, with {memory} for an executor: with more "
            "memory, or fewer tasks at a time, they take less"
        )
    if split := _share(stages, lambda stage: stage.split_by_cores):
        yield (
            f"{split:.0%} of the task time is in stages with one task for each core, and "
            "is taken to be split by their number, as Spark does unless partitions are numbered"
        )


def _share(stages: Sequence[LoggedStage], chosen: Callable[[LoggedStage], bool]) -> float:
    """Return the share of the task time in some of the stages."""
    seconds = [(float(each.logged.sum()), chosen(each)) for each in stages]
    return sum(own for own, counts in seconds if counts) / max(sum(own for own, _ in seconds), 1e-9)
