"""Spark's own event log, read as a table of tasks.

Spark writes an event a line. What a job did is in the metrics of its tasks: who ran them, for how
long, what they read from others and from themselves, what they wrote, how much memory they took.
Nothing in the job has to change for that.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from predict_graph.errors import RequestError

__all__ = ["TASK_COLUMNS", "EventLog", "read_event_log", "wait_for_group"]

TASK_COLUMNS = (
    "group",
    "description",
    "execution",
    "job",
    "stage",
    "task",
    "executor",
    "host",
    "started",
    "finished",
    "failed",
    "run_seconds",
    "cpu_seconds",
    "gc_seconds",
    "input_records",
    "input_bytes",
    "shuffle_read_records",
    "local_bytes",
    "remote_bytes",
    "shuffle_write_records",
    "shuffle_write_bytes",
    "spilled_bytes",
    "peak_memory_bytes",
)

_WANTED = (
    "SparkListenerTaskEnd",
    "SparkListenerStageSubmitted",
    "SparkListenerJobStart",
    "SparkListenerJobEnd",
    "SparkListenerApplicationStart",
    "SparkListenerApplicationEnd",
    "SparkListenerExecutorAdded",
    "SparkListenerExecutorRemoved",
    "SparkListenerEnvironmentUpdate",
    "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart",
)
_FLUSHED = 10.0  # seconds that Spark may take to write what it knows


@dataclass(frozen=True)
class EventLog:
    """What an event log holds.

    Parameters
    ----------
    tasks : DataFrame
        One row a task, columns as in ``TASK_COLUMNS``; times in seconds, the moments since 1970.
    jobs : DataFrame
        ``job, group, description, execution, started, finished, stages``.
    executors : DataFrame
        ``executor, host, cores, added, removed``; ``removed`` is NaN for those that stayed.
    application : mapping
        ``id``, ``name``, ``started``, ``finished``.
    executions : mapping of int to str
        Where in the program each SQL execution was started.
    conf : mapping of str to str
        Spark's settings.
    broken : int
        Lines that could not be read: the end of a log whose application died.
    """

    tasks: pd.DataFrame
    jobs: pd.DataFrame
    executors: pd.DataFrame
    application: Mapping[str, Any]
    executions: Mapping[int, str]
    conf: Mapping[str, str]
    broken: int


@dataclass
class _Reader:
    tasks: list[tuple[Any, ...]] = field(default_factory=list)
    jobs: dict[int, dict[str, Any]] = field(default_factory=dict)
    executors: dict[str, dict[str, Any]] = field(default_factory=dict)
    stage_job: dict[int, int] = field(default_factory=dict)
    executions: dict[int, str] = field(default_factory=dict)
    application: dict[str, Any] = field(default_factory=dict)
    conf: dict[str, str] = field(default_factory=dict)
    broken: int = 0


def read_event_log(path: Path) -> EventLog:
    """Read an event log, finished or still being written.

    Parameters
    ----------
    path : Path
        A file; ``.zst``, ``.lz4`` and rolled logs are not read.

    Raises
    ------
    RequestError
        If there is no such file, or it is no event log.
    """
    reader = _Reader()
    for event in _events(path, reader):
        _take(event, reader)
    if not reader.application and not reader.jobs:
        raise RequestError(f"{path} is not an event log of Spark; accepted: one event a line, JSON")
    tasks = pd.DataFrame(reader.tasks, columns=["job_stage", *TASK_COLUMNS[5:]])
    return EventLog(
        tasks=_named(tasks, reader),
        jobs=pd.DataFrame(list(reader.jobs.values())),
        executors=pd.DataFrame(list(reader.executors.values())),
        application=reader.application,
        executions=reader.executions,
        conf=reader.conf,
        broken=reader.broken,
    )


def wait_for_group(path: Path, group: str) -> EventLog:
    """Read a log that is being written, once all jobs of a group are in it.

    Spark's listeners are a little behind; what they have not written after some seconds is left
    out.
    """
    deadline = time.monotonic() + _FLUSHED
    while True:
        log = read_event_log(path)
        of_group = log.jobs[log.jobs["group"] == group] if len(log.jobs) else log.jobs
        if len(of_group) and of_group["finished"].notna().all():
            return log
        if time.monotonic() > deadline:
            return log
        time.sleep(0.05)


def _events(path: Path, reader: _Reader) -> Iterator[dict[str, Any]]:
    try:
        with path.open("rb") as lines:
            for line in lines:
                # A name near the start tells whether the line is worth parsing: plans are long.
                if not any(name.encode() in line[:120] for name in _WANTED):
                    continue
                try:
                    yield json.loads(line)
                except ValueError:
                    reader.broken += 1
    except OSError as error:
        raise RequestError(f"cannot read {path}: {error.strerror}") from error


def _take(event: dict[str, Any], reader: _Reader) -> None:
    kind = event["Event"].rsplit(".", 1)[-1].removeprefix("SparkListener")
    if kind == "TaskEnd":
        reader.tasks.append(_task(event))
    elif kind == "JobStart":
        properties = event.get("Properties") or {}
        reader.jobs[event["Job ID"]] = {
            "job": event["Job ID"],
            "group": properties.get("spark.jobGroup.id"),
            "description": properties.get("spark.job.description"),
            "execution": int(properties.get("spark.sql.execution.id") or -1),
            "started": event["Submission Time"] / 1e3,
            "finished": float("nan"),
            "stages": len(event["Stage IDs"]),
        }
        for stage in event["Stage IDs"]:
            reader.stage_job.setdefault(stage, event["Job ID"])
    elif kind == "StageSubmitted":
        # A stage may be listed by several jobs; who submits it runs it.
        group = (event.get("Properties") or {}).get("spark.jobGroup.id")
        stage = event["Stage Info"]["Stage ID"]
        for job in reversed(reader.jobs.values()):
            if job["group"] == group and job["finished"] != job["finished"]:
                reader.stage_job[stage] = job["job"]
                break
    elif kind == "JobEnd":
        reader.jobs[event["Job ID"]]["finished"] = event["Completion Time"] / 1e3
    elif kind == "SQLExecutionStart":
        reader.executions[event["executionId"]] = event.get("details") or ""
    elif kind == "ExecutorAdded":
        reader.executors[event["Executor ID"]] = {
            "executor": event["Executor ID"],
            "host": event["Executor Info"]["Host"],
            "cores": event["Executor Info"]["Total Cores"],
            "added": event["Timestamp"] / 1e3,
            "removed": float("nan"),
        }
    elif kind == "ExecutorRemoved":
        if event["Executor ID"] in reader.executors:
            reader.executors[event["Executor ID"]]["removed"] = event["Timestamp"] / 1e3
    elif kind == "ApplicationStart":
        reader.application.update(
            id=event.get("App ID"), name=event["App Name"], started=event["Timestamp"] / 1e3
        )
    elif kind == "ApplicationEnd":
        reader.application["finished"] = event["Timestamp"] / 1e3
    elif kind == "EnvironmentUpdate":
        reader.conf.update(dict(event.get("Spark Properties") or {}))


def _task(event: dict[str, Any]) -> tuple[Any, ...]:
    info, metrics = event["Task Info"], event.get("Task Metrics") or {}
    read = metrics.get("Shuffle Read Metrics") or {}
    written = metrics.get("Shuffle Write Metrics") or {}
    taken = metrics.get("Input Metrics") or {}
    return (
        event["Stage ID"],
        info.get("Partition ID", info["Index"]),
        info["Executor ID"],
        info["Host"],
        info["Launch Time"] / 1e3,
        info["Finish Time"] / 1e3,
        bool(info["Failed"] or info["Killed"]),
        metrics.get("Executor Run Time", 0) / 1e3,
        metrics.get("Executor CPU Time", 0) / 1e9,
        metrics.get("JVM GC Time", 0) / 1e3,
        taken.get("Records Read", 0),
        taken.get("Bytes Read", 0),
        read.get("Total Records Read", 0),
        read.get("Local Bytes Read", 0),
        read.get("Remote Bytes Read", 0),
        written.get("Shuffle Records Written", 0),
        written.get("Shuffle Bytes Written", 0),
        metrics.get("Memory Bytes Spilled", 0) + metrics.get("Disk Bytes Spilled", 0),
        metrics.get("Peak Execution Memory", 0),
    )


def _named(tasks: pd.DataFrame, reader: _Reader) -> pd.DataFrame:
    """Give each task the job, the group and the SQL execution of its stage."""
    tasks = tasks.rename(columns={"job_stage": "stage"})
    tasks["job"] = tasks["stage"].map(reader.stage_job).fillna(-1).astype(int)
    for name in ("group", "description", "execution"):
        known = {number: job[name] for number, job in reader.jobs.items()}
        tasks[name] = tasks["job"].map(known)
    return tasks[list(TASK_COLUMNS)]
