"""Ending all that a process has started, also what left its process group or its parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pickle
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.pool import ExceptionWithTraceback  # type: ignore[attr-defined]
from types import FrameType
from typing import Any, NoReturn

import psutil

from predict_graph.errors import JobError

ENDING = signal.SIGHUP
"""Sent to a supervising process: end what runs, and all that it has started, at once."""
PATIENCE = 5.0  # seconds between SIGTERM and SIGKILL; not tuned

_LIBRARY = ctypes.CDLL(None)  # loaded before a fork, which may find a lock of the loader taken


def supervise(*, always: bool, timeout: float | None = None) -> None:
    """Return in a child of this process, which waits for it, ends what it leaves, and ends alike.

    For a process that was forked to run one thing. The child leads a process group. What it starts
    stays below this process on Linux, whatever session it opens: SIGTERM goes to the child's group,
    as it does after the timeout, and soon after that, on :data:`ENDING`, or when the parent of this
    process dies, the child is killed.
    """
    parent = os.getppid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, a child would end unseen
    _LIBRARY.prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    # They wait until they are taken: a handler would not run if one came just before a wait began.
    taken = {signal.SIGCHLD, signal.SIGTERM, ENDING}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, taken)
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        with contextlib.suppress(OSError):
            os.setpgid(0, 0)
        _end_with(os.getppid(), signal.SIGKILL)
        return
    # Whoever reads what the child writes sees its end.
    os.closerange(0, 1 + max(map(int, os.listdir("/proc/self/fd"))))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with(parent, ENDING)
    asked, ended, status = always, 0, 0
    until, overdue = time.monotonic() + (timeout or threading.TIMEOUT_MAX), signal.SIGTERM
    while not ended:
        seen = signal.sigtimedwait(taken, max(until - time.monotonic(), 0.0))
        number = overdue if seen is None else seen.si_signo
        if number == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            continue
        asked = True
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL) if number == ENDING else os.killpg(child, number)
        until, overdue = time.monotonic() + PATIENCE, ENDING
    if asked:
        _end_the_rest()
    if os.WIFSIGNALED(status):
        with contextlib.suppress(OSError):
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {os.WTERMSIG(status)})
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def in_fork(call: Callable[[], Any], failure: str) -> Any:
    """Return what a call returns, in a fork of this process; say what else ended that.

    The fork has the same streams and terminal, which sends an interrupt to both processes.
    """
    with tempfile.TemporaryFile() as outcome:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        parent, child = os.getpid(), os.fork()
        if child == 0:
            _end_with(parent, signal.SIGKILL)
            _answer_into(outcome, call)
        try:
            _, status = os.waitpid(child, 0)
        except BaseException:  # an interrupt
            process = psutil.Process(child)
            process.terminate()
            if psutil.wait_procs([process], timeout=5.0)[1]:
                process.kill()
            raise
        outcome.seek(0)
        try:
            found = pickle.load(outcome)
        except EOFError:
            raise JobError(f"{failure}: {death(status)}") from None
    if isinstance(found, BaseException):
        raise found
    return found


def _answer_into(outcome: Any, call: Callable[[], Any]) -> NoReturn:
    """Write what a call returns or raises to a file, and end this process."""
    this = os.getpid()
    _interrupt_once()
    try:
        try:
            found = call()
        except BaseException as error:
            found = ExceptionWithTraceback(error, error.__traceback__)
        if os.getpid() == this:  # not forked by the call
            outcome.write(pickle.dumps(found))
            for stream in (outcome, sys.stdout, sys.stderr):
                stream.flush()
    finally:
        os._exit(0)


def _interrupt_once() -> None:
    """Let interrupts after the first, which a terminal and the parent send, do nothing."""
    usual: dict[int, Any] = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}

    def interrupt(number: int, frame: FrameType | None) -> None:
        try:
            usual[number](number, frame)
        except KeyboardInterrupt:
            for each in usual:
                signal.signal(each, lambda *_: None)
            raise

    for number, handler in usual.items():
        if callable(handler):
            signal.signal(number, interrupt)


def death(status: int) -> str:
    """Describe how a process ended that did not end as it should, from its wait status."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        names = {each.value: each.name for each in signal.Signals}  # not of real-time signals
        said = [names.get(number, f"signal {number}"), (signal.strsignal(number) or "").lower()]
        return f"it crashed: {', '.join(filter(None, said))}"
    return f"it ended its process: exit status {os.waitstatus_to_exitcode(status)}"


def _end_the_rest(grace: float = 5.0) -> None:
    """Ask all processes below this one to end, and kill those that are left after some seconds."""
    asked: set[int] = set()
    began, this = time.monotonic(), psutil.Process()
    while _has_children() and time.monotonic() < began + 2.0 * grace:
        left = this.children(recursive=True)
        late = time.monotonic() > began + grace
        for each in left:
            with contextlib.suppress(psutil.Error):
                if late:
                    each.kill()
                elif each.pid not in asked:
                    each.terminate()
        asked.update(each.pid for each in left)
        psutil.wait_procs(left, timeout=0.01)


def _has_children() -> bool:
    """Whether there are any, of those that have ended one after the other taken away."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def _end_with(parent: int, number: signal.Signals) -> None:
    """Let this process get a signal when its parent ends, which may have been already (Linux)."""
    _LIBRARY.prctl(1, number)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os.kill(os.getpid(), number)
