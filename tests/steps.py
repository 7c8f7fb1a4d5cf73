"""A clock that counts what a function calls: as many seconds on any machine, however busy."""

import math
import signal
import sys
import threading
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from predict_graph import predict
from predict_graph.functions.child import ChildRun, Limits, run_in_child
from predict_graph.sizing.measuring.collecting import Job, Outcome
from predict_graph.timing import clock

OF_ONE = 1e-5
"""Seconds of one step: a function, of Python or of C, that is called or returns."""


class Steps:
    """Counted steps in place of the seconds of :data:`predict_graph.timing.clock`.

    An alarm goes off, and who waits in another thread comes round and waits again, before the
    next step is taken: what is seen of a function depends on its steps alone. Looking takes none.
    """

    def __init__(self, of_one=OF_ONE):
        self.of_one = of_one
        self._steps = 0
        self._every, self._due = 0.0, math.inf
        self._waiting: float | None = None
        self._changed = threading.Condition()

    def wall(self):
        return self._steps * self.of_one

    def processor(self, *, children=True):
        return self.wall()

    def alarm(self, every):
        self._every = every
        self._due = self.wall() + every if every else math.inf

    def wait(self, event, seconds):
        with self._changed:
            self._waiting = self.wall() + seconds
            self._changed.notify_all()
            while self.wall() < self._waiting and not event.is_set():
                self._changed.wait(0.005)  # for the event, which comes when no step is taken
            self._waiting = None
        return event.is_set()

    def take(self, frame, event, argument):
        """Take a step; what :func:`sys.setprofile` calls."""
        self._steps += 1
        if self.wall() >= self._due:
            self._due += self._every
            signal.raise_signal(signal.SIGPROF)
        if self._waiting is not None and self.wall() >= self._waiting:
            with self._changed:
                self._changed.notify_all()
                self._changed.wait_for(lambda: (self._waiting or 0.0) > self.wall(), 60.0)


@contextmanager
def counted(of_one=OF_ONE):
    """Count the steps of this thread, and of a child process, in place of seconds."""
    steps = Steps(of_one)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("wall", "processor", "alarm", "wait"):
            patch.setattr(clock, name, getattr(steps, name))
        patch.setattr(clock, "thread", lambda: steps.processor(children=False))
        # A child ends itself after its steps; its parent, which sees real seconds, never does.
        patch.setattr("predict_graph.functions.child._Effort.seconds", lambda effort: 0.0)
        sys.setprofile(steps.take)
        try:
            yield steps
        finally:
            sys.setprofile(None)


@contextmanager
def calls_by(run):
    """Let `run` make the calls of a function that is predicted, and all else take no time."""
    stopped = SimpleNamespace(thread=float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("predict_graph.functions.gathering.run_in_child", run)
        patch.setattr("predict_graph.functions.gathering.clock", stopped)
        yield


def predict_by_formula(seconds, graph, **options):
    """Predict a call that takes what a formula says of its vertices; all else takes no time."""

    def run(build, call, limits, **_):
        took, most = seconds(len(build())), max(limits.seconds, limits.budget.least_seconds)
        state, took = ("stopped", most) if took > most else ("done", took)
        return ChildRun(state, seconds=took, wall=took, spent=took)

    with calls_by(run):
        return predict(len, graph, graph_form="networkx", history="none", seed=1, **options)


def jobs_take(monkeypatch, seconds):
    """Let a measured job take what a formula says of its last two words."""

    def run(job):
        return Outcome("2026-03-01T12:00:00+00:00", seconds(*job.command[-2:]), 0, "ok", "")

    monkeypatch.setattr(Job, "run", run)


def counted_call(build, call, limits=None, **more):
    """Make a call in a child process; it takes counted steps, and nothing else takes time."""
    with counted():
        run = run_in_child(build, call, replace(limits or Limits(), setup=math.inf), **more)
    return replace(run, spent=run.convert_seconds + run.seconds)
