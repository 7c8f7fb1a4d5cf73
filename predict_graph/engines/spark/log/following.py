"""Supersteps that are told while one call makes them: of a library, or a function of one's own.

Nothing in such a call tells how far it is, but the log that its session writes does: that is
read as it grows, in a thread beside the call.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from predict_graph.engines.base import RunFollower
from predict_graph.engines.spark.log.eventlog import EventLog
from predict_graph.engines.spark.log.growing import GrowingLog
from predict_graph.errors import PredictGraphError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["told_meanwhile"]

_EVERY = 1.0  # seconds between looks, at least; a choice
_SHARE = 0.05  # of a processor may go into looking, beside the driver; a choice

Ends = Callable[[EventLog], Sequence[float]]
"""When the supersteps ended that a log shows as done, in seconds since 1970."""


@contextmanager
def told_meanwhile(
    spark: SparkSession, logged: GrowingLog, follower: RunFollower | None, ends: Ends
) -> Iterator[None]:
    """Tell a follower of supersteps as they end, while the jobs of a call run.

    What the follower raises ends these jobs, and is raised here.

    Parameters
    ----------
    spark : SparkSession
        In which the call runs its jobs, in this thread.
    logged : GrowingLog
        Of the session; nobody else reads it meanwhile.
    follower : RunFollower, optional
        Without one, nothing is done.
    ends : callable
    """
    if follower is None:
        yield
        return
    with _tagged(spark) as tag:
        looking = _Looking(logged, follower, ends, lambda: _cancel(spark, tag))
        try:
            yield
        except BaseException as error:
            looking.stop()
            if looking.error is not None:
                raise looking.error from error
            raise
        looking.stop()
    if looking.error is not None:
        raise looking.error


class _Looking:
    """Looks at a log every now and then, in a thread of its own, until it is stopped."""

    def __init__(
        self, logged: GrowingLog, follower: RunFollower, ends: Ends, cancel: Callable[[], None]
    ) -> None:
        self.error: BaseException | None = None
        self._logged, self._follower, self._ends, self._cancel = logged, follower, ends, cancel
        self._told: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(
            target=self._work, name="predict-graph supersteps", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
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
                self._look()
            except PredictGraphError:
                return  # whoever reads the log in the end says what is wrong with it
            except BaseException as error:  # raised again by the thread of the call
                self.error, pause = error, 0.0
                continue
            pause = max(_EVERY, (time.thread_time() - began) / _SHARE)

    def _look(self) -> None:
        if not self._logged.poll():
            return
        found = list(self._ends(self._logged.log()))
        # A superstep had more to come, or what repeats was taken for something else.
        same = [one == other for one, other in zip(found, self._told, strict=False)]
        first = same.index(False) if False in same else len(same)
        for number, ended in enumerate(found[first:], start=first + 1):
            self._follower.superstep(number, ended)
        self._told = found


@contextmanager
def _tagged(spark: Any) -> Iterator[str]:
    """Give the jobs of this thread a tag, by which they can be ended."""
    tag = f"predict-graph-{uuid.uuid4().hex[:8]}"
    context = spark.sparkContext
    context.addJobTag(tag)
    try:
        yield tag
    finally:
        with suppress(Exception):  # a session that was stopped has no tags left
            context.removeJobTag(tag)


def _cancel(spark: Any, tag: str) -> None:
    with suppress(Exception):  # a session that was stopped has no jobs left
        spark.sparkContext.cancelJobsWithTag(tag)
