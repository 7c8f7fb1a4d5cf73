"""Observe a running function from outside: its outermost loop, and the progress of that.

An observation takes some ten microseconds and changes nothing: it reads frames, the syntax tree of
the functions that are running, and local variables.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FrameType

from predict_graph.functions import loops

REPORTED = "progress"
"""Name of the loop that stands for the progress that a library in C reports."""
FEW_ROUNDS = 4  # iterations from which a loop predicts its run; not tuned


@dataclass(frozen=True)
class Observation:
    """The loop that a run is in after so many seconds, and how far that is.

    Parameters
    ----------
    loop : str
        ``file:function:line`` of its header; empty outside of any.
    done, total : float
        Iterations; both 0 where they are unknown.
    early : bool
        Whether its last iteration may come before `total`.
    counted : bool
        Whether `done` counts elements of the loop. Else it is the progress of a condition or the
        one that a library reports, and a finished run has to show that it is steady.
    """

    seconds: float
    loop: str = ""
    done: float = 0.0
    total: float = 0.0
    early: bool = False
    counted: bool = True


def report_progress(form: str, take: Callable[[float], None] | None) -> None:
    """Let the library of a graph report its progress, in percent, to a function.

    To nobody with None, as by default. Only igraph reports any; which handler it had, it does not
    say.
    """
    if form == "igraph":
        import igraph

        handler = None if take is None else lambda message, percent: take(percent)
        igraph.set_progress_handler(handler)


class LoopWatch:
    """Finds the outermost loop of the functions that an entry function has called.

    Parameters
    ----------
    entry : code
        Frames inside the frame of this code are observed.
    elapsed : callable
        Returns the seconds since the start.
    """

    def __init__(self, entry: CodeType, elapsed: Callable[[], float]) -> None:
        self._entry, self._elapsed = entry, elapsed
        self._reader = loops.LoopReader()
        self._report: Observation | None = None
        self._percent = -1.0

    def report(self, percent: float) -> None:
        """Take the progress that a library in C reports: often, so nothing else is done here."""
        self._percent = percent

    def observe(self, frame: FrameType | None) -> Observation:
        """Return the outermost loop that `frame` is in, else what a library has reported last."""
        seconds = self._elapsed()
        stack: list[FrameType] = []
        while frame is not None and frame.f_code is not self._entry:
            stack.append(frame)
            frame = frame.f_back
        inner = [*zip(stack, [None, *stack], strict=False)]
        for each, other in reversed(inner if frame is not None else []):
            for line, progress, early in self._loops(each, other):
                done, total, counted = progress or loops.Progress(0.0, 0.0)
                if total != 1.0:  # else only what is inside it can show progress
                    loop = f"{each.f_code.co_filename}:{each.f_code.co_name}:{line}"
                    return Observation(seconds, loop, max(done, 0.0), total, early, counted)
        done = 10.0 * min(self._percent, 100.0)  # of a loop of 1000 iterations
        if done >= 0.0 and (self._report is None or done != self._report.done):
            self._report = Observation(seconds, REPORTED, done, 1000.0, counted=False)
        return self._report or Observation(seconds)

    def _loops(
        self, frame: FrameType, inner: FrameType | None
    ) -> Iterator[tuple[int, loops.Progress | None, bool]]:
        """Yield line and progress of the loops of a frame, and whether each may end early."""
        code, line, reader = frame.f_code, frame.f_lineno, self._reader
        generates = inner is not None and inner.f_code.co_flags & inspect.CO_GENERATOR
        drawn = inner if generates else None
        if code.co_name in loops.COMPREHENSIONS:
            yield code.co_firstlineno, reader.of_frame(frame) or reader.of_frame(drawn), False
            return
        for loop in loops.enclosing_loops(code, line):
            if isinstance(loop, ast.While) or loops.body_holds(loop, line):
                yield loop.lineno, reader.of_loop(loop, frame), loops.ends_early(loop)
            elif drawn is not None:
                yield loop.lineno, reader.of_frame(drawn), loops.ends_early(loop)
