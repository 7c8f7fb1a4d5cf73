"""Threads that share the blocks of a superstep."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType

import numba

__all__ = ["Team", "available_threads"]

_SHARES = 8  # of the blocks, for each thread; a choice: threads end at about the same time


def available_threads() -> int:
    """Return the cores that numba may use: all of this process, or ``NUMBA_NUM_THREADS``."""
    return int(numba.config.NUMBA_NUM_THREADS)


class Team:
    """Threads that run a compiled function, which must release the GIL, over blocks of rows.

    A thread takes its next share of the blocks when it is done with the last one, so a core that
    other programs are using gets less to do. (Threads of OpenMP get equal parts and spin at the
    end: a superstep of 2 ms took 8 ms, a time slice, beside one busy program on two cores.)

    Parameters
    ----------
    threads : int
        At least 1; the calling thread is one of them.

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
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def __enter__(self) -> Team:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def share(self, work: Callable[[int, int], None], blocks: int) -> None:
        """Call ``work(first, last)`` for ranges of blocks that cover 0 … `blocks` - 1 once."""
        size = -(-blocks // (self.threads * _SHARES))
        if self._pool is None or size == 0 or blocks == 1:
            work(0, blocks)
            return
        shares = iter(range(0, blocks, size))

        def take() -> None:
            for first in shares:
                work(first, min(first + size, blocks))

        others = [self._pool.submit(take) for _ in range(self.threads - 1)]
        take()
        for other in others:
            if not other.cancel():  # no share is left for a thread that has not begun
                other.result()
