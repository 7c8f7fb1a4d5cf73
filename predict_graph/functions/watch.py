"""Observe a running function from outside: its outermost loops, and their progress.

An observation takes some ten microseconds and changes nothing: it reads frames, the syntax tree of
the functions that are running, and local variables.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from dataclasses import dataclass, replace
from types import CodeType, FrameType

from predict_graph.functions.loops import COMPREHENSIONS, Loop, enclosing_loops
from predict_graph.functions.position import Progress, Reader, comprehension_progress, reader_of

REPORTED = "progress"
"""Name of the loop that stands for the progress that a library in C reports."""

_DEPTH = 3  # limits the loops whose progress is read, from the outermost on
_SIGHTINGS = 2  # observations of a loop before its progress is read: limits the cost
_TRIES = 3  # limits the failures in a row to read a loop
_REMEMBERED = 100  # limits the memory of loops


@dataclass(frozen=True)
class Seen:
    """A loop in one observation.

    Parameters
    ----------
    loop : str
        ``file:function:line`` of its header.
    done, total : float
        Iterations; both 0 where they are unknown. Of a ``while`` around another loop these are its
        iterations so far, with part of one, and infinity.
    bounded : bool
        False for a ``while`` of unknown progress.
    early : bool
        Whether its last iteration may come before `total`.
    counted : bool
        Whether `done` counts elements of the loop. Else it is the progress of a condition or the
        one that a library reports, and a finished run has to show that it is steady.
    """

    loop: str
    done: float
    total: float
    bounded: bool
    early: bool
    counted: bool = True


@dataclass
class _Followed:
    reader: Reader | None = None
    sightings: int = 0


@dataclass
class _Turns:
    """The passes of a ``while`` over the loop in its body."""

    inner: str
    turns: int = 0
    part: float = 0.0

    def take(self, inner: Seen, frame: FrameType) -> float:
        """Return the passes done, after another observation of the loop in the body.

        Passes about as long as the time between two observations seem to be one long pass. If the
        loop is in a function that each pass calls, frames distinguish them: an observed one is
        marked, without being kept alive, by a setting that only a debugger reads.
        """
        again, frame.f_trace_lines = frame.f_trace_lines, False
        if inner.total:
            part = min(inner.done / inner.total, 1.0)
            self.turns += part < self.part or (again and self.part > 0.0)
            self.part = part
        return self.turns + self.part


def reported(percent: float) -> Seen:
    """Return the progress that a library in C reports as a loop of 1000 iterations."""
    return Seen(REPORTED, 10.0 * percent, 1000.0, bounded=True, early=False, counted=False)


class LoopWatch:
    """Finds the loops of the functions that an entry function has called.

    Parameters
    ----------
    entry : code
        Frames inside the frame of this code are observed.
    marks : bool
        Whether frames may be marked, to count the passes of a ``while``: in a process of its own.
    """

    def __init__(self, entry: CodeType, *, marks: bool = True) -> None:
        self._entry = entry
        self._marks = marks
        self._tries: Counter[str] = Counter()
        self._followed: dict[tuple[int, str], _Followed] = {}
        self._turns: dict[str, _Turns] = {}

    def look(self, frame: FrameType | None) -> list[Seen]:
        """Return the loops that `frame` is in, the outermost first; three of them at most."""
        stack: list[FrameType] = []
        while frame is not None and frame.f_code is not self._entry:
            stack.append(frame)
            frame = frame.f_back
        if frame is None:
            return []
        stack.reverse()
        found: list[Seen] = []
        frames: list[FrameType] = []  # of what is found
        skip: Loop | None = None
        for place, each in enumerate(stack):
            inner = stack[place + 1] if place + 1 < len(stack) else None
            if each.f_code.co_name in COMPREHENSIONS:
                if skip is None:
                    found.append(self._comprehension(each, inner))
                skip = None
            else:
                skip = self._function(each, inner, found, skip)
            frames += [each] * (len(found) - len(frames))
            if len(found) >= _DEPTH:
                break
        return self._turned(found[:_DEPTH], frames)

    def _turned(self, found: list[Seen], frames: list[FrameType]) -> list[Seen]:
        """Count the passes of an outermost ``while`` over a loop of known progress."""
        if not found or found[0].bounded or not self._marks:
            return found
        outer = found[0]
        inner = found[1] if len(found) > 1 else None
        turns = self._turns.get(outer.loop)
        if turns is None and inner is not None and inner.counted and inner.total:
            turns = self._turns[outer.loop] = _Turns(inner.loop)
        if turns is None or inner is None or inner.loop != turns.inner:
            return found
        done = turns.take(inner, frames[1])
        return [replace(outer, done=done, total=math.inf, bounded=True, counted=True), *found[1:]]

    def _function(
        self, frame: FrameType, inner: FrameType | None, found: list[Seen], skip: Loop | None
    ) -> Loop | None:
        """Add the loops of one frame; return a loop whose generator is the next frame."""
        line = frame.f_lineno
        loops = enclosing_loops(frame.f_code, line)
        for number, loop in enumerate(loops):
            if skip is not None and number == 0:
                continue  # the loop of a generator stands for the one that draws from it
            if loop.is_while or loop.body_holds(line):
                found.append(self._seen(loop, frame, frame))
            elif inner is not None and _is_generator(inner):
                found.append(self._drawing(loop, frame, inner))
                return loop
        return None

    def _comprehension(self, frame: FrameType, inner: FrameType | None) -> Seen:
        name = f"{frame.f_code.co_filename}:{frame.f_code.co_name}:{frame.f_code.co_firstlineno}"
        progress = comprehension_progress(frame)
        if progress is None and inner is not None and _is_generator(inner):
            progress = self._outermost(inner)
        return _seen(name, progress, early=False)

    def _drawing(self, loop: Loop, frame: FrameType, generator: FrameType) -> Seen:
        """Return the progress of a loop while the generator that it draws from runs."""
        return _seen(_name(loop, frame), self._outermost(generator), early=loop.early)

    def _outermost(self, frame: FrameType) -> Progress | None:
        if frame.f_code.co_name in COMPREHENSIONS:
            return comprehension_progress(frame)
        loops = enclosing_loops(frame.f_code, frame.f_lineno)
        return self._progress(loops[0], frame) if loops else None

    def _seen(self, loop: Loop, frame: FrameType, at: FrameType) -> Seen:
        progress = self._progress(loop, frame)
        if loop.is_while and progress is None:
            return Seen(_name(loop, at), 0.0, 0.0, bounded=False, early=True, counted=False)
        return _seen(_name(loop, at), progress, early=loop.early)

    def _progress(self, loop: Loop, frame: FrameType) -> Progress | None:
        name = _name(loop, frame)
        key = (id(frame), name)
        if len(self._followed) > _REMEMBERED:  # inner loops come and go with their frames
            self._followed = dict(list(self._followed.items())[:_DEPTH])
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


def _seen(name: str, progress: Progress | None, *, early: bool) -> Seen:
    done, total, counted = progress or Progress(0.0, 0.0)
    return Seen(name, max(done, 0.0), total, bounded=True, early=early, counted=counted)


def _name(loop: Loop, frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_code.co_name}:{loop.header}"


def _is_generator(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & inspect.CO_GENERATOR)
