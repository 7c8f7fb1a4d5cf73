"""Watching a running function from outside: at each look, its outermost loops and how far they are.

A look costs some ten microseconds and changes nothing: it reads frames, the syntax tree of the
functions that are running, and local variables.
"""

from __future__ import annotations

import inspect
import math
from collections import Counter
from dataclasses import dataclass, replace
from types import CodeType, FrameType

from predict_graph.functions.loops import COMPREHENSIONS, Loop, enclosing_loops
from predict_graph.functions.position import (
    DearError,
    Progress,
    Reader,
    comprehension_progress,
    reader_of,
)
from predict_graph.timing import clock

__all__ = ["REPORTED", "LoopWatch", "Seen", "reported"]

REPORTED = "progress"
"""Name of the loop that stands for what a library in C reports of its progress."""

_DEPTH = 3  # loops, from the outermost on, whose place is read; a choice
_SIGHTINGS = 2  # looks after which a loop's place is worth finding; a choice: what a look costs
_TRIES = 3  # in a row, to read a loop; a choice: what a look costs
_REMEMBERED = 100  # a choice: their memory


@dataclass(frozen=True)
class Seen:
    """A loop as one look found it.

    Parameters
    ----------
    loop : str
        ``file:function:line`` of its header.
    done, total : float
        Rounds; both 0 where nothing tells. Of a ``while`` that goes through a loop again and again
        these are its rounds so far, with part of one, and infinity.
    bounded : bool
        False for a ``while`` whose condition tells nothing.
    early : bool
        Whether its last round may come before `total`.
    counted : bool
        Whether `done` counts elements that the loop goes through. Otherwise it is what the
        condition of a ``while``, or a library, tells, and a run that came to its end has to show
        that it goes with time.
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
    """How often a ``while`` has gone through the loop in its body, and how far that is."""

    inner: str
    turns: int = 0
    part: float = 0.0

    def take(self, inner: Seen, frame: FrameType) -> float:
        """Return the rounds done, after another look at the loop in the body and its frame.

        Rounds about as long as the time between two looks seem to be one long round. Where a loop
        is in a function that is called in each, frames tell: one that was seen is marked, without
        being kept alive, by a setting that only a debugger reads.
        """
        again, frame.f_trace_lines = frame.f_trace_lines, False
        if inner.total:
            part = min(inner.done / inner.total, 1.0)
            self.turns += part < self.part or (again and self.part > 0.0)
            self.part = part
        return self.turns + self.part


def reported(percent: float) -> Seen:
    """Return what a library in C reports of its progress, as a loop of 1000 rounds."""
    return Seen(REPORTED, 10.0 * percent, 1000.0, bounded=True, early=False, counted=False)


class LoopWatch:
    """Finds the loops of whatever an entry function has called.

    Parameters
    ----------
    entry : code
        Frames inside the frame of this code are watched.
    share : float
        Of the processor seconds since, that finding out how to read loops may take. Infinity is
        for a process of its own, in which frames may be marked.
    """

    def __init__(self, entry: CodeType, share: float = math.inf) -> None:
        self._entry = entry
        self._share = share
        self._began = clock.processor(children=False)
        self._finding = 0.0
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
        """Tell the rounds of an outermost ``while``, if the loop inside it tells its own."""
        if not found or found[0].bounded or math.isfinite(self._share):
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
                continue  # the loop of a generator: what draws from it has stood for it
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
        """Return how far a loop is while the generator that it draws from is at work."""
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
            followed.reader, progress = self._found(name, loop, frame)
        return progress

    def _found(
        self, name: str, loop: Loop, frame: FrameType
    ) -> tuple[Reader | None, Progress | None]:
        """Find out how to read a loop and read it, if that does not take too long."""
        allowed = math.inf
        if math.isfinite(self._share):
            allowed = self._share * (clock.processor(children=False) - self._began) - self._finding
        if allowed <= 0.0:
            return None, None
        began = clock.thread()
        reader, progress = None, None
        try:
            reader = reader_of(loop, frame, allowed)
            progress = None if reader is None else reader(frame)
            self._tries[name] = 0 if progress is not None else self._tries[name] + 1
        except DearError:  # later, when the run has taken longer
            pass
        self._finding += clock.thread() - began
        return reader, progress


def _seen(name: str, progress: Progress | None, *, early: bool) -> Seen:
    done, total, counted = progress or Progress(0.0, 0.0)
    return Seen(name, max(done, 0.0), total, bounded=True, early=early, counted=counted)


def _name(loop: Loop, frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_code.co_name}:{loop.header}"


def _is_generator(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & inspect.CO_GENERATOR)
