"""A function call in a child process: watched, stopped in time, and never in the way of its parent.

The child is forked, so that the function needs no name that another process could import. It has no
standard input, what it prints is thrown away, and a process between it and its parent ends whatever
the function has started (:mod:`predict_graph.processes`). Seconds are processor seconds, because
the machine may be busy with something else; those of processes that the function itself waits for
count too.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import math
import os
import pickle
import select
import signal
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from inspect import isawaitable
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import psutil

from predict_graph.cores import meter
from predict_graph.errors import error_text
from predict_graph.functions.loops import parse_ahead, parsed_functions
from predict_graph.functions.watch import LoopWatch, Seen, reported
from predict_graph.processes import ENDING, supervise
from predict_graph.timing import clock

__all__ = [
    "TICK_SECONDS",
    "ChildRun",
    "Limits",
    "Look",
    "consumed",
    "drawn",
    "forget_peak",
    "processor_seconds",
    "resident_peak",
    "run_in_child",
]

TICK_SECONDS = 0.004  # a choice, of what looking costs
"""Processor seconds between two looks: one takes about 50 microseconds, 1.2% of a short run."""

_LOOKING = 0.05  # of a run that looking at it may take, where a look takes long: a choice
_MOST_LOOKS = 2000  # kept of one run, then every other one goes; a choice, of memory
_ROUNDS_FOR_STOP = 8  # done before the loop itself says how long the run will be; judgement
_WARM_UP_SECONDS = 3.0  # a choice: importing what is large takes two
_TELLING_ROUNDS = 4  # without which a first part says nothing; judgement
_LOOKS_TO_KNOW = 5  # until a loop that is bounded says how many rounds it has; a choice
_PATIENT = 30.0  # seconds that these may take, where one alone takes long; a choice
_CAUTION = 0.25  # of what the first few rounds say, which may be slow ones; judgement
# From here on the first part says as much as it ever will: 0.5 / sqrt(100) is 5%, part of which
# is left; two runs differ by more (measured).
_ENOUGH_ROUNDS, _ENOUGH_SECONDS = 100, 30.0
_POLL_SECONDS = 0.05  # a choice: how late a child's end is seen
_LATE = 1.1  # times its limit, after which a call that has not stopped by itself is ended: a choice
_FILLED, _MOST_FILLED = 2**15, 2**26  # bytes at a time, and in all: some hundredths of a second
_HEAD = sys.getsizeof(b"")  # bytes of an object beside what it holds
_HEADER = 8  # bytes of a message's length; by definition
_HERE = str(Path(__file__).parent)


@dataclass(frozen=True)
class Limits:
    """When a child is stopped.

    What does not react to signals, such as one call of compiled code, is ended from outside soon
    after its limit. Time in which the child sleeps counts like processor seconds there.

    Parameters
    ----------
    seconds : float
        Processor seconds of the call, where the function's loop does not say how long it will take.
    share : float
        Of the run as the outermost loop predicts it, after which the call is stopped; 0 for never.
    floor : float
        Seconds that it may take in any case.
    most : float
        Seconds that the share may be.
    rounds : float
        Of the outermost loop at most, if it is expected to end early.
    loop : str
        The loop whose rounds say how long the run takes; one before it says nothing. Empty: any.
    already : float
        Seconds that were spent before, of what the share, the floor and the most are.
    setup : float
        Seconds of the child before the call: of warming up, and of building the graph.
    wall : float
        Seconds by the clock.
    memory : float
        Resident bytes of the child.
    """

    seconds: float = float("inf")
    share: float = 0.0
    floor: float = 0.0
    most: float = float("inf")
    rounds: float = float("inf")
    loop: str = ""
    already: float = 0.0
    setup: float = float("inf")
    wall: float = float("inf")
    memory: float = float("inf")


@dataclass(frozen=True)
class Look:
    """What was seen at one moment of a run."""

    seconds: float
    loops: list[Seen]


@dataclass(frozen=True)
class ChildRun:
    """What became of a call.

    Parameters
    ----------
    state : {'done', 'stopped', 'time', 'memory', 'error', 'died'}
    seconds, wall : float
        Of the call, on the processor and by the clock; up to its end or to where it was stopped.
    convert_seconds : float
        Processor seconds of building the graph.
    peak_bytes : float
        Growth of the resident memory at its peak, over that with the graph built.
    graph_bytes : float
        Growth by building the graph.
    looks : list of Look
    error : tuple of str
        Type and text of what the function raised, and where.
    spent : float
        Processor seconds of the child in all.
    generator : bool
        Whether the function returned an iterator, which was drawn to its end.
    warm_seconds : float
        Of the call before it, on the processor; infinite if it did not come to its end.
    """

    state: str
    seconds: float = 0.0
    wall: float = 0.0
    convert_seconds: float = 0.0
    peak_bytes: float = 0.0
    graph_bytes: float = 0.0
    looks: list[Look] = field(default_factory=list, repr=False)
    error: tuple[str, str, str] = ("", "", "")
    spent: float = 0.0
    generator: bool = False
    warm_seconds: float = 0.0

    @property
    def done(self) -> bool:
        """Whether the function came to its end."""
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
    warm_up: Callable[[], Any] | None = None,
) -> ChildRun:
    """Build a graph and call a function on it, in a child process.

    Parameters
    ----------
    build : callable
        Returns the graph, in the child.
    call : callable
        Takes the graph.
    limits : Limits, optional
    progress : callable, optional
        Called in the child with a function that takes percents, for libraries in C that report
        their progress.
    warm_up : callable, optional
        Called in the child first; what it raises does not matter, and if it does not end, it is
        given up. A first call imports modules, and copies the pages of memory that it shares with
        the parent.

    Returns
    -------
    ChildRun
    """
    limits = limits or Limits()
    receiver, sender = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
        sys.stdout.flush()
        child = os.fork()
    if child == 0:
        os.close(receiver)
        _in_child(sender, build, call, limits, progress, warm_up)
    os.close(sender)
    try:
        return _awaited(child, receiver, limits)
    finally:
        os.close(receiver)


def consumed(result: Any) -> bool:
    """Draw what is left of a lazy result; return whether it was one."""
    if isawaitable(result):
        raise TypeError("the function is a coroutine, which has to be awaited")
    if not hasattr(result, "__next__"):
        return False
    drawn(result)
    return True


def drawn(iterator: Iterator[Any]) -> int:
    """Draw an iterator to its end, keep nothing, and return how many elements it had."""
    last = deque(enumerate(iterator, start=1), maxlen=1)  # no frame of ours is in the way of looks
    return last[0][0] if last else 0


# --- the parent ------------------------------------------------------------------------------


def _awaited(child: int, receiver: int, limits: Limits) -> ChildRun:
    started = time.monotonic()
    data, facts, state, caller = b"", None, "", child
    effort, until, called = _Effort(child), limits.setup, math.inf
    try:
        while facts is None and not state:
            ready, _, _ = select.select([receiver], [], [], _POLL_SECONDS)
            if ready:
                part = os.read(receiver, 1 << 20)
                if not part:
                    break
                messages, data = _messages(data + part)
                for message in messages:
                    if isinstance(message, int):  # who makes the call
                        caller = message
                        effort = _Effort(caller)
                    elif isinstance(message, dict):  # what the function has started may go on
                        facts = message
                    else:  # the call may take so long from now on
                        called = min(called, effort.seconds())
                        until = effort.total + message
                continue
            if time.monotonic() - started > limits.wall or effort.seconds() > until:
                state = "time"
            elif limits.memory < float("inf") and _resident(caller) > limits.memory:
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
        return ChildRun("died", seconds=spent, wall=wall, spent=spent, error=_death(status))
    # For the next child, which would spend time on them again, and whose memory they would be in.
    parse_ahead(facts.pop("functions"))
    _import_ahead(facts.pop("modules"))
    return ChildRun(**facts, spent=spent)


class _Effort:
    """What a child has taken: its processor seconds, and the time in which it slept."""

    def __init__(self, child: int) -> None:
        self._process = psutil.Process(child)
        self._processor, self._at = 0.0, time.monotonic()
        self.total = 0.0

    def seconds(self) -> float:
        """Look, and return the seconds until now."""
        with contextlib.suppress(psutil.Error):
            times, now = self._process.cpu_times(), time.monotonic()
            worked = times.user + times.system - self._processor
            slept = now - self._at if self._process.status() == psutil.STATUS_SLEEPING else 0.0
            self.total += max(worked, slept)
            self._processor, self._at = times.user + times.system, now
        return self.total


def _messages(data: bytes) -> tuple[list[Any], bytes]:
    """Return the messages that are complete, and what is left: the length of each comes first."""
    found = []
    while len(data) >= _HEADER:
        end = _HEADER + int.from_bytes(data[:_HEADER], "big")
        if len(data) < end:
            break
        found.append(pickle.loads(data[_HEADER:end]))
        data = data[end:]
    return found, data


def _import_ahead(modules: list[str]) -> None:
    """Import what a child has imported, in the same order: what the function loads when called."""
    for name in modules:
        with contextlib.suppress(Exception):  # one that the function has made is none
            importlib.import_module(name)


def _death(status: int) -> tuple[str, str, str]:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        try:
            name = signal.Signals(number).name
        except ValueError:  # a real-time signal has a number only
            name = f"signal {number}"
        said = signal.strsignal(number)
        return "it crashed", name if said is None else f"{name}, {said.lower()}", ""
    return "it ended its process", f"exit status {os.waitstatus_to_exitcode(status)}", ""


def _resident(process: int) -> float:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


# --- the child -------------------------------------------------------------------------------


def _in_child(
    sender: int,
    build: Callable[[], Any],
    call: Callable[[Any], Any],
    limits: Limits,
    progress: Any,
    warm_up: Callable[[], Any] | None,
) -> NoReturn:
    try:
        supervise(always=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        _track_own_resources()
        _tell(sender, os.getpid())
        _silence()
        gc.freeze()  # what the parent has is no work for this process's garbage collector
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 1000))
        there = frozenset(sys.modules)
        here, began = os.getpid(), clock.processor()
        ended = warm_up is None or _ended_in_time(warm_up)
        if os.getpid() != here:  # forked by the function
            os._exit(0)
        warming = clock.processor() - began if ended else math.inf
        _Recorder(sender, limits, warming, there).run(build, call, progress)
    except BaseException:
        pass
    os._exit(70)


def _track_own_resources() -> None:
    """Let shared memory of this process be freed when it ends, not when its parent does."""
    tracking: Any = sys.modules.get("multiprocessing.resource_tracker")
    if tracking is not None:
        tracking._resource_tracker._fd = tracking._resource_tracker._pid = None


def _tell(sender: int, message: Any) -> None:
    """Send a message to the parent."""
    content = pickle.dumps(message)
    data = memoryview(len(content).to_bytes(_HEADER, "big") + content)
    while data:
        data = data[os.write(sender, data) :]


class _GivenUpError(BaseException):
    """What was to warm up did not come to its end."""


def _ended_in_time(warm_up: Callable[[], Any]) -> bool:
    """Call what warms up, and give it up after a while: a tiny graph may be a hard one."""

    def give_up(*_: Any) -> NoReturn:
        raise _GivenUpError

    signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, _WARM_UP_SECONDS)
    try:
        try:
            warm_up()
        except _GivenUpError:
            raise
        except BaseException:  # the call itself will raise it again, and say so
            pass
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    except _GivenUpError:
        return False
    return True


class _Recorder:
    """Runs one call, looks at it now and then, and sends what it saw."""

    def __init__(
        self, sender: int, limits: Limits, warming: float, modules: frozenset[str]
    ) -> None:
        self._sender = sender
        self._process = os.getpid()
        self._modules = modules
        self._limits = limits
        self._watch = LoopWatch(self._called.__func__.__code__)  # type: ignore[attr-defined]
        self._looks: list[Look] = []
        self._every = TICK_SECONDS
        self._started = 0.0
        self._wall = 0.0
        self._facts: dict[str, float] = {"warm_seconds": warming}
        self._base = 0.0
        self._looking = False
        self._looked = 0.0  # seconds that looking has taken
        self._allowed = 0.0  # seconds of the call that the parent knows of
        self._reported = (0.0, 0.0)  # seconds of the whole: predicted, and by the first rounds
        self._filled: list[Any] = []

    def run(self, build: Callable[[], Any], call: Callable[[Any], Any], progress: Any) -> None:
        _trim()  # or the graph would be built in what the parent has left free, and seem small
        self._filled = [_fill_holes()]
        before, began = _resident(os.getpid()), clock.processor(children=False)
        try:
            graph = build()
        except BaseException as error:
            self._send("error", error=_described(error))
        self._facts["convert_seconds"] = clock.processor(children=False) - began
        _trim()
        self._filled.append(_fill_holes())
        self._base = _resident(os.getpid())
        self._facts["graph_bytes"] = max(self._base - before, 0.0)
        forget_peak()
        if progress is not None:
            progress(self._percent)
        self._allow(max(self._limits.seconds, self._limits.floor))
        self._wall = clock.wall()
        self._started = processor_seconds()
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
        return consumed(result)

    def _tick(self, number: int, frame: FrameType | None) -> None:
        if self._looking:  # a look that takes longer than the time between two
            return
        self._looking = True
        now = processor_seconds()
        elapsed = now - self._started
        self._keep(Look(elapsed, self._watch.look(frame)))
        loops = self._looks[-1].loops
        if loops and self._limits.loop and loops[0].loop != self._limits.loop:
            loops = []
        done = loops[0].done if loops and loops[0].bounded else 0.0
        predicted, rough = self._reported  # by a library in C, which no frame shows at work
        total = 0.0
        if loops:
            predicted = _foretold(elapsed, self._looks, self._limits.rounds)
            if loops[0].bounded and not loops[0].early:
                # How many there are is not known at the first look.
                known = loops[0].total or (math.inf if len(self._looks) < _LOOKS_TO_KNOW else 0.0)
                total = min(known, self._limits.rounds)
            most = min(loops[0].total, self._limits.rounds)
            rough = elapsed * most / done if done and math.isfinite(most) else 0.0
        self._stop_in_time(elapsed, predicted, rough, done, total)
        looked = processor_seconds() - now
        self._started += looked  # looking is not part of the run
        self._looked += looked
        owed = self._looked / _LOOKING - elapsed
        if owed > self._every:
            signal.setitimer(signal.ITIMER_PROF, owed, self._every)
        self._looking = False

    def _percent(self, percent: float) -> None:
        """Take the progress that a library in C reports."""
        elapsed = processor_seconds() - self._started
        seen = reported(percent)
        if not self._looks or self._looks[-1].seconds < elapsed - self._every / 2:
            self._keep(Look(elapsed, [seen]))
        rough = elapsed * 100.0 / percent if percent > 0.0 else 0.0
        self._reported = (rough if percent >= 1.0 else 0.0, rough)
        self._stop_in_time(elapsed, *self._reported)

    def _keep(self, look: Look) -> None:
        self._looks.append(look)
        if len(self._looks) > _MOST_LOOKS:
            del self._looks[1::2]
            self._every *= 2.0
            clock.alarm(self._every)

    def _stop_in_time(
        self, elapsed: float, predicted: float, rough: float, done: float = 0.0, total: float = 0.0
    ) -> None:
        limits, enough = self._limits, False
        if limits.share and predicted:
            allowed = max(limits.floor, min(limits.share * predicted, limits.most))
            allowed -= limits.already + self._facts["convert_seconds"]
            enough = done >= _ENOUGH_ROUNDS and elapsed >= _ENOUGH_SECONDS
        else:  # what the first rounds say keeps a run from being stopped long before its share
            allowed = max(limits.seconds, _CAUTION * limits.share * rough)
            # The few rounds that say something are within the share, if there are enough in all.
            few = limits.share * total >= _TELLING_ROUNDS > done
            allowed = max(allowed, _PATIENT) if few else allowed
        if enough or elapsed >= allowed:
            clock.alarm(0.0)
            self._send("stopped")
        self._allow(allowed, elapsed)

    def _allow(self, seconds: float, elapsed: float = 0.0) -> None:
        """Tell the parent how long the call may take, if that is longer than it was told."""
        if seconds > _LATE * self._allowed:
            self._allowed = seconds
            _tell(self._sender, _LATE * seconds - elapsed)

    def _send(self, state: str, **more: Any) -> NoReturn:
        if os.getpid() != self._process:  # a process that the function has forked, and returns
            os._exit(0)
        facts = {
            **self._facts,
            **more,
            "state": state,
            "seconds": processor_seconds() - self._started if self._started else 0.0,
            "wall": clock.wall() - self._wall if self._wall else 0.0,
            "peak_bytes": max(resident_peak() - self._base, 0.0),
            "looks": self._looks,
            "functions": parsed_functions(),
            "modules": [name for name in sys.modules if name not in self._modules],
        }
        _tell(self._sender, facts)
        while True:  # until the parent has looked at this process, and ends it
            signal.pause()


def _foretold(elapsed: float, looks: list[Look], rounds: float) -> float:
    """Return how long the outermost loop would take at its pace so far; 0 where it is not known."""
    loops = looks[-1].loops
    if not loops or not loops[0].bounded or not loops[0].total:
        return 0.0
    seen = loops[0]
    total = min(seen.total, rounds)
    if math.isinf(total) or seen.done < min(_ROUNDS_FOR_STOP, total / 2):
        return 0.0
    # It was entered between the first look that found it and the one before; rounds went by until
    # then, so that the later of the two would make the pace of the first few too fast.
    entered = 0.0
    for look in looks:
        if look.loops and look.loops[0].loop == seen.loop:
            break
        entered = look.seconds
    return entered + (elapsed - entered) * total / seen.done


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stdout


def processor_seconds(*, children: bool = True) -> float:
    """Return the processor seconds of this process, and of those that it has waited for."""
    return clock.processor(children=children)


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
    """Fill what Python holds of memory and does not use, which no trimming gives back.

    A small call that finds room there seems to take nothing, and a large one does not: what is
    seen on samples would say nothing of the graph. Python has pools for objects of each multiple
    of 16 bytes up to 512; each is filled until the process grows.
    """
    kept, left, before = [], _MOST_FILLED, _resident(os.getpid())
    for size in range(512, 32, -16):  # large ones first: they take the pools that are all free
        while left > 0:
            kept.append([bytes(size - _HEAD) for _ in range(_FILLED // size)])
            left -= _FILLED
            now = _resident(os.getpid())
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
