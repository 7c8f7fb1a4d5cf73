"""A run that is followed: its clock, from what is expected before it starts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any

from predict_graph.algorithms import Algorithm
from predict_graph.clock.moment import Moment
from predict_graph.clock.supersteps import Expected, SuperstepClock, expected_of, read_expected
from predict_graph.engines import Engine, RunProfile
from predict_graph.engines.local import LocalEngine
from predict_graph.errors import RequestError
from predict_graph.history import History
from predict_graph.outcome import Prediction
from predict_graph.prediction.case import Case
from predict_graph.prediction.pipeline import predict_on
from predict_graph.prediction.request import check_request
from predict_graph.prediction.sources import BaselineEstimate, EarlierRuns
from predict_graph.stopwatch import Stopwatch

# A prediction, its JSON as a mapping, or a file of that.
Expect = Prediction | Mapping[str, Any] | str | PathLike[str]


def check_expect(expect: Expect) -> tuple[Expected, Mapping[str, Any]]:
    """Return what a prediction expects, and its JSON.

    Raises
    ------
    RequestError
        If it is no prediction of an algorithm.
    """
    if isinstance(expect, Prediction):
        document: Mapping[str, Any] = expect.to_dict()
        return expected_of(document, "the prediction"), document
    if isinstance(expect, Mapping):
        return expected_of(expect, "expect"), expect
    return read_expected(expect)


def check_fits(
    document: Mapping[str, Any], algorithm: Algorithm, engine: Engine, graph: Any
) -> None:
    """Check that a prediction is one of the run that begins.

    Parameters
    ----------
    document : mapping
    algorithm : Algorithm
    engine : Engine
    graph : Graph or PackedGraph

    Raises
    ------
    RequestError
        If it is of another algorithm, parameter, graph or engine.
    """
    described = engine.describe()
    predicted = document.get("engine", {})
    given, own = document["algorithm"].get("parameters", {}), algorithm.to_dict()
    sizes = document.get("graph", {})
    pairs: list[tuple[str, Any, Any]] = [
        ("algorithm", document["algorithm"]["name"], algorithm.name),
        ("engine", predicted.get("name"), engine.name),
        ("machines", predicted.get("machines"), described.get("machines")),
        ("threads", predicted.get("threads"), described.get("threads")),
        *((f"parameter {name}", given.get(name), own.get(name)) for name in sorted({*given, *own})),
        ("number of vertices", sizes.get("vertices"), graph.vertices),
        ("number of edges", sizes.get("edges"), graph.edges),
    ]
    for what, expected, actual in pairs:
        if expected != actual:
            raise RequestError(
                f"what is expected is of the {what} {expected}, but the run has {actual}; "
                "accepted: a prediction of this run"
            )


class Follower:
    """What an engine calls as it runs: it reports moments.

    Parameters
    ----------
    tell : callable
        Called with a :class:`~predict_graph.clock.moment.Moment` as the run begins, as its
        supersteps begin, after each of them, and at its end.
    algorithm : Algorithm
    engine : Engine
    history : History, optional
    expect : Prediction, mapping or path, optional

    Raises
    ------
    RequestError
        If `expect` is no prediction of an algorithm.
    """

    def __init__(
        self,
        tell: Callable[[Moment], None],
        algorithm: Algorithm,
        engine: Engine,
        history: History | None,
        expect: Expect | None = None,
    ) -> None:
        self._watch = Stopwatch()  # loading compiled code is no part of a run
        self._tell = tell
        self._algorithm, self._engine, self._history = algorithm, engine, history
        self._given = None if expect is None else check_expect(expect)
        self._graph: Any = None
        self._begun, self._known, self._last = False, 0.0, 0.0
        self.clock = SuperstepClock(None if self._given is None else self._given[0])

    def knows(self, graph: Any) -> None:
        """Take note of the graph, which has been read: what is expected is then known.

        Raises
        ------
        RequestError
            If what was given is expected of another run.
        """
        if self._graph is not None:
            return
        self._graph = graph
        if self._given is not None:
            expected, document = self._given
            check_fits(document, self._algorithm, self._engine, graph)
        else:
            expected = expected_before(self._algorithm, self._engine, graph, self._history)
        self.clock = SuperstepClock(expected)
        if not self._begun:  # Spark reads later; a graph in memory was read before the run
            self._known = self._watch.seconds
            read = expected.read if isinstance(self._engine, LocalEngine) else 0.0
            self.clock.expected = expected.later(self._known - read)
        self._now()

    def begins(self, algorithm: Algorithm, graph: Any, threshold: float, limit: int) -> None:
        """Take note that the supersteps of an algorithm begin."""
        self._begun = True
        self.knows(graph)
        at = self._watch.seconds
        self.clock.begins(algorithm.name, at, threshold=threshold, limit=limit)

    def __call__(self, iteration: int, aggregate: float) -> None:
        """Take note of a superstep."""
        if not self._begun:  # by an engine that does not say when
            own, vertices = self._algorithm, self._graph.vertices
            self.begins(own, self._graph, own.threshold(vertices), own.max_iterations)
        self.clock.superstep(iteration, self._watch.seconds, aggregate)
        self._now()

    def superstep(self, iteration: int, ended: float) -> None:
        """Take note of a superstep that ended at a moment, in seconds since 1970."""
        since = time.time() - ended
        self.clock.superstep(iteration, self._watch.seconds - since)
        self._now()

    def ends(self, profile: RunProfile) -> None:
        """Take note that the run has ended, and of its supersteps that were not reported."""
        # Closing a session of Spark, which takes 1 s, is no part of a run.
        at = min(self._watch.seconds, max(self._known + profile.runtime_seconds, self._last))
        if not self._begun:
            self.clock.begins(self._algorithm.name, at)
        done = int(self.clock.moment(at).done)
        if done > profile.iterations:  # the last one comes again, and takes those after it back
            done = profile.iterations - 1
        for number in range(done + 1, profile.iterations + 1):
            self.clock.superstep(number, at)
        self.clock.end(at)
        self._now()

    def _now(self) -> None:
        self._last = self._watch.seconds
        self._tell(self.clock.moment(self._last))


def expected_before(
    algorithm: Algorithm, engine: Engine, graph: Any, history: History | None
) -> Expected:
    """Return what a run is expected to take without measuring anything of it."""
    case = Case.of(graph, check_request(algorithm, engine=engine, budget=0), history)
    found = predict_on(case, (EarlierRuns(), BaselineEstimate()))
    return expected_of(found.to_dict(), found.evidence[0].source)
