"""The events of Spark's log that matter here, one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["LogReader"]

_SQL = b"org.apache.spark.sql.execution.ui.SparkListenerSQL"
_NUMBERED = re.compile(r"\s*\(\d+\)$")
_FIRST = (
    *("stage", "attempt", "task", "executor", "host", "started", "finished", "failed"),
    *("task_seconds", "cpu_seconds", "gc_seconds", "input_records", "input_bytes", "output_bytes"),
    *("shuffle_read_records", "local_bytes", "remote_bytes", "shuffle_write_records"),
    *("shuffle_write_bytes", "spilled_bytes", "peak_memory_bytes"),
)

Event = Mapping[str, Any]


@dataclass
class LogReader:
    """Takes events in their order and keeps what they say."""

    tasks: list[tuple[Any, ...]] = field(default_factory=list)
    jobs: dict[int, dict[str, Any]] = field(default_factory=dict)
    stages: list[dict[str, Any]] = field(default_factory=list)
    executors: dict[str, dict[str, Any]] = field(default_factory=dict)
    listing: dict[int, list[int]] = field(default_factory=dict)
    executions: dict[int, dict[str, Any]] = field(default_factory=dict)
    application: dict[str, Any] = field(default_factory=dict)
    conf: dict[str, str] = field(default_factory=dict)
    broken: int = 0
    kept: set[int] = field(default_factory=set)  # datasets that are in memory by now

    @staticmethod
    def kinds() -> dict[bytes, Callable[[bytes], bytes]]:
        """Return the events that matter, and what of their lines has to be parsed."""
        whole = (
            *("StageSubmitted", "JobEnd", "ApplicationStart", "ApplicationEnd"),
            *("ExecutorAdded", "ExecutorRemoved", "EnvironmentUpdate"),
        )
        known: dict[bytes, Callable[[bytes], bytes]] = {
            f"SparkListener{kind}".encode(): bytes for kind in whole
        }
        known[b"SparkListenerTaskEnd"] = _without_accumulables
        known[b"SparkListenerJobStart"] = _without_stage_infos
        known[_SQL + b"ExecutionStart"] = _without_plan
        known[_SQL + b"ExecutionEnd"] = bytes
        return known

    @staticmethod
    def task_columns() -> list[str]:
        """Return the names of what is kept of a task."""
        return list(_FIRST)

    def take(self, event: Event) -> None:
        """Take one event; one that lacks what it must have counts as broken."""
        kind = str(event.get("Event")).rsplit(".", 1)[-1].removeprefix("SparkListener")
        try:
            getattr(self, _HANDLERS[kind])(event)
        except (KeyError, TypeError, ValueError, AttributeError):
            self.broken += 1

    def _task_end(self, event: Event) -> None:
        self.tasks.append(_task(event))

    def _job_start(self, event: Event) -> None:
        properties = event.get("Properties") or {}
        number, stages = event["Job ID"], event["Stage IDs"]
        self.jobs[number] = {
            "job": number,
            "group": properties.get("spark.jobGroup.id"),
            "description": properties.get("spark.job.description"),
            "execution": int(properties.get("spark.sql.execution.id") or -1),
            "started": event["Submission Time"] / 1e3,
            "finished": float("nan"),
            "stages": len(stages),
        }
        for stage in stages:
            self.listing.setdefault(stage, []).append(number)

    def _job_end(self, event: Event) -> None:
        self.jobs[event["Job ID"]]["finished"] = event["Completion Time"] / 1e3

    def _stage_submitted(self, event: Event) -> None:
        info = event["Stage Info"]
        datasets = info.get("RDD Info") or ()
        kept = {dataset["RDD ID"] for dataset in datasets if _is_kept(dataset)}
        self.stages.append(
            {
                "stage": info["Stage ID"],
                "attempt": info.get("Stage Attempt ID", 0),
                "job": self._runs(info["Stage ID"]),
                "name": info["Stage Name"],
                "tasks": info["Number of Tasks"],
                "parents": tuple(info.get("Parent IDs") or ()),
                "operators": _operators(datasets),
                "datasets": frozenset(str(dataset.get("Name")) for dataset in datasets),
                "cached": not kept.isdisjoint(self.kept),
            }
        )
        self.kept |= kept

    def _runs(self, stage: int) -> int:
        """Return the job that runs a stage now: of those that list it, one that is not over."""
        listing = self.listing.get(stage, [])
        still = [job for job in listing if self.jobs[job]["finished"] != self.jobs[job]["finished"]]
        return next(iter(still or listing[-1:]), -1)

    def _execution_start(self, event: Event) -> None:
        number = event["executionId"]
        root = event.get("rootExecutionId")
        self.executions[number] = {
            "execution": number,
            "root": number if root is None else root,
            "description": event.get("description") or "",
            "details": event.get("details") or "",
            "started": event["time"] / 1e3,
            "finished": float("nan"),
        }

    def _execution_end(self, event: Event) -> None:
        self.executions[event["executionId"]]["finished"] = event["time"] / 1e3

    def _executor_added(self, event: Event) -> None:
        info = event["Executor Info"]
        self.executors[event["Executor ID"]] = {
            "executor": event["Executor ID"],
            "host": info["Host"],
            "cores": info["Total Cores"],
            "added": event["Timestamp"] / 1e3,
            "removed": float("nan"),
        }

    def _executor_removed(self, event: Event) -> None:
        self.executors[event["Executor ID"]]["removed"] = event["Timestamp"] / 1e3

    def _application_start(self, event: Event) -> None:
        self.application.update(
            id=event.get("App ID"), name=event["App Name"], started=event["Timestamp"] / 1e3
        )

    def _application_end(self, event: Event) -> None:
        self.application["finished"] = event["Timestamp"] / 1e3

    def _environment_update(self, event: Event) -> None:
        self.conf.update(dict(event.get("Spark Properties") or {}))


_HANDLERS = {
    "TaskEnd": "_task_end",
    "JobStart": "_job_start",
    "JobEnd": "_job_end",
    "StageSubmitted": "_stage_submitted",
    "SQLExecutionStart": "_execution_start",
    "SQLExecutionEnd": "_execution_end",
    "ExecutorAdded": "_executor_added",
    "ExecutorRemoved": "_executor_removed",
    "ApplicationStart": "_application_start",
    "ApplicationEnd": "_application_end",
    "EnvironmentUpdate": "_environment_update",
}


def _task(event: Event) -> tuple[Any, ...]:
    info, metrics = event["Task Info"], event.get("Task Metrics") or {}
    read = metrics.get("Shuffle Read Metrics") or {}
    written = metrics.get("Shuffle Write Metrics") or {}
    taken = metrics.get("Input Metrics") or {}
    given = metrics.get("Output Metrics") or {}
    return (
        event["Stage ID"],
        event.get("Stage Attempt ID", 0),
        # -1 in the logs of old versions, which had no partition apart from the number of the task
        info["Index"] if info.get("Partition ID", -1) < 0 else info["Partition ID"],
        info["Executor ID"],
        info["Host"],
        info["Launch Time"] / 1e3,
        info["Finish Time"] / 1e3,
        bool(info["Failed"] or info.get("Killed")),
        metrics.get("Executor Run Time", 0) / 1e3,
        metrics.get("Executor CPU Time", 0) / 1e9,
        metrics.get("JVM GC Time", 0) / 1e3,
        taken.get("Records Read", 0),
        taken.get("Bytes Read", 0),
        given.get("Bytes Written", 0),
        read.get("Total Records Read", 0),
        read.get("Local Bytes Read", 0),
        read.get("Remote Bytes Read", 0),
        written.get("Shuffle Records Written", 0),
        written.get("Shuffle Bytes Written", 0),
        metrics.get("Memory Bytes Spilled", 0) + metrics.get("Disk Bytes Spilled", 0),
        metrics.get("Peak Execution Memory", 0),
    )


def _is_kept(dataset: Event) -> bool:
    """Return whether a dataset was asked to be kept, in memory or on disk."""
    level = dataset.get("Storage Level") or {}
    return bool(level.get("Use Memory") or level.get("Use Disk"))


def _operators(datasets: Any) -> frozenset[str]:
    """Return the kinds of operators in a stage, without the numbers that tell them apart."""
    names = set()
    for dataset in datasets:
        scope = dataset.get("Scope")
        found = re.search(r'"name":"((?:[^"\\]|\\.)*)"', scope) if scope else None
        names.add(_NUMBERED.sub("", found.group(1)) if found else str(dataset["Name"]))
    return frozenset(names)


def _without_accumulables(line: bytes) -> bytes:
    """Leave out the accumulables of a task: half of the line, and the metrics have it all."""
    start = line.find(b'"Accumulables":[')
    end = line.find(b'},"Task Executor Metrics"', start)
    if start < 0 or end < 0:
        return line
    return line[:start] + b'"Accumulables":[]' + line[end:]


def _without_stage_infos(line: bytes) -> bytes:
    """Leave out the stages that a job lists: they come again when they run."""
    start, end = line.find(b'"Stage Infos":['), line.rfind(b'"Stage IDs":')
    return line if start < 0 or end < start else line[:start] + line[end:]


def _without_plan(line: bytes) -> bytes:
    """Leave out the plan of an SQL execution, as text and as a tree."""
    start, end = line.find(b'"physicalPlanDescription":'), line.rfind(b'"time":')
    return line if start < 0 or end < start else line[:start] + line[end:]
