"""Notification of supersteps while a single call makes them: of a library, or a user's function.

The progress of such a call is visible only in the event log of its session, which a thread polls.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from predict_graph.engines.base import RunFollower
from predict_graph.engines.spark.log.growing import GrowingLog
from predict_graph.engines.spark.recognition.supersteps import recognised_so_far
from predict_graph.errors import PredictGraphError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EVERY = 1.0  # limits the rate of polls: seconds between two
_SHARE = 0.05  # limits the CPU time of polls / the time that passes


@contextmanager
def followed_call(
    spark: SparkSession,
    logged: GrowingLog,
    follower: RunFollower | None,
    library: str | None = None,
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

    def cancel() -> None:
        with suppress(Exception):  # a stopped session has no jobs left
            context.cancelJobsWithTag(tag)

    context.addJobTag(tag)
    poller = _Poller(logged, follower, library, cancel)
    try:
        yield
    finally:
        poller.stop()
        with suppress(Exception):  # a stopped session has no tags left
            context.removeJobTag(tag)
        if poller.error is not None:
            raise poller.error


class _Poller:
    """Polls a log in a thread until it is stopped."""

    def __init__(
        self,
        logged: GrowingLog,
        follower: RunFollower,
        library: str | None,
        cancel: Callable[[], None],
    ) -> None:
        self.error: BaseException | None = None
        self._logged, self._follower, self._library = logged, follower, library
        self._cancel = cancel
        self._reported: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(
            target=self._work, name="predict-graph supersteps", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End the thread, and wait for it."""
        self._over.set()
        self._thread.join()

    def _work(self) -> None:
        pause = _EVERY
        while not self._over.wait(pause):
            if self.error is not None:
                self._cancel()  # again: a call may go on with other jobs
                continue
            began = time.thread_time()
            try:
                ended = self._ended()
            except PredictGraphError:
                return  # the final reader of the log reports what is wrong with it
            try:
                self._report(ended)
            except BaseException as error:  # raised again by the thread of the call
                self.error = error
                self._cancel()
            pause = max(_EVERY, (time.thread_time() - began) / _SHARE)

    def _ended(self) -> list[float]:
        """Return when each superstep so far ended, as the log has it now."""
        if not self._logged.poll():
            return self._reported
        recognised = recognised_so_far(self._logged.log(), self._library)
        return [step.finished for step in recognised.supersteps] if recognised else []

    def _report(self, found: list[float]) -> None:
        """Report from the first superstep that is new or changed; the last, if there are fewer."""
        same = [one == other for one, other in zip(found, self._reported, strict=False)]
        first = same.index(False) if False in same else len(same)
        if len(found) < len(self._reported):
            first = min(first, max(len(found) - 1, 0))
        for number, ended in enumerate(found[first:], start=first + 1):
            self._follower.superstep(number, ended)
        self._reported = found
