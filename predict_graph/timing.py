"""The time of this process, read in one place: a test can put counted steps in place of seconds."""

from __future__ import annotations

import os
import signal
import threading
import time

from predict_graph.cores import queued


class Clock:
    """Read the time of this process, and wait.

    Code that watches or times a run calls the methods of :data:`clock`, so that a test which
    replaces them controls all of it.
    """

    def wall(self) -> float:
        """Return seconds that pass whatever the machine does."""
        return time.perf_counter()

    def processor(self, *, children: bool = True) -> float:
        """Return the processor seconds of this process, and of those that it has waited for."""
        times = os.times()
        more = times.children_user + times.children_system if children else 0.0
        return time.process_time() + more

    def thread(self) -> float:
        """Return the processor seconds of the calling thread."""
        return time.thread_time()

    def alarm(self, every: float) -> None:
        """Send SIGPROF to this process after each so many processor seconds; 0 ends that."""
        signal.setitimer(signal.ITIMER_PROF, every, every)

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait for an event, so many seconds at most; return whether it has come."""
        return event.wait(seconds)


clock = Clock()
"""The clock of this process."""


class CallTimer:
    """Times a call from now on by the processor, or by the clock if it sleeps.

    A call that waits for a disk, a network or another process takes few processor seconds. What it
    waits for a core is not counted.
    """

    def __init__(self, sleeps: float = 1.25) -> None:
        self._sleeps = sleeps  # seconds by the clock for each of a processor: above noise
        self._wall, self._queued = clock.wall(), queued()
        self._worked = clock.processor()

    @property
    def wall(self) -> float:
        """Seconds by the clock."""
        return clock.wall() - self._wall

    @property
    def seconds(self) -> float:
        """Seconds of the call."""
        worked = clock.processor() - self._worked
        there = self.wall - (queued() - self._queued)
        return there if there > self._sleeps * worked else worked

    def leave_out(self, seconds: float) -> None:
        """Leave processor seconds out that were no part of the call."""
        self._worked, self._wall = self._worked + seconds, self._wall + seconds
