"""What a running application tells at its address: Spark's REST interface, read as an event log."""

from __future__ import annotations

import json
import math
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Any

import pandas as pd

from predict_graph.engines.spark.log.eventlog import TASK_COLUMNS, EventLog
from predict_graph.errors import JobError, RequestError

__all__ = ["ApplicationStatus"]

_PATIENCE = 10.0  # seconds for an answer; a choice
_MOST_BYTES = 1 << 28  # a choice: more is no status of an application
_RAN = ("COMPLETE", "ACTIVE", "FAILED")


class ApplicationStatus:
    """An application at its address.

    Its interface keeps the last jobs only (``spark.ui.retainedJobs``, 1000 by default); what was
    seen once is remembered here. It has no plans and no single tasks: the work of a stage stands
    for those of its tasks.

    Parameters
    ----------
    address : str
        Such as ``http://127.0.0.1:4040``; that of a history server will do, too.

    Raises
    ------
    RequestError
        If nothing there is an application of Spark that runs.
    """

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._application: dict[str, Any] = {}
        self._jobs: dict[int, dict[str, Any]] = {}
        self._stages: dict[tuple[int, int], dict[str, Any]] = {}
        self._executions: dict[int, dict[str, Any]] = {}
        self._over = -1
        self.ended = False
        self.others = 0
        try:
            found = self._asked("applications")
        except OSError as error:
            raise RequestError(
                f"nothing answers at {address}: {_said(error)}; accepted: the address of a running "
                "application, such as http://127.0.0.1:4040"
            ) from error
        running = [each for each in found if not each["attempts"][0].get("completed", True)]
        if not running:
            raise RequestError(f"no application runs at {address}; accepted: one that does")
        running.sort(key=lambda each: _moment(each["attempts"][0]["startTime"]))
        chosen = running[-1]
        self.others = len(running) - 1
        started = _moment(chosen["attempts"][0]["startTime"])
        self._application = {"id": chosen["id"], "name": chosen["name"], "started": started}

    @property
    def name(self) -> str:
        """What the application is called, and its id."""
        return f"{self._application['name']} ({self._application['id']})"

    def poll(self) -> bool:
        """Ask what is new; return whether a job has begun or ended since the last time.

        An application that no longer answers has ended.

        Raises
        ------
        JobError
            If the answer is not one of Spark's.
        """
        own = f"applications/{urllib.parse.quote(str(self._application['id']))}"
        try:
            jobs = self._asked(f"{own}/jobs")
            over = sum(each.get("status") != "RUNNING" for each in jobs)
            new = over != self._over or len(jobs) != len(self._jobs)
            if not new:
                return False
            stages = self._asked(f"{own}/stages")
            executions = self._asked(
                f"{own}/sql?details=false&planDescription=false&offset=0&length=100000",
                missing=(),
            )
        except OSError:
            self.ended = True
            return False
        self._over = over
        try:
            self._jobs |= {each["jobId"]: each for each in jobs}
            self._stages |= {(each["stageId"], each["attemptId"]): each for each in stages}
            self._executions |= {each["id"]: each for each in executions}
        except (LookupError, TypeError, AttributeError) as error:
            raise self._not_spark(error) from error
        return True

    def log(self) -> EventLog:
        """Return what was seen, as if it were an event log.

        Raises
        ------
        JobError
            If it is not as Spark says it.
        """
        try:
            return self._as_log()
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise self._not_spark(error) from error

    def _as_log(self) -> EventLog:
        execution_of = {
            job: number
            for number, each in self._executions.items()
            for kind in ("runningJobIds", "successJobIds", "failedJobIds")
            for job in each.get(kind, ())
        }
        jobs = [
            {
                "job": number,
                "group": each.get("jobGroup"),
                "description": each.get("description"),
                "execution": execution_of.get(number, -1),
                "started": _moment(each.get("submissionTime")),
                "finished": _moment(each.get("completionTime")),
                "stages": len(each["stageIds"]),
            }
            for number, each in sorted(self._jobs.items())
        ]
        job_of: dict[int, int] = {}
        for number in sorted(self._jobs, reverse=True):  # the first that lists a stage runs it
            job_of |= dict.fromkeys(self._jobs[number]["stageIds"], number)
        by_number = {job["job"]: job for job in jobs}
        stages, tasks = [], []
        for (stage, attempt), each in sorted(self._stages.items()):
            if each["status"] not in _RAN or stage not in job_of:
                continue
            job = by_number[job_of[stage]]
            stages.append(
                {
                    "stage": stage,
                    "attempt": attempt,
                    "job": job["job"],
                    "name": each["name"],
                    "tasks": each["numTasks"],
                    "parents": (),
                    "operators": frozenset({each["name"]}),
                    "cached": False,
                }
            )
            tasks.append({**dict.fromkeys(TASK_COLUMNS, 0), **_work(each, job)})
        executions = [
            {
                "execution": number,
                "root": number,
                "description": str(each.get("description") or ""),
                "details": "",
                "started": _moment(each["submissionTime"]),
                "finished": _moment(each["submissionTime"]) + each.get("duration", 0) / 1e3
                if each.get("status") != "RUNNING"
                else math.nan,
            }
            for number, each in sorted(self._executions.items())
        ]
        return EventLog(
            tasks=pd.DataFrame(tasks, columns=list(TASK_COLUMNS)),
            jobs=_frame(jobs, "job group description execution started finished stages"),
            executors=_frame([], "executor host cores added removed"),
            application=self._application,
            executions=_frame(executions, "execution root description details started finished"),
            stages=_frame(stages, "stage attempt job name tasks parents operators cached"),
            conf={},
            broken=0,
        )

    def _asked(self, what: str, missing: Any = None) -> Any:
        """Return an answer; `missing` where this version of Spark has none, if given."""
        address = f"{self.address}/api/v1/{what}"
        try:
            with urllib.request.urlopen(address, timeout=_PATIENCE) as answer:
                content = answer.read(_MOST_BYTES + 1)
            if len(content) > _MOST_BYTES:
                raise JobError(f"{address} answers with more than {_MOST_BYTES} bytes")
            found = json.loads(content)
            if not isinstance(found, list):
                raise TypeError(f"{type(found).__name__} instead of a list")
            return found
        except urllib.error.HTTPError as error:
            if missing is not None:
                return missing
            raise JobError(f"{address} answers {error.code} {error.reason}") from error
        except (ValueError, TypeError, RecursionError) as error:
            raise self._not_spark(error) from error
        except HTTPException as error:
            raise ConnectionError(str(error)) from error

    def _not_spark(self, error: Exception) -> JobError:
        return JobError(
            f"{self.address} does not answer as Spark does: {type(error).__name__}: {error!s:.100}"
        )


def _work(stage: Mapping[str, Any], job: Mapping[str, Any]) -> dict[str, Any]:
    """Return one task that stands for all of a stage."""
    started = stage.get("firstTaskLaunchedTime") or stage.get("submissionTime")
    finished = _moment(stage.get("completionTime"))
    return {
        **{name: job[name] for name in ("group", "description", "execution", "job")},
        "stage": stage["stageId"],
        "attempt": stage["attemptId"],
        "executor": "",
        "host": "",
        "started": _moment(started),
        "finished": finished,
        "failed": stage["status"] == "FAILED",
        "redone": False,
        "shuffle_write_records": stage.get("shuffleWriteRecords", 0),
    }


def _frame(rows: list[dict[str, Any]], columns: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=columns.split())


def _moment(text: Any) -> float:
    """Return seconds since 1970; NaN where there is none."""
    if not isinstance(text, str):
        return math.nan
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fGMT").replace(tzinfo=UTC).timestamp()


def _said(error: OSError) -> str:
    cause = getattr(error, "reason", error)
    return str(getattr(cause, "strerror", None) or cause)
