"""Threads that share the blocks of a superstep."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numba

from predict_graph.cores import meter
from predict_graph.deadline import StopRun, current_deadline


def available_threads() -> int:
    """Return the cores that numba may use: those of this process, or ``NUMBA_NUM_THREADS``."""
    return int(numba.config.NUMBA_NUM_THREADS)


class Team:
    """Threads that run a compiled function, which must release the GIL, over blocks of rows.

    A thread takes its next share of the blocks after the previous one, so a core that is busy with
    other programs gets less work. (OpenMP gives threads equal parts and spins at the end: with one
    busy program on two cores, a superstep of 2 ms took 8 ms, a time slice.)

    No more work is shared after the deadline that is current on construction.

    Examples
    --------
    >>> done = []
    >>> with Team(2) as team:
    ...     team.share(lambda first, last: done.extend(range(first, last)), 40)
    >>> sorted(done) == list(range(40))
    True
    """

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._remaining = current_deadline()
        self._in_order = True
        self.shared = 0.0
        """The fraction of the blocks that the last call of `share` completed."""
        self.started = time.perf_counter()
        """When that call started; before the first one, when this was made."""
        self._pool = ThreadPoolExecutor(max(threads - 1, 1))  # starts threads when they get work

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        if self.threads > 1:
            self._remaining = lambda: -math.inf  # after Ctrl-C the others take no more
            meter.observe()
            self._pool.shutdown(cancel_futures=True)

    def limit(self, seconds: float, *, in_order: bool) -> None:
        """Bring the deadline forward to so many seconds from now; steps are in order.

        If they are not, brief ones either, what ends of a step represents all of it.
        """
        self._in_order = in_order
        stop, before = time.perf_counter() + seconds, self._remaining or (lambda: math.inf)
        self._remaining = lambda: min(stop - time.perf_counter(), before())
        self.shared = 0.0

    def allow(self, seconds: float) -> None:
        """Raise StopRun unless so many seconds, or a moment, are left before the deadline."""
        if self._remaining is not None and self._remaining() <= seconds:
            raise StopRun

    def share(self, work: Callable[[int, int], None], blocks: int) -> None:
        """Call ``work(first, last)`` for ranges of blocks that cover 0 … `blocks` - 1 once.

        A thread gets 8 to 64 of them, of 8 blocks if possible: it waits for the last one, and a
        deadline is checked in between. After a brief step, or setup, they are in order: in
        another one this step would take longer than in a run without a deadline.
        """
        self.shared = 0.0
        self.allow(0.0)
        before, self.started = self.started, time.perf_counter()
        # A deadline hardly falls into the next one.
        brief = self._in_order and self.started - before < 0.02
        least, most = (-(-blocks // (self.threads * ranges)) for ranges in (64, 8))
        size = max(least, min(most, 8))
        if blocks < 2 or (self.threads == 1 and self._remaining is None):
            work(0, blocks)
            self.shared = 1.0
            return
        every: Sequence[int] = range(0, blocks, size)
        if self._remaining is not None and not brief:
            # The first few represent those that a deadline stops.
            every = random.Random(0).sample(every, len(every))
        starts = iter(every)
        done: list[int] = []

        def take() -> None:
            for first in starts:
                self.allow(0.0)
                work(first, min(first + size, blocks))
                done.append(first)
                self.shared = len(done) / len(every)

        others = [self._pool.submit(take) for _ in range(self.threads - 1)]
        take()
        for other in others:
            if not other.cancel():  # no share is left for threads that have not started
                other.result()
