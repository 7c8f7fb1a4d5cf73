"""A function call in a child process: observed, and stopped in time.

The child is forked, so that the function needs no name that another process could import. It has no
standard input, its output is discarded, and a process between it and its parent ends the processes
that the function has started (:mod:`predict_graph.processes`). Seconds are those of the CPU,
because the machine may be busy; those of finished children of the function count too.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import math
import os
import signal
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from inspect import isawaitable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import psutil

from predict_graph.budget import Budget
from predict_graph.cores import meter
from predict_graph.errors import error_text
from predict_graph.functions.loops import PARSED, parse_ahead
from predict_graph.functions.watch import NO_LOOP, LoopProgress, LoopWatch, library_progress
from predict_graph.processes import ENDING, death, supervise
from predict_graph.timing import CallTimer, clock

TICK_SECONDS = 0.004  # limits the cost
"""CPU seconds between two observations, which take about 50 microseconds: 1.2%."""

_OBSERVING = 0.05  # limits the part of a run that observing it takes
_MAXIMUM_OBSERVATIONS = 2000  # limits the memory: beyond that, every other observation is dropped
_ROUNDS_FOR_STOP = 4  # iterations from which the loop predicts the run; not tuned
_PATIENT = 30.0  # limits the seconds of those iterations
# From here on the first part does not get more precise: 0.5 / sqrt(100) is 5%, and two runs differ
# by more (measured).
_ENOUGH_ROUNDS, _ENOUGH_SECONDS = 100, 30.0
_POLL_SECONDS = 0.05  # limits how late a child's end is noticed
_LATE = 1.1  # limits how far a call that does not stop itself exceeds its limit, times
_FILLED, _MOST_FILLED = 2**15, 2**26  # bytes at a time, and in all: limits the time
_HEAD = sys.getsizeof(b"")  # bytes of an object beside its content
_HERE = str(Path(__file__).parent)


@dataclass(frozen=True)
class Limits:
    """When a child is stopped.

    A call that does not react to signals, such as compiled code, is ended from outside soon after
    its limit. Time in which the child sleeps counts like CPU seconds there.

    Parameters
    ----------
    seconds : float
        CPU seconds of the call, where the function's loop does not predict the run.
    budget : Budget
        Of a run as its outermost loop predicts it; by default there is none.
    rounds : float
        Iterations of the outermost loop at most, if it is expected to end early.
    loop : str
        The loop that predicts the run; empty for any.
    already : float
        Seconds of the budget that were spent before.
    setup : float
        Seconds of the child before the call, of building the graph.
    memory : float
        Resident bytes of the child.
    """

    seconds: float = math.inf
    budget: Budget = field(default_factory=Budget)
    rounds: float = math.inf
    loop: str = ""
    already: float = 0.0
    setup: float = math.inf
    memory: float = math.inf


@dataclass(frozen=True)
class Observation:
    """An observation of a run: the loop that it is in."""

    seconds: float
    loop: LoopProgress


@dataclass(frozen=True)
class ChildRun:
    """The outcome of a call.

    Parameters
    ----------
    state : {'done', 'stopped', 'time', 'memory', 'error', 'died'}
    seconds, wall : float
        CPU time, which includes time in which it slept, and elapsed time of the call, up to its
        end or to where it stopped itself. Of a child that was ended from outside, or died, `wall`
        is that of the child.
    convert_seconds : float
        CPU seconds of building the graph.
    peak_bytes : float
        Growth of the resident memory at its peak, over that with the graph built.
    graph_bytes : float
        Growth by building the graph.
    observations : list of Observation
    error : tuple of str
        Type, text and place of what the function raised.
    spent : float
        CPU seconds of the child in all.
    generator : bool
        Whether the function returned an iterator, which was drawn to its end.
    imported : bool
        Whether modules were imported, which later children have from the start.
    """

    state: str
    seconds: float = 0.0
    wall: float = 0.0
    convert_seconds: float = 0.0
    peak_bytes: float = 0.0
    graph_bytes: float = 0.0
    observations: list[Observation] = field(default_factory=list, repr=False)
    error: tuple[str, str, str] = ("", "", "")
    spent: float = 0.0
    generator: bool = False
    imported: bool = False

    @property
    def done(self) -> bool:
        """Whether the function ended."""
        return self.state == "done"

    @property
    def sentence(self) -> str:
        """The error in words."""
        kind, text, where = self.error
        return f"{kind}{': ' if text else ''}{text}{where}"


def run_in_child(
    build: Callable[[], Any],
    call: Callable[[Any], Any],
    limits: Limits | None = None,
    *,
    progress: Callable[[Callable[[float], None]], None] | None = None,
) -> ChildRun:
    """Build a graph and call a function on it, in a child process.

    There, `progress` is called first with a function that takes percents, for libraries in C that
    report their progress.
    """
    limits = limits or Limits()
    receiver, sender = Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
        sys.stdout.flush()
        child = os.fork()
    if child == 0:
        receiver.close()
        _in_child(sender, build, call, limits, progress)
    sender.close()
    try:
        return _await_child(child, receiver, limits)
    finally:
        receiver.close()


def consume(result: Any) -> bool:
    """Draw a lazy result to its end; return whether it was one."""
    if isawaitable(result):
        raise TypeError("the function is a coroutine, which has to be awaited")
    if not hasattr(result, "__next__"):
        return False
    drain(result)
    return True


def drain(iterator: Iterator[Any]) -> int:
    """Draw an iterator to its end, keep nothing, and return the number of its elements."""
    last = deque(enumerate(iterator, start=1), maxlen=1)  # without a frame of this module
    return last[0][0] if last else 0


# --- the parent ------------------------------------------------------------------------------


def _await_child(child: int, receiver: Connection, limits: Limits) -> ChildRun:
    started = time.monotonic()
    facts, state, caller = None, "", child
    effort, until, called = _Effort(child), limits.setup, math.inf
    try:
        while facts is None and not state:
            if receiver.poll(_POLL_SECONDS):
                try:
                    message = receiver.recv()
                except (EOFError, OSError):
                    break
                if isinstance(message, int):  # the process of the call
                    caller = message
                    effort = _Effort(caller)
                elif isinstance(message, dict):  # processes that the function started may go on
                    facts = message
                else:  # the limit of the call from now on
                    called = min(called, effort.seconds())
                    until = effort.total + message
                continue
            if effort.seconds() > until:
                state = "time"
            elif limits.memory < math.inf and _resident(caller) > limits.memory:
                state = "memory"
    finally:
        meter.observe_child(caller)
        os.kill(child, ENDING)
        _, status, usage = os.wait4(child, 0)
    spent = usage.ru_utime + usage.ru_stime
    wall = time.monotonic() - started
    if state:
        spent = max(spent, effort.total)
        return ChildRun(state, seconds=max(spent - called, 0.0), wall=wall, spent=spent)
    if facts is None:
        return ChildRun("died", seconds=spent, wall=wall, spent=spent, error=death(status))
    parse_ahead(facts.pop("functions"))  # or the next child would spend time and memory on it
    modules = facts.pop("modules")
    _import_ahead(modules)
    return ChildRun(**facts, imported=bool(modules), spent=max(spent, facts["seconds"]))


class _Effort:
    """The time of a child: its CPU seconds, and the time in which it slept."""

    def __init__(self, child: int) -> None:
        self._process = None
        with contextlib.suppress(psutil.Error):  # it may have ended
            self._process = psutil.Process(child)
        self._processor, self._at = 0.0, time.monotonic()
        self.total = 0.0

    def seconds(self) -> float:
        """Return the seconds until now."""
        if self._process is None:
            return self.total
        with contextlib.suppress(psutil.Error):
            times, now = self._process.cpu_times(), time.monotonic()
            worked = times.user + times.system - self._processor
            idle = self._process.status() != psutil.STATUS_RUNNING  # asleep, or stopped
            slept = now - self._at if idle else 0.0
            self.total += max(worked, slept)
            self._processor, self._at = times.user + times.system, now
        return self.total


def _import_ahead(modules: list[str]) -> None:
    """Import what a child has imported, in the same order."""
    for name in modules:
        with contextlib.suppress(Exception):  # the function may have made some itself
            importlib.import_module(name)


def _resident(process: int | None = None) -> float:
    """Return the resident bytes of a process, by default of this one."""
    with contextlib.suppress(psutil.Error):
        return float(psutil.Process(process).memory_info().rss)
    return 0.0


# --- the child -------------------------------------------------------------------------------


def _in_child(
    sender: Connection,
    build: Callable[[], Any],
    call: Callable[[Any], Any],
    limits: Limits,
    progress: Any,
) -> NoReturn:
    try:
        supervise(always=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _track_own_resources()
        sender.send(os.getpid())
        _silence()
        gc.freeze()  # what the parent has is no work for this process's garbage collector
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 1000))
        there = frozenset(sys.modules)
        _Recorder(sender, limits, there).run(build, call, progress)
    except BaseException:
        pass
    os._exit(70)


def _track_own_resources() -> None:
    """Free shared memory of this process when it ends, not when its parent does."""
    tracking: Any = sys.modules.get("multiprocessing.resource_tracker")
    if tracking is not None:
        tracking._resource_tracker._fd = tracking._resource_tracker._pid = None


class _Recorder:
    """Runs one call, observes it now and then, and sends the outcome."""

    def __init__(self, sender: Connection, limits: Limits, modules: frozenset[str]) -> None:
        self._sender = sender
        self._process = os.getpid()
        self._modules = modules
        self._limits = limits
        self._watch = LoopWatch(self._called.__func__.__code__)  # type: ignore[attr-defined]
        self._observations: list[Observation] = []
        self._every = TICK_SECONDS
        self._timer: CallTimer | None = None
        self._facts: dict[str, float] = {}
        self._base = 0.0
        self._looking = False
        self._looked = 0.0  # seconds of observing
        self._allowed = 0.0  # seconds of the call that the parent knows of
        self._loop = NO_LOOP  # as last observed, if it predicts the run
        self._entered = 0.0  # seconds of the observation before that loop
        self._filled: list[Any] = []

    def run(self, build: Callable[[], Any], call: Callable[[Any], Any], progress: Any) -> None:
        _trim()  # or the graph would be built in what the parent has left free, and seem small
        self._filled = [_fill_holes()]
        before, began = _resident(), clock.processor(children=False)
        try:
            graph = build()
        except BaseException as error:
            self._send("error", error=_described(error))
        self._facts["convert_seconds"] = clock.processor(children=False) - began
        _trim()
        self._filled.append(_fill_holes())
        self._base = _resident()
        self._facts["graph_bytes"] = max(self._base - before, 0.0)
        forget_peak()
        if progress is not None:
            progress(self._percent)
        self._allow(max(self._limits.seconds, self._limits.budget.least_seconds))
        self._timer = CallTimer()
        signal.signal(signal.SIGPROF, self._tick)
        clock.alarm(self._every)
        try:
            lazy = self._called(call, graph)
        except BaseException as error:
            clock.alarm(0.0)
            self._send("error", error=_described(error))
        clock.alarm(0.0)
        self._send("done", generator=lazy)

    def _called(self, call: Callable[[Any], Any], graph: Any) -> bool:
        result = call(graph)
        return consume(result)

    def _tick(self, number: int, frame: FrameType | None) -> None:
        if self._looking or self._timer is None:  # one takes longer than the time between two
            return
        self._looking = True
        now = clock.processor()
        elapsed = self._timer.seconds
        self._observe(elapsed, self._watch.observe(frame))
        self._stop_in_time(elapsed)
        looked = clock.processor() - now
        self._timer.leave_out(looked)
        self._looked += looked
        owed = self._looked / _OBSERVING - elapsed
        if owed > self._every:
            signal.setitimer(signal.ITIMER_PROF, owed, self._every)
        self._looking = False

    def _percent(self, percent: float) -> None:
        """Take the progress that a library in C reports."""
        elapsed = self._timer.seconds if self._timer else 0.0
        if not self._observations or self._observations[-1].seconds < elapsed - self._every / 2:
            self._observe(elapsed, library_progress(percent))
        self._loop = library_progress(percent)
        self._stop_in_time(elapsed)

    def _observe(self, elapsed: float, loop: LoopProgress) -> None:
        if loop.name and self._limits.loop in ("", loop.name):
            if self._loop.name != loop.name:
                self._entered = self._observations[-1].seconds if self._observations else 0.0
            self._loop = loop
        self._observations.append(Observation(elapsed, loop))
        if len(self._observations) > _MAXIMUM_OBSERVATIONS:
            del self._observations[1::2]
            self._every *= 2.0
            clock.alarm(self._every)

    def _stop_in_time(self, elapsed: float) -> None:
        limits, enough, seen = self._limits, False, self._loop
        total = min(seen.total, limits.rounds)
        predicted = 0.0
        if seen.bounded and total and seen.done >= min(_ROUNDS_FOR_STOP, total / 2):
            predicted = self._entered + (elapsed - self._entered) * total / seen.done
        share = limits.budget.share or 0.0
        if share and predicted and math.isfinite(predicted):
            allowed = limits.budget.allowed(predicted)
            allowed -= limits.already + self._facts["convert_seconds"]
            enough = seen.done >= _ENOUGH_ROUNDS and elapsed >= _ENOUGH_SECONDS
        else:  # the few iterations that are useful may be within the share, if there are many
            few = not seen.early and share * total >= _ROUNDS_FOR_STOP > seen.done
            allowed = max(limits.seconds, _PATIENT) if few else limits.seconds
        if enough or elapsed >= allowed:
            clock.alarm(0.0)
            self._send("stopped")
        self._allow(allowed, elapsed)

    def _allow(self, seconds: float, elapsed: float = 0.0) -> None:
        """Send the parent the limit of the call, if that has become longer."""
        if seconds > _LATE * self._allowed:
            self._allowed = seconds
            self._sender.send(_LATE * seconds - elapsed)

    def _send(self, state: str, **more: Any) -> NoReturn:
        if os.getpid() != self._process:  # a process that the function has forked, and returns
            os._exit(0)
        facts = {
            **self._facts,
            **more,
            "state": state,
            "seconds": self._timer.seconds if self._timer else 0.0,
            "wall": self._timer.wall if self._timer else 0.0,
            "peak_bytes": max(resident_peak() - self._base, 0.0),
            "observations": self._observations,
            "functions": PARSED,
            "modules": [name for name in sys.modules if name not in self._modules],
        }
        self._sender.send(facts)
        while True:  # until the parent ends this process
            signal.pause()


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stdout


def _described(error: BaseException) -> tuple[str, str, str]:
    where = ""
    frames = traceback.extract_tb(error.__traceback__)
    if frames and not frames[-1].filename.startswith(_HERE):
        where = f" (line {frames[-1].lineno} of {Path(frames[-1].filename).name})"
    return type(error).__name__, error_text(error)[:300], where


def _trim() -> None:
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _fill_holes() -> list[Any]:
    """Fill memory that Python holds without using it, which no trimming gives back.

    A small call that fits there seems to take none, unlike a large one. Python has pools for
    objects of each multiple of 16 bytes up to 512; each is filled until the process grows.
    """
    kept, left, before = [], _MOST_FILLED, _resident()
    for size in range(512, 32, -16):  # large ones first: they take the pools that are all free
        while left > 0:
            kept.append([bytes(size - _HEAD) for _ in range(_FILLED // size)])
            left -= _FILLED
            now = _resident()
            grown, before = now - before, now
            if grown - sys.getsizeof(kept[-1]) > 0.5 * _FILLED:
                break
    return kept


def forget_peak() -> None:
    """Let the peak of the resident memory begin anew (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def resident_peak() -> float:
    """Return the peak of this process's resident memory, bytes."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) * 1024.0
    import resource

    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024.0
