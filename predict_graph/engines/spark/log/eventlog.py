"""Spark's own event log, read as a table of tasks.

Spark writes an event a line. What a job did is in the metrics of its tasks: who ran them, for how
long, what they read from others and from themselves, what they wrote, how much memory they took.
Nothing in the job has to change for that.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from predict_graph.engines.spark.log.events import LogReader
from predict_graph.engines.spark.log.logfiles import log_lines
from predict_graph.errors import RequestError
from predict_graph.results import Value

__all__ = [
    "TASK_COLUMNS",
    "EventLog",
    "event_log_of",
    "read_event_log",
    "take_lines",
    "wait_for_group",
    "wait_for_listeners",
]

TASK_COLUMNS = (
    "group",
    "description",
    "execution",
    "job",
    "stage",
    "attempt",
    "task",
    "executor",
    "host",
    "started",
    "finished",
    "failed",
    "redone",
    "task_seconds",
    "cpu_seconds",
    "gc_seconds",
    "input_records",
    "input_bytes",
    "output_bytes",
    "shuffle_read_records",
    "local_bytes",
    "remote_bytes",
    "shuffle_write_records",
    "shuffle_write_bytes",
    "spilled_bytes",
    "peak_memory_bytes",
)
_JOB_COLUMNS = ("job", "group", "description", "execution", "started", "finished", "stages")
_STAGE_COLUMNS = (
    *("stage", "attempt", "job", "name", "tasks", "parents", "operators", "datasets", "cached"),
)
_EXECUTION_COLUMNS = ("execution", "root", "description", "details", "started", "finished")
_EXECUTOR_COLUMNS = ("executor", "host", "cores", "added", "removed")

_BEGIN = b'{"Event":"'
_FLUSHED = 10.0  # seconds that Spark may take to write what it knows; a choice: patience


@dataclass(frozen=True, eq=False, repr=False)
class EventLog(Value):
    """What an event log holds.

    Parameters
    ----------
    tasks : DataFrame
        One row a task, columns as in ``TASK_COLUMNS``; times in seconds, the moments since 1970.
        ``failed`` are those that failed or were killed, such as the slower of two that were run for
        speculation; ``redone`` are those that did well, but were run again in a later attempt of
        their stage, because an executor was lost with what they had written.
    jobs : DataFrame
        ``job, group, description, execution, started, finished, stages`` (how many it lists).
    executors : DataFrame
        ``executor, host, cores, added, removed``; ``removed`` is NaN for those that stayed.
    application : mapping
        ``id``, ``name``, ``started``, ``finished``.
    executions : DataFrame
        SQL executions: ``execution, root, description, details, started, finished``; details are
        the calls that led to it.
    stages : DataFrame
        Stages that ran, a row an attempt: ``stage, attempt, job, name, tasks, parents`` (stages
        before it), ``operators`` and ``datasets`` (frozensets of their names), ``cached`` (whether
        it may take from memory what an earlier stage kept there).
    conf : mapping of str to str
        Spark's settings.
    broken : int
        Lines that could not be read: the end of a log whose application died.
    """

    tasks: pd.DataFrame
    jobs: pd.DataFrame
    executors: pd.DataFrame
    application: Mapping[str, Any]
    executions: pd.DataFrame
    stages: pd.DataFrame
    conf: Mapping[str, str]
    broken: int


def read_event_log(
    path: Path,
    start: int = 0,
    *,
    kept: Iterable[int] = (),
) -> EventLog:
    """Read an event log, finished or still being written.

    Parameters
    ----------
    path : Path
        A file, plain or compressed by gzip, zstd, lz4 or snappy, or the folder of a rolled log.
    start : int
        Byte of a plain file to begin at; what came before is left out.
    kept : iterable of int
        Numbers of the datasets (RDDs) that were in memory by then.

    Raises
    ------
    RequestError
        If there is no such file, it is no event log, or it is compressed by lzf.
    """
    reader = LogReader(kept=set(kept))
    take_lines(reader, log_lines(path, start), path)
    if not (start or reader.application or reader.jobs):
        raise RequestError(f"{path} is not an event log of Spark; accepted: one event a line, JSON")
    return event_log_of(reader)


def take_lines(reader: LogReader, lines: Iterable[bytes], path: Path) -> None:
    """Have the events of some lines taken.

    Raises
    ------
    RequestError
        If one is not as Spark writes it; `path` names the log.
    """
    for event in _events(lines, reader):
        try:
            reader.take(event)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            name = str(event.get("Event", "")) if isinstance(event, dict) else ""
            raise RequestError(
                f"{path}: an event {name[:60]!r} is not as Spark writes it: {error!r:.100}"
            ) from error


def event_log_of(reader: LogReader) -> EventLog:
    """Return what a reader has taken so far, as tables."""
    return EventLog(
        tasks=_tasks(reader),
        jobs=pd.DataFrame(list(reader.jobs.values()), columns=list(_JOB_COLUMNS)),
        executors=pd.DataFrame(list(reader.executors.values()), columns=list(_EXECUTOR_COLUMNS)),
        application=reader.application,
        executions=pd.DataFrame(list(reader.executions.values()), columns=list(_EXECUTION_COLUMNS)),
        stages=_stages(reader),
        conf=reader.conf,
        broken=reader.broken,
    )


def wait_for_listeners(context: Any) -> None:
    """Wait until Spark has written what it knows; `context` is that of Java."""
    context.listenerBus().waitUntilEmpty(int(1000 * _FLUSHED))


def wait_for_group(read: Callable[[], EventLog], group: str) -> EventLog:
    """Read a log that is being written, by `read`, once all jobs of a group are in it.

    Spark's listeners are a little behind; what they have not written after some seconds is left
    out.
    """
    deadline = time.monotonic() + _FLUSHED
    while True:
        log = read()
        of_group = log.jobs[log.jobs["group"] == group]
        if len(of_group) and of_group["finished"].notna().all():
            return log
        if time.monotonic() > deadline:
            return log
        time.sleep(0.05)


def _events(lines: Iterable[bytes], reader: LogReader) -> Iterator[dict[str, Any]]:
    known = reader.kinds()
    for line in lines:
        if not line.startswith(_BEGIN):
            reader.broken += bool(line.strip())
            continue
        # The name alone tells whether a line is worth parsing; plans and stages are long.
        cut = known.get(line[len(_BEGIN) : line.find(b'"', len(_BEGIN))])
        if cut is None:
            continue
        try:
            event = json.loads(cut(line))
        except (ValueError, RecursionError):
            reader.broken += 1
            continue
        yield event


def _tasks(reader: LogReader) -> pd.DataFrame:
    """Give each task the job, the group and the SQL execution of its stage."""
    tasks = pd.DataFrame(reader.tasks, columns=reader.task_columns())
    runs = {(stage["stage"], stage["attempt"]): stage["job"] for stage in reader.stages}
    tasks["job"] = [runs.get(key, -1) for key in zip(tasks["stage"], tasks["attempt"], strict=True)]
    for name in ("group", "description", "execution"):
        tasks[name] = tasks["job"].map({number: job[name] for number, job in reader.jobs.items()})
    done = tasks[~tasks["failed"].astype(bool)].sort_values(["attempt", "finished"])
    tasks["redone"] = False
    tasks.loc[done.index[done.duplicated(["stage", "task"], keep="last")], "redone"] = True
    return tasks[list(TASK_COLUMNS)]


def _stages(reader: LogReader) -> pd.DataFrame:
    stages = pd.DataFrame(reader.stages, columns=list(_STAGE_COLUMNS))
    return stages.sort_values(["stage", "attempt"]).reset_index(drop=True)
