"""Running applications at an address: Spark's REST interface, as the contents of event logs."""

from __future__ import annotations

import json
import math
import urllib.error
import urllib.parse
import urllib.request
from datetime import UTC, datetime
from http.client import HTTPException
from typing import Any

from predict_graph.engines.spark.log.eventlog import DAMAGED, EventLog, LogReader
from predict_graph.engines.spark.recognition.units import call_of
from predict_graph.errors import JobError, RequestError

# Limits the wait for an answer, in seconds, and its size.
_PATIENCE, _MOST_BYTES = 10.0, 1 << 28
_RAN = ("COMPLETE", "ACTIVE", "FAILED")


def running_applications(address: str, since: float = 0.0) -> list[ApplicationStatus]:
    """Return the applications that run at an address, such as ``http://127.0.0.1:4040``.

    It is that of an application, or of a history server. The newest comes last. What they did
    before `since` is left out.
    """
    address = address.rstrip("/").removesuffix("/jobs")  # its first page
    try:
        found = _get(address, "applications?status=running", list)
        return [ApplicationStatus(address, each, since) for each in sorted(found, key=_started)]
    except (*DAMAGED, urllib.error.HTTPError) as error:
        raise _not_spark(address, error) from error
    except OSError as error:
        cause = getattr(error, "reason", error)
        raise RequestError(
            f"nothing answers at {address}: {getattr(cause, 'strerror', None) or cause}; "
            "accepted: the address of a running application, such as http://127.0.0.1:4040"
        ) from error


class ApplicationStatus:
    """A running application, as it is described at an address.

    Spark keeps the last jobs only (``spark.ui.retainedJobs``, 1000 by default); those seen before
    are remembered here. It has no plans and no tasks: a stage is represented by one task. If YARN
    starts a newer attempt of it, that one is followed.
    """

    def __init__(self, address: str, described: dict[str, Any], since: float) -> None:
        self.address, self.key, self._since = address, str(described["id"]), since
        self.ended = False
        newest = described["attempts"][0]
        # Its own page calls its start the last update, and a history server the change of its log.
        self._own_page = newest.get("lastUpdated") == newest["startTime"]
        self._begin(described)

    def _begin(self, described: dict[str, Any]) -> None:
        """Follow the newest attempt of the application from its start."""
        self._attempt = described["attempts"][0].get("attemptId")  # that of YARN's cluster mode
        parts = [str(each) for each in (self.key, self._attempt) if each is not None]
        self._place = "/".join(["applications", *map(urllib.parse.quote, parts)])
        began = max(_started(described), self._since)
        application = {"id": self.key, "name": described["name"], "started": began}
        self._reader = LogReader(application=application)
        self._execution_of: dict[int, int] = {}  # of each job
        self._stages: dict[tuple[int, int], dict[str, Any]] = {}  # each with its task
        self._seen, self._tasks = (-1, -1), 0

    @property
    def name(self) -> str:
        """The name of the application, and its id."""
        return f"{self._reader.application['name']} ({self.key})"

    def poll(self) -> bool:
        """Return whether a job or a task has ended or a job started since the last poll.

        If its own page is gone, it has ended. A history server may come back.
        """
        query = "details=false&planDescription=false&offset=0&length=100000"
        try:
            now = _get(self.address, f"applications/{urllib.parse.quote(self.key)}")
            if now["attempts"][0].get("attemptId") != self._attempt:
                self._begin(now)
            jobs = self._newer(_get(self.address, f"{self._place}/jobs", list))
            over = sum(each.get("status") != "RUNNING" for each in jobs)
            seen = over, max((each["jobId"] for each in jobs), default=-1)
            tasks: int = sum(each.get("numCompletedTasks", 0) for each in jobs)
            if seen == self._seen:
                # A history server answers on, and may know of the end before the last jobs.
                self.ended = bool(now["attempts"][0].get("completed"))
                before, self._tasks = self._tasks, tasks
                return tasks > before
            stages = _get(self.address, f"{self._place}/stages", list)
            executions = _get(self.address, f"{self._place}/sql?{query}", list, missing=[])
            self._take(jobs, stages, self._newer(executions))
        except urllib.error.HTTPError as error:  # 404: another application has the port
            self.ended = self._own_page and error.code == 404
            return False
        except OSError as error:
            slow = isinstance(getattr(error, "reason", error), TimeoutError)
            self.ended = self._own_page and not slow
            return False
        except DAMAGED as error:
            raise _not_spark(self.address, error) from error
        self._seen = seen
        return True

    def _newer(self, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [each for each in found if not _moment(each.get("submissionTime")) < self._since]

    def log(self) -> EventLog:
        """Return the contents so far, as if they were of an event log."""
        return self._reader.log()

    def _take(self, jobs: list[Any], stages: list[Any], executions: list[Any]) -> None:
        """Take the rows of jobs, stages with their tasks, and SQL executions."""
        reader = self._reader
        for each in sorted(executions, key=lambda execution: execution["id"]):
            number, at = each["id"], 1e3 * _moment(each["submissionTime"])
            text = str(each.get("description") or "")
            reader.execution_start({"executionId": number, "description": text, "time": at})
            if each.get("status") != "RUNNING":
                reader.execution_end({"executionId": number, "time": at + each.get("duration", 0)})
            for kind in ("runningJobIds", "successJobIds", "failedJobIds"):
                self._execution_of |= dict.fromkeys(each.get(kind, ()), number)
        for each in sorted(jobs, key=lambda job: job["jobId"]):
            number = each["jobId"]
            names = {
                "spark.jobGroup.id": each.get("jobGroup"),
                "spark.job.description": each.get("description"),
                "spark.sql.execution.id": str(self._execution_of.get(number, -1)),
            }
            times = {
                "Submission Time": 1e3 * _moment(each.get("submissionTime")),
                "Completion Time": 1e3 * _moment(each.get("completionTime")),
            }
            event = {"Job ID": number, "Stage IDs": each["stageIds"], "Properties": names, **times}
            reader.job_start(event)
            reader.job_end(event)
        for each in stages:
            stage, began = each["stageId"], each.get("firstTaskLaunchedTime")
            if each["status"] not in _RAN or stage not in reader.listing:
                continue
            job = min(reader.listing[stage])  # the first that lists a stage runs it
            key = {"stage": stage, "attempt": each["attemptId"]}
            about = {"job": job, "name": each["name"], "tasks": each["numTasks"]}
            calls = frozenset({call_of(each["name"])})
            made = {"operators": calls, "parents": (), "datasets": frozenset()}
            task = {
                "task": 0,
                "started": _moment(began or each.get("submissionTime")),
                "finished": _moment(each.get("completionTime")),
                "failed": each["status"] == "FAILED",
                "shuffle_write_records": each.get("shuffleWriteRecords", 0),
            }
            self._stages[stage, each["attemptId"]] = {**key, **about, **made, **task}
        reader.stages = reader.tasks = [self._stages[key] for key in sorted(self._stages)]


def _get(address: str, what: str, kind: type = dict, missing: Any = None) -> Any:
    """Return an answer; `missing` where this version of Spark has none, if given."""
    whole = f"{address}/api/v1/{what}"
    try:
        with urllib.request.urlopen(whole, timeout=_PATIENCE) as answer:
            content = answer.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise JobError(f"{whole} answers with more than {_MOST_BYTES} bytes")
        found = json.loads(content)
        if not isinstance(found, kind):
            raise TypeError(f"{type(found).__name__} instead of a {kind.__name__}")
        return found
    except urllib.error.HTTPError:
        if missing is None:
            raise
        return missing
    except HTTPException as error:
        raise ConnectionError(str(error)) from error


def _not_spark(address: str, error: Exception) -> JobError:
    return JobError(
        f"{address} does not answer as Spark does: {type(error).__name__}: {error!s:.100}"
    )


def _started(application: dict[str, Any]) -> float:
    return _moment(application["attempts"][0]["startTime"])


def _moment(text: Any) -> float:
    """Return seconds since 1970; NaN where there is none."""
    if not isinstance(text, str):
        return math.nan
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fGMT").replace(tzinfo=UTC).timestamp()
