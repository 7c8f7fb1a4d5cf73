"""Learning once what a cluster charges, so that predictions on it cost next to nothing.

Lessons are sample runs of generated graphs, kept in the history as they come: whatever ends the
learning, what was learned so far is used. Algorithms take turns, the cheapest first, graphs grow
from turn to turn, and a lesson is begun only if what it is expected to take is left.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from predict_graph.algorithms import ALGORITHMS, Algorithm
from predict_graph.budget import check_budget
from predict_graph.engines import Engine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.engines.spark import SparkEngine
from predict_graph.errors import JobError, PredictGraphError, RequestError
from predict_graph.graph import check_graph
from predict_graph.history import History, check_history
from predict_graph.iterations.whole_run import whole_run_estimates
from predict_graph.prediction.request import (
    check_engine,
    check_function,
    check_request,
    check_seed,
    direction,
)
from predict_graph.prediction.road import estimates_of
from predict_graph.prediction.seconds.cluster import expected_lesson_seconds, learn_on_cluster
from predict_graph.prediction.seconds.cluster.shipped_lessons import shipped_name
from predict_graph.prediction.work import workloads_of

__all__ = ["Learning", "learn"]

_FIRST_SCALE, _LAST_SCALE = 16, 20  # of R-MAT graphs: a million edges, and sixteen
_EDGE_FACTORS = (16, 8)  # a choice: denser and sparser in turn, so that costs come apart
_GROWTH = 2.0  # about: a graph of the next scale takes twice as long; a choice
_MARGIN = 1.2  # of what a lesson is expected to take: an overrun is the person's time; a choice


@dataclass
class Learning:
    """What was learned about a cluster.

    Parameters
    ----------
    lessons : dict of str to list of str
        Algorithm to the graphs that it was run on.
    runs : int
        Sample runs that were kept.
    seconds : float
        What it took.
    ended : str
        Why it ended, in plain words.
    """

    lessons: dict[str, list[str]] = field(default_factory=dict)
    runs: int = 0
    seconds: float = 0.0
    ended: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return {
            "lessons": self.lessons,
            "runs": self.runs,
            "seconds": self.seconds,
            "ended": self.ended,
        }


def learn(
    engine: str | Engine,
    *,
    spark: Any = None,
    algorithms: Sequence[str] | None = None,
    budget: str | float = "10m",
    history: History | str | PathLike[str] | bool | None = None,
    seed: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Learning:
    """Run samples of generated graphs on a cluster until the budget is spent.

    Parameters
    ----------
    engine : SparkEngine or ``"spark"``
        The cluster; its machines are the most that a lesson runs on.
    spark : SparkSession, optional
        A session that is open, to learn in.
    algorithms : sequence of str, optional
        All that the engine has programs for by default.
    budget : str or float
        A time such as ``"10m"``, or seconds.
    history : History, path, bool or None
        Where lessons are kept; None for the default place.
    seed : int, optional
    progress : callable (text, fraction), optional

    Raises
    ------
    RequestError
        If the engine has no lessons, there is no history, or the budget is no time.
    JobError
        If the cluster fails before anything was learned.
    """
    engine = check_engine(engine, spark=spark)
    if not isinstance(engine, SparkEngine):
        raise RequestError(f"the engine is {engine.name}; accepted: spark, whose costs are learned")
    kept = check_history(history)
    if kept is None:
        raise RequestError("to learn takes a history; accepted: a file for --history")
    spend = check_budget(budget)
    allowed = spend.seconds
    if allowed is None or spend.share is not None:
        raise RequestError(f"the budget is {budget!r}; accepted for learning: a time such as 10m")
    names = list(algorithms) if algorithms is not None else _with_programs()
    jobs = [check_function(name) for name in names]
    entropy, tell = check_seed(seed), progress or (lambda text, fraction: None)
    found, started, before = Learning(), time.perf_counter(), len(kept)
    took: dict[str, float] = {}  # seconds of the last lesson of each algorithm
    quoted: dict[str, float] = {}
    first: dict[str, _Lesson] = {}  # of the first graph: looked at before any is run
    try:
        for turn in range(_LAST_SCALE - _FIRST_SCALE + 1):
            scale, factor = _FIRST_SCALE + turn, _EDGE_FACTORS[turn % len(_EDGE_FACTORS)]
            source = f"rmat:scale={scale},edge_factor={factor},seed={entropy}"
            if turn == 0:
                tell("looking at what lessons will take", 0.0)
                first = {
                    job.name: _Lesson(engine, job, source, kept, entropy, tell) for job in jobs
                }
                quoted = {name: lesson.expected() for name, lesson in first.items()}
            begun_here = False
            for job in sorted(jobs, key=lambda job: _order(job, took, quoted)):
                spent = time.perf_counter() - started
                if (
                    found.lessons
                    and spent + _MARGIN * _expected(job.name, turn, took, quoted) > allowed
                ):
                    continue
                begun, begun_here = time.perf_counter(), True
                tell(f"{job.name} on {source}", min(spent / allowed, 1.0))
                lesson = first.pop(job.name, None)
                (lesson or _Lesson(engine, job, source, kept, entropy, tell)).run()
                took[job.name] = time.perf_counter() - begun
                found.lessons.setdefault(job.name, []).append(source)
            first = {}
            if not begun_here:
                found.ended = "the next lesson would have taken longer than the budget allows"
                return found
        found.ended = "there is nothing larger to learn from"
    except PredictGraphError as error:
        if not found.lessons:
            raise
        found.ended = f"the cluster failed: {error}"
    finally:
        found.runs = len(kept) - before
        found.seconds = time.perf_counter() - started
    return found


def _order(job: Algorithm, took: dict[str, float], quoted: dict[str, float]) -> tuple[bool, float]:
    """Return what lessons are sorted by: the cheapest first, of those whose price is known.

    One without lessons in the package is quoted at the price of another, which says little.
    """
    known = job.name in took or shipped_name(job) == job.name
    return not known, took.get(job.name, quoted[job.name])


def _expected(name: str, turn: int, took: dict[str, float], quoted: dict[str, float]) -> float:
    """Return the seconds of the next lesson of an algorithm, from those that there were."""
    if turn and name in took:
        return _GROWTH * took[name]
    slower = statistics.median(seconds / quoted[other] for other, seconds in took.items())
    return slower * _GROWTH**turn * quoted[name]


class _Lesson:
    """The sample runs that a prediction of a generated graph would make without a limit.

    Parameters
    ----------
    engine : SparkEngine
    algorithm : Algorithm
    source : str
    history : History
    seed : int
    progress : callable (text, fraction)
    """

    def __init__(
        self,
        engine: Any,
        algorithm: Algorithm,
        source: str,
        history: History,
        seed: int,
        progress: Callable[[str, float], None],
    ) -> None:
        request = check_request(
            algorithm, engine=engine, seed=seed, progress=progress, budget="none"
        )
        self._engine, self._history = engine, history
        self._graph = check_graph(source, directed=direction(algorithm, None), seed=seed)
        self._chain = [part.algorithm for part in request.chain]
        if runs_here(algorithm):
            estimates = whole_run_estimates(self._graph, self._chain, engine.workers)
        else:
            estimates = estimates_of(self._graph, request.chain)
        self._workloads = workloads_of(self._graph, self._chain, estimates, engine.workers)
        self._means = request.means(history, self._graph.edges)

    def expected(self) -> float:
        """Return the seconds that it will take, at the level of the cluster."""
        return expected_lesson_seconds(
            self._graph, self._engine, self._chain, self._means, self._workloads
        )

    def run(self) -> None:
        """Run the samples, and keep them."""
        learn_on_cluster(self._graph, self._engine, self._chain, self._means, self._workloads)


def _with_programs() -> list[str]:
    """Return the algorithms that Spark has programs for."""
    found = [name for name in ALGORITHMS.names() if "spark" in ALGORITHMS.get(name).runs_on]
    if not found:
        raise JobError("no registered algorithm has a program for Spark")
    return found
