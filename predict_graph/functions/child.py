"""A function call in a child process: observed, and stopped in time.

The child is forked, so that the function needs no name that another process could import. It has no
standard input, its output is discarded, and a process between it and its parent ends the processes
that the function has started (:mod:`predict_graph.processes`). Seconds are those of the CPU,
because the machine may be busy; those of finished children of the function count too.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import math
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from inspect import isawaitable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import psutil

from predict_graph import memory
from predict_graph.budget import Budget
from predict_graph.cores import meter, queued
from predict_graph.errors import described_error
from predict_graph.functions import loops
from predict_graph.processes import ENDING, death, supervise
from predict_graph.timing import CallTimer, clock

TICK_SECONDS = 0.004  # limits the cost
"""CPU seconds between two observations, which take about 50 microseconds: 1.2%."""

_OBSERVING = 0.05  # limits the part of a run that observing it takes
_SPACING = 1e-3  # limits the memory: time between two observations / time until then
# From here on the first part does not get more precise: 0.5 / sqrt(100) is 5%, and two runs differ
# by more (measured).
_MANY_ROUNDS = 100
_LONG = 30.0  # limits the seconds of few iterations, and of many ones
_LATE = 1.1  # limits how far a call that does not stop itself exceeds its limit, times
_FORKING = threading.RLock()  # children have it, and may predict themselves


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
        The loop that predicts the run; empty for any over counted elements.
    already : float
        Seconds of the budget that were spent before.
    setup : float
        Seconds of the child before the call, of building the graph.
    memory : float
        Resident bytes of the child, and of the processes that the function starts.
    """

    seconds: float = math.inf
    budget: Budget = field(default_factory=Budget)
    rounds: float = math.inf
    loop: str = ""
    already: float = 0.0
    setup: float = math.inf
    memory: float = math.inf


@dataclass
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
        Growth of the resident memory at its peak, over that with the graph built, and what the
        processes that the function started held at most, as the parent observed it.
    held : list of (float, float)
        That growth at observations of the loop that predicts the run, by the iterations done.
    graph_bytes : float
        Growth by building the graph.
    observations : list of Observation
    sentence : str
        What the function raised, or how its process ended.
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
    held: list[tuple[float, float]] = field(default_factory=list, repr=False)
    graph_bytes: float = 0.0
    observations: list[loops.Observation] = field(default_factory=list, repr=False)
    sentence: str = ""
    spent: float = 0.0
    generator: bool = False
    imported: bool = False

    @property
    def done(self) -> bool:
        """Whether the function ended."""
        return self.state == "done"


def run_in_child(
    build: Callable[[], Any],
    call: Callable[[Any], Any],
    limits: Limits | None = None,
    *,
    form: str = "",
    sample: bool = False,
) -> ChildRun:
    """Build a graph and call a function on it, in a child process.

    The library of the graph's `form` may report its progress. What the parent has is left out of
    garbage collection on a `sample`, where it would be copied for a few seconds of work; it costs
    the run itself what it costs here.
    """
    limits = limits or Limits()
    # Children of other threads would keep the sender; filters of warnings are those of all threads.
    with _FORKING, warnings.catch_warnings():
        receiver, sender = Pipe(duplex=False)
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            receiver.close()
            _in_child(_Recorder(sender, limits, form), build, call, sample)
        sender.close()
    with receiver:
        return _await_child(child, receiver, limits)


def called(call: Callable[[Any], Any], graph: Any, *, keep: bool = False) -> tuple[Any, bool]:
    """Call a function, whose frames are inside this one; return its result and whether it is lazy.

    An iterator is drawn to its end: in its place is a list to `keep`, or the number of elements.
    """
    result = call(graph)
    if isawaitable(result) or hasattr(result, "__anext__"):
        raise TypeError("the function is asynchronous: its result has to be awaited")
    if not hasattr(result, "__next__"):
        return result, False
    if keep:
        return list(result), True
    last = deque(enumerate(result, start=1), maxlen=1)  # without a frame of this module
    return (last[0][0] if last else 0), True


# --- the parent ------------------------------------------------------------------------------


def _await_child(child: int, receiver: Connection, limits: Limits) -> ChildRun:
    started = time.monotonic()
    run: ChildRun | None = None
    state, caller, most = "", child, 0
    effort, until, before = _Effort(child), limits.setup, math.inf
    try:
        while run is None and not state:
            if receiver.poll(0.05):
                try:
                    message = receiver.recv()
                except (EOFError, OSError):
                    break
                if isinstance(message, int):  # the process of the call
                    caller, most = message, 0
                    effort = _Effort(caller)
                elif isinstance(message, tuple):  # processes that the function started may go on
                    run, functions, modules = message
                else:  # the limit of the call from now on
                    before = min(before, effort.seconds())
                    until = effort.total + message
                continue
            below = memory.started_memory(caller)
            most = max(most, below)
            if effort.seconds() > until:
                state = "time"
            elif limits.memory < memory.resident_memory(caller) + below:
                state = "memory"
    finally:
        meter.observe_child(caller)
        os.kill(child, ENDING)
        _, status, usage = os.wait4(child, 0)
    spent = usage.ru_utime + usage.ru_stime
    wall = time.monotonic() - started
    if state:
        spent, held = max(spent, effort.total), limits.memory if state == "memory" else 0.0
        seconds = max(spent - before, 0.0)
        return ChildRun(state, seconds=seconds, wall=wall, spent=spent, peak_bytes=held)
    if run is None:
        return ChildRun("died", seconds=spent, wall=wall, spent=spent, sentence=death(status))
    loops.parse_ahead(functions)  # or the next child would spend time and memory on it
    for name in modules:  # in the same order
        with contextlib.suppress(Exception):  # the function may have made some itself
            importlib.import_module(name)
    peak = run.peak_bytes + most
    return replace(run, imported=bool(modules), spent=max(spent, run.seconds), peak_bytes=peak)


class _Effort:
    """The time of a child: its CPU seconds, or if it sleeps those by the clock.

    What it waits for a core is not counted.
    """

    def __init__(self, child: int) -> None:
        self._child, self._began = child, time.monotonic()
        self._queued, self.total = queued(child), 0.0

    def seconds(self) -> float:
        """Return the seconds until now, or until it has ended."""
        with contextlib.suppress(psutil.Error):
            worked = sum(psutil.Process(self._child).cpu_times()[:2])
            there = time.monotonic() - self._began - (queued(self._child) - self._queued)
            self.total = max(self.total, worked, there)
        return self.total


# --- the child -------------------------------------------------------------------------------


def _in_child(
    recorder: _Recorder, build: Callable[[], Any], call: Callable[[Any], Any], sample: bool
) -> NoReturn:
    try:
        supervise(always=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        tracking: Any = sys.modules.get("multiprocessing.resource_tracker")
        if tracking is not None:  # shared memory is freed when this ends, not when its parent does
            tracking._resource_tracker._fd = tracking._resource_tracker._pid = None
        recorder.send(os.getpid())
        _silence()
        # A quarter limits what is copied.
        if sample or memory.resident_memory() > 0.25 * memory.available_memory():
            gc.freeze()
        recorder.run(build, call)
    except BaseException:
        pass
    os._exit(70)


class _Recorder:
    """Runs one call, observes it now and then, and sends the outcome."""

    def __init__(self, sender: Connection, limits: Limits, form: str) -> None:
        self.send = sender.send
        self._modules = frozenset(sys.modules)
        self._limits, self._form = limits, form
        self._watch = loops.LoopWatch(called.__code__, self._elapsed)
        self._outcome = ChildRun("running")
        self._timer: CallTimer | None = None
        self._base = 0
        self._looking = False
        self._allowed = 0.0  # seconds of the call that the parent knows of
        self._loop = loops.Observation(0.0)  # as last observed, if it predicts the run
        self._entered = 0.0  # seconds of the observation before that loop

    def run(self, build: Callable[[], Any], call: Callable[[Any], Any]) -> None:
        self._process = os.getpid()
        memory.trim_memory()  # or the graph would be built in what the parent has left free
        before, began = memory.resident_memory(), clock.processor(children=False)
        try:
            graph = build()
            self._outcome.convert_seconds = clock.processor(children=False) - began
            memory.trim_memory()
            self._filled = memory.fill_holes()
            self._base = memory.resident_memory()
            self._outcome.graph_bytes = max(self._base - before, 0.0)
            memory.forget_peak()
            budget = self._limits.budget
            loops.report_progress(self._form, self._watch.report)
            self._allow(max(self._limits.seconds, min(budget.least_seconds, self._most_left)))
            self._timer = CallTimer()
            signal.signal(signal.SIGPROF, self._tick)
            clock.alarm(TICK_SECONDS)
            _, self._outcome.generator = called(call, graph)
        except BaseException as error:
            self._outcome.sentence = _described(error)
            self._end("error")
        self._end("done")

    def _tick(self, number: int, frame: FrameType | None) -> None:
        if self._looking or self._timer is None:  # one takes longer than the time between two
            return
        self._looking = True
        now = clock.processor()
        self._observe(self._watch.observe(frame))
        elapsed = self._elapsed()
        self._stop_in_time(elapsed)
        looked = clock.processor() - now
        self._timer.leave_out(looked)
        clock.alarm(max(TICK_SECONDS, _SPACING * elapsed, looked / _OBSERVING))
        self._looking = False

    def _elapsed(self) -> float:
        return self._timer.seconds if self._timer else 0.0

    def _observe(self, seen: loops.Observation) -> None:
        # That of a condition predicts a run only where a run on a sample was steady in it.
        own, before = self._limits.loop, self._outcome.observations[-1:]
        if seen.loop and (own == seen.loop or (not own and seen.counted)):
            if self._loop.loop != seen.loop:
                self._entered = before[0].seconds if before else 0.0
                self._outcome.held.clear()
            self._loop = seen
            self._outcome.held.append((seen.done, self._peak))
        if seen not in before:  # a library may not have reported since
            self._outcome.observations.append(seen)

    @property
    def _most_left(self) -> float:
        """The seconds of the budget that are left at most."""
        limits = self._limits
        return float(limits.budget.seconds - limits.already - self._outcome.convert_seconds)

    @property
    def _peak(self) -> float:
        return float(max(memory.resident_peak() - self._base, 0))

    def _stop_in_time(self, elapsed: float) -> None:
        limits, loop = self._limits, self._loop
        share, total = limits.budget.share or 0.0, min(loop.total, limits.rounds)
        allowed = limits.seconds
        if share and total and loop.done >= min(loops.FEW_ROUNDS, total / 2):
            predicted = self._entered + (elapsed - self._entered) * total / loop.done
            allowed = limits.budget.allowed(predicted)
            allowed -= limits.already + self._outcome.convert_seconds
            if loop.done >= _MANY_ROUNDS:
                allowed = min(allowed, _LONG)
        elif not loop.early and share * total >= loops.FEW_ROUNDS > loop.done:
            # These iterations may be within the share.
            allowed = max(allowed, min(_LONG, self._most_left))
        if elapsed >= allowed:
            self._end("stopped")
        self._allow(allowed, elapsed)

    def _allow(self, seconds: float, elapsed: float = 0.0) -> None:
        """Send the parent the limit of the call, if that has become longer."""
        if seconds > _LATE * self._allowed:
            self._allowed = seconds
            self.send(_LATE * seconds - elapsed)

    def _end(self, state: str) -> NoReturn:
        clock.alarm(0.0)
        if os.getpid() != self._process:  # a process that the function has forked, and returns
            os._exit(0)
        outcome = self._outcome
        outcome.state, outcome.seconds, outcome.peak_bytes = state, self._elapsed(), self._peak
        outcome.wall = self._timer.wall if self._timer else 0.0
        modules = [name for name in sys.modules if name not in self._modules]
        self.send((outcome, loops.PARSED, modules))
        while True:  # until the parent ends this process
            signal.pause()


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    sys.stdin = sys.stdout = sys.stderr = os.fdopen(nothing, "w+", encoding="utf-8")


def _described(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = not frames or frames[-1].filename.startswith(str(Path(__file__).parent))
    where = "" if ours else f" (line {frames[-1].lineno} of {Path(frames[-1].filename).name})"
    return described_error(error)[:300] + where
