"""Estimating the remaining time of a running Spark application from outside.

Its supersteps are recognised as in a finished log. Their total number is unknown unless the user, a
prediction or earlier runs provide it; otherwise only the pace is reported.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from predict_graph.algorithms import SPARK_LIBRARIES
from predict_graph.clock.moment import Moment
from predict_graph.clock.supersteps import Expected, ExpectedPart, SuperstepClock
from predict_graph.durations import counted
from predict_graph.engines.spark.log.eventlog import EventLog
from predict_graph.engines.spark.log.growing import GrowingLog, running_logs
from predict_graph.engines.spark.log.status import ApplicationStatus, running_applications
from predict_graph.engines.spark.recognition.supersteps import recognised_so_far
from predict_graph.errors import JobError, RequestError
from predict_graph.history import History
from predict_graph.intervals import Interval

_EVERY = 1.0  # limits the rate of polls: seconds between two
_SHARE = 0.1  # limits the share of time spent on polls

Application = GrowingLog | ApplicationStatus
"""A source of the events of an application."""


def running_at(source: str) -> list[Application]:
    """Return the applications that run at an address or in a folder of logs, the newest last."""
    if not re.match(r"\w+://", source):
        return [GrowingLog(path) for path in running_logs(Path(source))]
    if not source.startswith(("http://", "https://")):
        raise RequestError(
            f"the application is {source!r}; accepted: an address such as "
            "http://127.0.0.1:4040, an event log, or a folder of event logs"
        )
    return [*running_applications(source)]


def open_application(source: str) -> tuple[Application, int]:
    """Return the newest application that runs at a place, and how many others run there."""
    found = running_at(source)
    if not found:
        raise RequestError(
            f"no application runs at {source}; accepted: the address or the event log of one, or a "
            "folder with a log that is unfinished"
        )
    return found[-1], len(found) - 1


@dataclass
class Watch:
    """Polls an application until it ends."""

    application: Application
    expected: Expected | None = None
    iterations: int | None = None
    history: History | None = None
    run: str | None = None
    patience: float = 600.0
    _first: float | None = None
    _by: str = ""

    def moments(self) -> Iterator[Moment]:
        """Yield the state of the run after each change, and at the end."""
        quiet_since = time.monotonic()
        while True:
            began = time.monotonic()
            new = self.application.poll()
            moment = self._look() if new or self.application.ended else None
            spent = time.monotonic() - began  # excludes the consumer's time
            if moment is not None:
                quiet_since = time.monotonic()
                if self.application.ended:
                    whole = Interval.exact(moment.done) if moment.done else None
                    yield replace(moment, state="ended", of=whole, remaining=Interval.exact(0.0))
                    return
                yield moment
            elif time.monotonic() - quiet_since > self.patience:
                raise JobError(
                    f"{self.application.name} has sent no event for {self.patience:.0f} s: it has "
                    "died, or hangs; --patience sets how long to wait"
                )
            time.sleep(max(_EVERY, spent / _SHARE))

    def _look(self) -> Moment:
        log = self.application.log()
        known = [log.application.get("started"), *log.jobs["started"]]
        began = min((float(each) for each in known if each is not None), default=time.time())
        now = time.time() - began
        if self.application.ended:
            latest = [log.application.get("finished"), *log.jobs["finished"]]
            now = max((float(each) for each in latest if each and each == each), default=began)
            now -= began
        found, clock = None, SuperstepClock(self.expected)
        if not log.jobs.empty:
            library, ended = self._library(log), self.application.ended
            found = recognised_so_far(log, library, self.run, ended=ended)
        if found is not None and found.certainty != "doubtful":  # else none yet, or by chance
            name = found.algorithm
            expected = self._expectation([name, str(log.application.get("name"))])
            names = [name] if expected is None else [part.algorithm for part in expected.parts]
            part = names.index(name) if name in names else len(names) - 1  # of a chain
            clock = SuperstepClock(expected and replace(expected, parts=expected.parts[part:]))
            clock.begins(name, found.started - began, limit=found.limit)
            for number, step in enumerate(found.supersteps, start=1):
                clock.superstep(number, step.finished - began)
        moment = clock.moment(now)
        if self._first is None and moment.remaining is not None:
            predicted = None if self.expected is None else moment.first
            self._first = predicted or now + moment.remaining.predicted
            self._by = moment.by
        return replace(moment, first=self._first, by=self._by)

    def _library(self, log: EventLog) -> str | None:
        """Return the GraphX algorithm that runs: the expected one, or from the names of its
        jobs.
        """
        names = [part.algorithm for part in self.expected.parts] if self.expected else []
        names += [str(each) for each in log.jobs["group"].dropna().unique()]
        return next((each for each in names if each.partition(":")[0] in SPARK_LIBRARIES), None)

    def _expectation(self, names: list[str]) -> Expected | None:
        """Return what is expected of a run: from the user, a prediction, or earlier runs."""
        if self.iterations is not None:
            part = ExpectedPart(names[0], float(self.iterations), 0.0)
            return Expected((part,), source=f"{self.iterations} iterations")
        if self.expected is not None or self.history is None:
            return self.expected
        for name in names:
            runs = self.history.runs(algorithm=name, kind="run", limit=20)
            each = runs.groupby("fingerprint", dropna=False)["iterations"].median()
            counts = np.log(np.maximum(each.to_numpy(float), 1.0))
            if len(counts):
                spread = float(counts.std(ddof=1)) if len(counts) > 1 else 0.0
                # Graphs differ, by as much at least.
                std = max(spread, 0.5 / math.sqrt(len(counts))) * math.sqrt(1.0 + 1.0 / len(counts))
                part = ExpectedPart(name, float(np.exp(counts.mean())), std)
                return Expected((part,), source=f"{counted(len(runs), 'earlier runs')} of {name}")
        return None
