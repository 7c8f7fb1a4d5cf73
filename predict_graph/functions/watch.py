"""Observe a running function from outside: its outermost loop, and the progress of that.

An observation takes some ten microseconds and changes nothing: it reads frames, the syntax tree of
the functions that are running, and local variables.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from types import CodeType, FrameType

from predict_graph.functions.loops import COMPREHENSIONS, enclosing_loops
from predict_graph.functions.position import LoopReader, Progress

REPORTED = "progress"
"""Name of the loop that stands for the progress that a library in C reports."""


@dataclass(frozen=True)
class LoopProgress:
    """The progress of a loop in one observation.

    Parameters
    ----------
    name : str
        ``file:function:line`` of its header; empty outside of any.
    done, total : float
        Iterations; both 0 where they are unknown.
    bounded : bool
        False for a ``while`` of unknown progress.
    early : bool
        Whether its last iteration may come before `total`.
    counted : bool
        Whether `done` counts elements of the loop. Else it is the progress of a condition or the
        one that a library reports, and a finished run has to show that it is steady.
    """

    name: str
    done: float
    total: float
    bounded: bool
    early: bool
    counted: bool = True


NO_LOOP = LoopProgress("", 0.0, 0.0, bounded=False, early=True)  # by definition
"""Where a run is in no loop."""


@dataclass(frozen=True)
class Observation:
    """An observation of a run: the loop that it is in after so many seconds."""

    seconds: float
    loop: LoopProgress


def library_progress(percent: float) -> LoopProgress:
    """Return the progress that a library in C reports as a loop of 1000 iterations."""
    return LoopProgress(REPORTED, 10.0 * percent, 1000.0, bounded=True, early=False, counted=False)


class LoopWatch:
    """Finds the outermost loop of the functions that an entry function has called.

    Parameters
    ----------
    entry : code
        Frames inside the frame of this code are observed.
    """

    def __init__(self, entry: CodeType) -> None:
        self._entry = entry
        self._reader = LoopReader()
        self._report: Observation | None = None

    def report(self, seconds: float, percent: float) -> None:
        """Take the progress that a library in C reports."""
        self._report = Observation(seconds, library_progress(percent))

    def observe(self, seconds: float, frame: FrameType | None) -> Observation:
        """Return the outermost loop that `frame` is in, else what a library has reported last."""
        seen = Observation(seconds, self._outermost(frame))
        return seen if seen.loop.name else self._report or seen

    def _outermost(self, frame: FrameType | None) -> LoopProgress:
        stack: list[FrameType] = []
        while frame is not None and frame.f_code is not self._entry:
            stack.append(frame)
            frame = frame.f_back
        if frame is None:
            return NO_LOOP
        for place in range(len(stack) - 1, -1, -1):
            each, line = stack[place], stack[place].f_lineno
            drawn = stack[place - 1] if place and _is_generator(stack[place - 1]) else None
            if each.f_code.co_name in COMPREHENSIONS:
                progress = self._reader.of_frame(each) or self._reader.of_frame(drawn)
                if _once(progress):
                    continue
                return _seen(each.f_code, each.f_code.co_firstlineno, progress)
            for loop in enclosing_loops(each.f_code, line):
                if loop.is_while or loop.body_holds(line):
                    progress = self._reader.of_loop(loop, each)
                elif drawn is not None:
                    progress = self._reader.of_frame(drawn)
                else:
                    continue
                if _once(progress):
                    continue
                bounded = not loop.is_while or progress is not None
                early = loop.early or not bounded
                return _seen(each.f_code, loop.header, progress, bounded=bounded, early=early)
        return NO_LOOP


def _once(progress: Progress | None) -> bool:
    """Whether a loop has one iteration, so that only what is inside it can show progress."""
    return progress is not None and progress.total == 1.0


def _seen(
    code: CodeType,
    line: int,
    progress: Progress | None,
    *,
    bounded: bool = True,
    early: bool = False,
) -> LoopProgress:
    name = f"{code.co_filename}:{code.co_name}:{line}"
    done, total, counted = progress or Progress(0.0, 0.0)
    return LoopProgress(name, max(done, 0.0), total, bounded, early, counted)


def _is_generator(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & inspect.CO_GENERATOR)
