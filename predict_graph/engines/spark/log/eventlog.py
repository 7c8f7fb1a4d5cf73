"""Spark's event log as tables of tasks, jobs, stages, SQL executions and executors.

Spark writes one event per line. The metrics of its tasks describe the work of a job: executor,
times, records and bytes read and written, memory. The job itself does not change for that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from predict_graph.engines.spark.log.logfiles import BEGIN, lines_of, log_files
from predict_graph.errors import RequestError
from predict_graph.results import Value

Event = Mapping[str, Any]

# Column of a task, where its metrics have it, and the unit (0: a count)
_METRICS = (
    ("task_seconds", None, "Executor Run Time", 1e3),
    ("cpu_seconds", None, "Executor CPU Time", 1e9),
    ("gc_seconds", None, "JVM GC Time", 1e3),
    ("peak_memory_bytes", None, "Peak Execution Memory", 0),
    ("spilled_bytes", None, "Memory Bytes Spilled", 0),  # the bytes on disk are the same data
    ("input_bytes", "Input Metrics", "Bytes Read", 0),
    ("shuffle_read_records", "Shuffle Read Metrics", "Total Records Read", 0),
    ("local_bytes", "Shuffle Read Metrics", "Local Bytes Read", 0),
    ("remote_bytes", "Shuffle Read Metrics", "Remote Bytes Read", 0),
    ("shuffle_write_records", "Shuffle Write Metrics", "Shuffle Records Written", 0),
    ("shuffle_write_bytes", "Shuffle Write Metrics", "Shuffle Bytes Written", 0),
)
_COLUMNS = {
    "tasks": "number stage attempt task executor host started finished failed",
    "jobs": "job group description execution started finished stages",
    "stages": "stage attempt job name tasks submitted parents operators datasets",
    "executions": "execution root description details started finished",
    "executors": "executor host cores added removed",
}

_NAN = float("nan")
DAMAGED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What contents that Spark does not write raise."""


@dataclass(frozen=True, eq=False, repr=False)
class EventLog(Value):
    """The contents of an event log; times in seconds, moments since 1970.

    ``tasks`` has a row per task, with those of its job: group, description and execution.
    ``failed`` tasks failed or were killed, such as the slower of two speculative ones; ``redone``
    ones succeeded, but ran again in a later attempt of their stage, because an executor was lost
    with their output. ``removed`` of an executor is NaN if it stayed. ``details`` of an SQL
    execution are its calls. ``unread`` lines are damaged.
    """

    tasks: pd.DataFrame
    jobs: pd.DataFrame
    executors: pd.DataFrame
    application: Mapping[str, Any]
    executions: pd.DataFrame
    stages: pd.DataFrame
    conf: Mapping[str, str]
    unread: int = 0

    def executors_lost(self, machines: int) -> int:
        """Return how many executors left during the log of a run, or were missing from the start.

        Such a run has recomputed their data on others, or on new ones that had to warm up: its
        times are not those of a run on so many machines.
        """
        if not len(self.executors):
            return 0
        gone = int(self.executors["removed"].notna().sum())
        return max(gone, machines - (len(self.executors) - gone))


def executor_row(name: str, host: str, cores: int, added: float) -> dict[str, Any]:
    """Return the row of an executor that has not left."""
    return {"executor": name, "host": host, "cores": cores, "added": added, "removed": _NAN}


def succeeded(tasks: pd.DataFrame) -> pd.DataFrame:
    """Return the tasks whose output was used."""
    return tasks[~(tasks["failed"] | tasks["redone"]).astype(bool)]


@dataclass
class LogReader:
    """Collects the contents of events in their order."""

    tasks: list[dict[str, Any]] = field(default_factory=list)
    jobs: dict[int, dict[str, Any]] = field(default_factory=dict)
    stages: list[dict[str, Any]] = field(default_factory=list)
    executors: dict[str, dict[str, Any]] = field(default_factory=dict)
    listing: dict[int, dict[int, None]] = field(default_factory=dict)
    """The jobs that list a stage, in order."""
    executions: dict[int, dict[str, Any]] = field(default_factory=dict)
    application: dict[str, Any] = field(default_factory=dict)
    conf: dict[str, str] = field(default_factory=dict)
    unread: int = 0
    empty: bool = True
    """Whether no line has begun as an event does."""

    def take(self, lines: Iterable[bytes]) -> None:
        """Take the events of some lines; damaged ones are skipped.

        Only lines of events that matter are parsed. Of damaged lines a truncated last one is not
        counted.
        """
        for line in lines:
            name = line[len(BEGIN) : line.find(b'"', len(BEGIN))]
            self.empty &= not line.startswith(BEGIN)
            if line.startswith(BEGIN) and name in _EVENTS:
                try:
                    _EVENTS[name](self, json.loads(line))
                except DAMAGED:
                    self.unread += line.endswith(b"\n")

    def log(self) -> EventLog:
        """Return the contents so far, as tables."""
        stages = _table("stages", self.stages)
        return EventLog(
            tasks=self._task_table(),
            jobs=_table("jobs", self.jobs.values()),
            executors=_table("executors", self.executors.values()),
            application=self.application,
            executions=_table("executions", self.executions.values()),
            stages=stages.sort_values(["stage", "attempt"], ignore_index=True),
            conf=self.conf,
            unread=self.unread,
        )

    def _task_table(self) -> pd.DataFrame:
        """Return the tasks with job, group and SQL execution of their stages."""
        tasks = _table("tasks", self.tasks, *(name for name, *_ in _METRICS))
        runs = {(stage["stage"], stage["attempt"]): stage["job"] for stage in self.stages}
        keys = zip(tasks["stage"], tasks["attempt"], strict=True)
        tasks["job"] = [runs.get(key, -1) for key in keys]
        for name in ("group", "description", "execution"):
            tasks[name] = tasks["job"].map({job: row[name] for job, row in self.jobs.items()})
        done = tasks[~tasks["failed"].astype(bool)].sort_values(["attempt", "finished"])
        tasks["redone"] = False
        tasks.loc[done.index[done.duplicated(["stage", "task"], keep="last")], "redone"] = True
        return tasks

    def task_end(self, event: Event) -> None:
        """Add the row of a task."""
        info, metrics = event["Task Info"], event.get("Task Metrics") or {}
        partition = info.get("Partition ID", -1)  # missing in old versions, where it is the index
        row = {
            "number": int(info.get("Task ID", -1)),
            "stage": int(event["Stage ID"]),
            "attempt": int(event.get("Stage Attempt ID", 0)),
            "task": partition if partition >= 0 else info["Index"],
            "executor": str(info["Executor ID"]),
            "host": str(info["Host"]),
            "started": info["Launch Time"] / 1e3,
            "finished": info["Finish Time"] / 1e3,
            "failed": bool(info["Failed"] or info.get("Killed")),
        }
        for name, group, key, unit in _METRICS:
            value = (metrics if group is None else metrics.get(group) or {}).get(key, 0)
            row[name] = value / unit if unit else int(value)
        self.tasks.append(row)

    def job_start(self, event: Event) -> None:
        """Add a job, and remember which stages it lists."""
        properties = _texts(event.get("Properties"))
        number, stages = event["Job ID"], event["Stage IDs"]
        self.jobs[number] = {
            "job": number,
            "group": properties.get("spark.jobGroup.id"),
            "description": properties.get("spark.job.description"),
            "execution": int(properties.get("spark.sql.execution.id") or -1),
            "started": event["Submission Time"] / 1e3,
            "finished": _NAN,
            "stages": len(stages),
        }
        for stage in stages:
            self.listing.setdefault(stage, {})[number] = None

    def job_end(self, event: Event) -> None:
        """Record the end of a job."""
        self.jobs[event["Job ID"]]["finished"] = event["Completion Time"] / 1e3

    def stage_submitted(self, event: Event) -> None:
        """Add an attempt of a stage; of the jobs that list it, an unfinished one runs it."""
        info = event["Stage Info"]
        datasets = info.get("RDD Info") or ()
        jobs = [*self.listing.get(info["Stage ID"], ())]
        running = [job for job in jobs if self.jobs[job]["finished"] != self.jobs[job]["finished"]]
        row = {
            "stage": int(info["Stage ID"]),
            "attempt": int(info.get("Stage Attempt ID", 0)),
            "job": next(iter(running or jobs[-1:]), -1),
            "name": info["Stage Name"],
            "tasks": info["Number of Tasks"],
            "submitted": info.get("Submission Time", _NAN) / 1e3,
            "parents": tuple(info.get("Parent IDs") or ()),
            "operators": frozenset(map(_operator, datasets)),
            "datasets": frozenset(str(each.get("Name")) for each in datasets),
        }
        self.stages.append(row)

    def execution_start(self, event: Event) -> None:
        """Add an SQL execution."""
        number, root = event["executionId"], event.get("rootExecutionId")
        self.executions[number] = {
            "execution": number,
            "root": number if root is None else root,
            "description": event.get("description") or "",
            "details": event.get("details") or "",
            "started": event["time"] / 1e3,
            "finished": _NAN,
        }

    def execution_end(self, event: Event) -> None:
        """Record the end of an SQL execution."""
        self.executions[event["executionId"]]["finished"] = event["time"] / 1e3

    def executor_added(self, event: Event) -> None:
        """Add an executor."""
        info, name, added = event["Executor Info"], event["Executor ID"], event["Timestamp"] / 1e3
        cores = int(info["Total Cores"])
        self.executors[name] = executor_row(str(name), str(info["Host"]), cores, added)

    def executor_removed(self, event: Event) -> None:
        """Record that an executor left."""
        self.executors[event["Executor ID"]]["removed"] = event["Timestamp"] / 1e3

    def application_start(self, event: Event) -> None:
        """Record the id, the name and the start of the application."""
        self.application.update(
            id=event.get("App ID"), name=event["App Name"], started=event["Timestamp"] / 1e3
        )

    def application_end(self, event: Event) -> None:
        """Record the end of the application."""
        self.application["finished"] = event["Timestamp"] / 1e3

    def environment_update(self, event: Event) -> None:
        """Record Spark's settings."""
        self.conf.update(_texts(event.get("Spark Properties")))


_SQL = b"org.apache.spark.sql.execution.ui.SparkListenerSQL"
_EVENTS: dict[bytes, Callable[[LogReader, Event], None]] = {
    b"SparkListenerTaskEnd": LogReader.task_end,
    b"SparkListenerJobStart": LogReader.job_start,
    b"SparkListenerJobEnd": LogReader.job_end,
    b"SparkListenerStageSubmitted": LogReader.stage_submitted,
    _SQL + b"ExecutionStart": LogReader.execution_start,
    _SQL + b"ExecutionEnd": LogReader.execution_end,
    b"SparkListenerExecutorAdded": LogReader.executor_added,
    b"SparkListenerExecutorRemoved": LogReader.executor_removed,
    b"SparkListenerApplicationStart": LogReader.application_start,
    b"SparkListenerApplicationEnd": LogReader.application_end,
    b"SparkListenerEnvironmentUpdate": LogReader.environment_update,
}


def read_event_log(path: Path) -> EventLog:
    """Read an event log, finished or still being written: a file, or the folder of a rolled log."""
    reader = LogReader()
    for file in log_files(path):
        reader.take(lines_of(file))
    if reader.empty:
        raise not_a_log(path)
    return reader.log()


def not_a_log(path: Path) -> RequestError:
    """Return the error for a file without events of Spark."""
    return RequestError(f"{path} is not an event log of Spark, or is cut off before any event")


def _table(kind: str, rows: Iterable[Mapping[str, Any]], *more: str) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=[*_COLUMNS[kind].split(), *more])


def _texts(found: Any) -> dict[str, str]:
    """Return properties as text, without those that are null."""
    return {name: str(value) for name, value in (found or {}).items() if value is not None}


def _operator(dataset: Event) -> str:
    """Return the kind of operator that makes a dataset, without its number."""
    found = re.search(r'"name":"((?:[^"\\]|\\.)*)"', dataset.get("Scope") or "")
    return re.sub(r"\s*\(\d+\)$", "", found.group(1)) if found else str(dataset["Name"])
