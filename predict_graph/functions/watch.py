"""Observe a running function from outside: its outermost loop, and the progress of that.

An observation takes some ten microseconds and changes nothing: it reads frames, the syntax tree of
the functions that are running, and local variables.
"""

from __future__ import annotations

import inspect
from collections import Counter
from dataclasses import dataclass
from types import CodeType, FrameType

from predict_graph.functions.loops import COMPREHENSIONS, Loop, enclosing_loops
from predict_graph.functions.position import Progress, Reader, comprehension_progress, reader_of

REPORTED = "progress"
"""Name of the loop that stands for the progress that a library in C reports."""

_SIGHTINGS = 2  # observations of a loop before its progress is read: limits the cost
_TRIES = 3  # limits the failures in a row to read a loop
_REMEMBERED = 100  # limits the memory of loops


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


@dataclass
class _Followed:
    reader: Reader | None = None
    sightings: int = 0


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
        self._tries: Counter[str] = Counter()
        self._followed: dict[tuple[int, str], _Followed] = {}

    def observe(self, frame: FrameType | None) -> LoopProgress:
        """Return the outermost loop that `frame` is in."""
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
                return self._comprehension(each, drawn)
            for loop in enclosing_loops(each.f_code, line):
                if loop.is_while or loop.body_holds(line):
                    return self._seen(loop, each)
                if drawn is not None:
                    return _seen(_name(loop, each), self._outermost(drawn), early=loop.early)
        return NO_LOOP

    def _comprehension(self, frame: FrameType, generator: FrameType | None) -> LoopProgress:
        name = f"{frame.f_code.co_filename}:{frame.f_code.co_name}:{frame.f_code.co_firstlineno}"
        progress = comprehension_progress(frame)
        if progress is None and generator is not None:
            progress = self._outermost(generator)
        return _seen(name, progress, early=False)

    def _outermost(self, frame: FrameType) -> Progress | None:
        if frame.f_code.co_name in COMPREHENSIONS:
            return comprehension_progress(frame)
        loops = enclosing_loops(frame.f_code, frame.f_lineno)
        return self._progress(loops[0], frame) if loops else None

    def _seen(self, loop: Loop, frame: FrameType) -> LoopProgress:
        progress = self._progress(loop, frame)
        unknown = loop.is_while and progress is None
        early = loop.early or unknown
        return _seen(_name(loop, frame), progress, early=early, bounded=not unknown)

    def _progress(self, loop: Loop, frame: FrameType) -> Progress | None:
        name = _name(loop, frame)
        key = (id(frame), name)
        if len(self._followed) > _REMEMBERED:  # loops come and go with their frames
            self._followed.clear()
        followed = self._followed.setdefault(key, _Followed())
        followed.sightings += 1
        if followed.sightings < _SIGHTINGS:
            return None
        progress = None if followed.reader is None else followed.reader(frame)
        if progress is None and self._tries[name] < _TRIES:
            followed.reader = reader_of(loop, frame)
            progress = None if followed.reader is None else followed.reader(frame)
            self._tries[name] = 0 if progress is not None else self._tries[name] + 1
        return progress


def _seen(
    name: str, progress: Progress | None, *, early: bool, bounded: bool = True
) -> LoopProgress:
    done, total, counted = progress or Progress(0.0, 0.0)
    return LoopProgress(name, max(done, 0.0), total, bounded, early, counted)


def _name(loop: Loop, frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_code.co_name}:{loop.header}"


def _is_generator(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & inspect.CO_GENERATOR)
