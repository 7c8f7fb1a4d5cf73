"""Notification of supersteps while a single call makes them: of a library, or a user's function.

The progress of such a call is visible only in the event log of its session, which a thread polls.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from predict_graph.engines.base import RunFollower
from predict_graph.engines.spark.log.growing import GrowingLog
from predict_graph.engines.spark.recognition.supersteps import recognised_so_far
from predict_graph.errors import PredictGraphError

_EVERY = 1.0  # limits the rate of polls: seconds between two
_SHARE = 0.05  # limits the CPU time of polls / the time that passes


@contextmanager
def followed_call(
    spark: Any, logged: GrowingLog, follower: RunFollower | None, library: str | None
) -> Iterator[None]:
    """Notify a follower of supersteps as they end, while the jobs of a call run in this thread.

    `library` is the name of a library's algorithm, whose job group has the supersteps; without it
    they are recognised among all jobs. Those since the last poll are not reported.

    An exception of the follower cancels these jobs, and is raised here. Nothing else may read the
    log meanwhile.
    """
    if follower is None:
        yield
        return
    context: Any = spark.sparkContext
    tag = f"predict-graph-{uuid.uuid4().hex[:8]}"
    over, raised = threading.Event(), list[BaseException]()

    def work() -> None:
        pause, reported = _EVERY, list[float]()
        while not over.wait(pause):
            began = time.thread_time()
            try:
                ended = _ended(logged, library, reported)
            except PredictGraphError:
                return  # the final reader of the log reports what is wrong with it
            try:
                if not raised:
                    _report(follower, ended, reported)
            except BaseException as error:  # raised again by the thread of the call
                raised.append(error)
            if raised:  # more than once: a call may go on with other jobs
                with suppress(Exception):  # a stopped session has no jobs left
                    context.cancelJobsWithTag(tag)
            reported = ended
            pause = max(_EVERY, (time.thread_time() - began) / _SHARE)

    context.addJobTag(tag)
    thread = threading.Thread(target=work, name="predict-graph supersteps", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        with suppress(Exception):  # a stopped session has no tags left
            context.removeJobTag(tag)
        if raised:
            raise raised[0]


def _ended(logged: GrowingLog, library: str | None, before: list[float]) -> list[float]:
    """Return when each superstep so far ended; `before` if the log has nothing new."""
    if not logged.poll():
        return before
    recognised = recognised_so_far(logged.log(), library)
    return [step.finished for step in recognised.supersteps] if recognised else []


def _report(follower: RunFollower, found: list[float], before: list[float]) -> None:
    """Report from the first superstep that is new or changed; the last, if there are fewer."""
    same = [one == other for one, other in zip(found, before, strict=False)]
    first = same.index(False) if False in same else len(same)
    if len(found) < len(before):
        first = min(first, max(len(found) - 1, 0))
    for number, ended in enumerate(found[first:], start=first + 1):
        follower.superstep(number, ended)
