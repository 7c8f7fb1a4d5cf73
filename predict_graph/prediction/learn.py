"""Training runs on a cluster, made once, so that later predictions need none.

Generated graphs are run and stored in the history at once, so that an interruption loses nothing.
One session serves all algorithms, as opening one and warming up Java takes longer than many runs in
it. Graphs grow as far as the budget allows: tables that fit in processor caches do not show the
cost of those that do not. Of each size the cheapest algorithm comes first, and a run starts only if
its expected time is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from os import PathLike
from typing import Any

import pandas as pd

from predict_graph.algorithms import ALGORITHMS, Algorithm
from predict_graph.answers import Answer, Table
from predict_graph.budget import check_budget
from predict_graph.engines import Engine
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.engines.spark import SparkEngine
from predict_graph.errors import JobError, PredictGraphError, RequestError
from predict_graph.graph import Graph, check_graph
from predict_graph.history import History, check_history
from predict_graph.iterations.whole_run import whole_run_estimates
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import dot_picture
from predict_graph.prediction.counting import estimates_of
from predict_graph.prediction.request import (
    check_engine,
    check_function,
    check_request,
    direction,
)
from predict_graph.prediction.seconds.cluster.costs import speed_of_cluster
from predict_graph.prediction.seconds.cluster.reference_runs import shipped_name
from predict_graph.prediction.seconds.cluster.runs import WARM_UP
from predict_graph.prediction.seconds.cluster.sampling import Quote, sample_run
from predict_graph.prediction.work import workloads_of
from predict_graph.results import Result
from predict_graph.seeds import check_seed

__all__ = ["Learning", "learn"]

# R-MAT graphs of half a million edges, and about four, sixteen and sixty, by scale and edge factor:
# different densities separate costs of vertices from costs of edges. Limits the time of `learn`.
_GRAPHS = ((15, 16), (19, 8), (20, 16), (21, 32))
_MARGIN = 1.2  # of the expected time of a run: limits overruns of the budget


@dataclass(eq=False, repr=False)
class Learning(Result):
    """The training runs that `learn` made on a cluster.

    Parameters
    ----------
    training_runs : dict of str to list of str
        The graphs that each algorithm was run on.
    runs : int
        Number of stored runs.
    seconds : float
        Elapsed time.
    ended : str
        Why it ended.
    """

    training_runs: dict[str, list[str]] = field(default_factory=dict)
    runs: int = 0
    seconds: float = 0.0
    ended: str = ""

    @property
    def answer(self) -> Answer:
        """The number of stored runs, and why learning ended."""
        rows = [(name, len(graphs), graphs[-1]) for name, graphs in self.training_runs.items()]
        said = f"{self.runs} sample runs kept in {self.seconds:.0f} s: {self.ended}"
        return Answer(
            said, tables=[Table("learned", ["algorithm", "training runs", "last graph"], rows)]
        )

    @property
    def title(self) -> str:
        """The title of reports."""
        return "runs that costs are learned from"

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each algorithm and graph."""
        rows = [(name, graph) for name, graphs in self.training_runs.items() for graph in graphs]
        return pd.DataFrame(rows, columns=["algorithm", "graph"])

    def pictures(self) -> list[Picture]:
        """Return how many graphs each algorithm ran on."""
        counts = {name: len(graphs) for name, graphs in self.training_runs.items()}
        if not counts:
            return []
        said = ", ".join(f"{name} {count}" for name, count in counts.items())
        given = ("Graphs of each algorithm", f"Graphs: {said}.", [*counts], [*counts.values()])
        return [dot_picture(*given, xlabel="graphs")]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return asdict(self)


def learn(
    engine: str | Engine,
    *,
    spark: Any = None,
    algorithms: Sequence[str | Algorithm] | None = None,
    budget: str | float = "10m",
    history: History | str | PathLike[str] | bool | None = None,
    seed: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Learning:
    """Run generated graphs on a cluster as training runs until the budget is spent.

    Parameters
    ----------
    engine : SparkEngine or ``"spark"``
        The cluster; training runs use at most its machines.
    spark : SparkSession, optional
        An open session to use.
    algorithms : sequence of str or Algorithm, optional
        By default all with a program for the engine.
    budget : str or float
        A time such as ``"10m"``, or seconds.
    history : History, path, bool or None
        Where training runs are stored; None for the default place.
    seed : int, optional
    progress : callable (text, fraction), optional

    Raises
    ------
    RequestError
        If the engine is not Spark, there is no history, or the budget is not a time.
    JobError
        If the cluster fails before the first training run.
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
    entropy, report = check_seed(seed), progress or (lambda text, fraction: None)
    learner = _Learner(engine, jobs, kept, entropy, allowed, report)
    try:
        learner.learn()
    except PredictGraphError as error:
        if not learner.found.training_runs:
            raise
        learner.found.ended = f"the cluster failed: {error}"
    finally:
        learner.found.seconds = learner.spent
    return learner.found


@dataclass
class _Learner:
    """The sessions of one call of `learn`, within the allowed seconds."""

    engine: SparkEngine
    jobs: Sequence[Algorithm]
    history: History
    seed: int
    allowed: float
    report: Callable[[str, float], None]

    def __post_init__(self) -> None:
        self.found = Learning()
        self._started = time.perf_counter()
        self.report("estimating the time of training runs", 0.0)
        self._graphs = lru_cache(maxsize=2)(self._generated)  # of one size, in both directions
        self._subjects = [
            _Subject(self.engine, job, self._graph(job, 0), self.history, self.seed)
            for job in self.jobs
        ]

    @property
    def spent(self) -> float:
        """The elapsed seconds."""
        return time.perf_counter() - self._started

    def learn(self) -> None:
        """Run what fits in the budget: small graphs of all algorithms first."""
        machines, skipped = self.engine.workers, False
        self.report(f"opening a session on {machines} machines", self._fraction)
        with self.engine.session() as session:
            for turn in range(len(_GRAPHS)):
                subjects = [subject for subject in self._subjects if subject.ran == turn]
                for subject in sorted(subjects, key=lambda each: each.order(turn)):
                    subject.quote.cluster = speed_of_cluster(self.history, self.engine)
                    first = not self.found.training_runs
                    expected = self.spent + _MARGIN * subject.expected(turn)
                    if first or expected <= self.allowed:
                        self._run(subject, session.seconds, turn, cold=first)
                    else:
                        skipped = True
        self.found.ended = (
            "the next run would have taken longer than the budget allows"
            if skipped
            else "there is nothing larger to learn from"
        )

    @property
    def _fraction(self) -> float:
        return min(self.spent / self.allowed, 1.0)

    def _run(self, subject: _Subject, opening: float, turn: int, *, cold: bool) -> None:
        """Run an algorithm on one of the graphs; twice on the smallest, first to warm up the JVM.

        Each run is stored at once, so that it is not lost.
        """
        job, graph = subject.job, self._graph(subject.job, turn)
        self.report(f"{job.name} on {graph.name}", self._fraction)
        for number in range(1 if turn else 2):
            runs = sample_run(
                self.engine,
                opening,
                job,
                graph,
                "whole",
                graph,
                seed=self.seed,
                cold=cold and not number,
                purpose="cost" if turn or number or cold else WARM_UP,
            )
            subject.quote.runs.append(runs[-1])
            self.history.add_all(run.record for run in runs)
            self.found.runs += len(runs)
        subject.ran += 1
        self.found.training_runs.setdefault(job.name, []).append(graph.name)

    def _graph(self, job: Algorithm, turn: int) -> Graph:
        return self._graphs(turn, direction(job, None))

    def _generated(self, turn: int, directed: bool | None) -> Graph:
        scale, factor = _GRAPHS[turn]
        source = f"rmat:scale={scale},edge_factor={factor},seed={self.seed}"
        return check_graph(source, directed=directed, seed=self.seed)


class _Subject:
    """An algorithm to be run, and the expected seconds of it."""

    def __init__(
        self, engine: Any, job: Algorithm, first: Graph, history: History, seed: int
    ) -> None:
        self.job, self.ran = job, 0
        self.known = shipped_name(job) == job.name
        request = check_request(job, engine=engine, seed=seed, budget="none")
        chain = [part.algorithm for part in request.chain]
        estimates = (
            whole_run_estimates(LocalEngine(engine.workers).run(job, first))
            if runs_here(job)
            else estimates_of(first, request.chain)
        )
        workloads = workloads_of(first, chain, estimates, engine.workers)
        self.quote = Quote(first, engine, workloads, speed_of_cluster(history, engine))
        self._machines = engine.workers

    def order(self, turn: int) -> tuple[bool, float]:
        """Return the key by which the cheapest comes first, and what has no reference runs last."""
        return not (self.known or self.quote.runs), self.expected(turn)

    def expected(self, turn: int) -> float:
        """Return the expected seconds of the runs of a turn in an open session."""
        first, factor = _GRAPHS[0], _GRAPHS[turn]
        larger = 2.0 ** (factor[0] - first[0]) * factor[1] / first[1]
        once = self.quote.sample_seconds(self._machines, larger, cold=False)
        return once if turn else 2.0 * once


def _with_programs() -> list[str]:
    """Return the algorithms with a program for Spark."""
    found = [name for name in ALGORITHMS.names() if "spark" in ALGORITHMS.get(name).runs_on]
    if not found:
        raise JobError("no registered algorithm has a program for Spark")
    return found
