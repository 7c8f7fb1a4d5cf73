"""Training runs on a cluster, made once, so that later predictions need none.

Generated graphs are run and stored in the history at once, so that an interruption loses nothing.
A session serves all algorithms, as opening one and warming up Java takes longer than many runs in
it. Graphs grow as far as the budget allows: tables that fit in processor caches do not show the
cost of those that do not. The cheapest algorithm comes first, and a run starts only if its expected
time is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
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
from predict_graph.prediction.seconds.cluster.runs import ClusterRun, sample_records
from predict_graph.prediction.seconds.cluster.sampling import Quote, sample_run, settled, warming
from predict_graph.prediction.work import workloads_of
from predict_graph.results import Result
from predict_graph.seeds import check_seed

__all__ = ["Learning", "learn"]

# R-MAT graphs of half a million edges, and about four, sixteen and sixty, by scale and edge factor:
# different densities separate costs of vertices from costs of edges. Limits the time of `learn`,
# like the constants below.
_GRAPHS = ((15, 16), (19, 8), (20, 16), (21, 32))
_SUPERSTEPS = (6, 4, 4, 4)  # limits the supersteps of each, whose work hardly differs
# Graphs run for each algorithm before the next algorithm, on all machines and on fewer, which have
# larger tables: bounds from below what shows how costs grow
_ALL, _ON_FEWER = (0, 1), (1,)
_REPEATED = (0, 1)  # limits repeats for JVM warm-up to the small graphs
_FIRST_SHARE = 0.65  # limits the session on all machines to a share of the budget
_FEWER = 4  # limits the machines of the second session to a fraction
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
        self._subjects = [_Subject(self.engine, job, self.history, self.seed) for job in self.jobs]
        self._skipped = False  # whether a run did not fit

    @property
    def spent(self) -> float:
        """The elapsed seconds."""
        return time.perf_counter() - self._started

    def learn(self) -> None:
        """Run what fits in the budget: on all machines first, then on fewer."""
        for number, machines in enumerate(self._counts()):
            there = self.engine.on(machines)
            turns = _ON_FEWER if number else _ALL
            first = next(self._cheapest_first(self._subjects))
            needed = first.expected(machines, turns[0], cold=True)
            if number and not self._fits(needed, self.allowed):
                self._skipped = True
                break
            last = number + 1 == len(self._counts())
            until = self.allowed if last else _FIRST_SHARE * self.allowed
            self.report(f"opening a session on {machines} machines", self._fraction)
            with there.session() as session:
                self._in_session(there, session.seconds, until, turns)
        self.found.ended = (
            "the next run would have taken longer than the budget allows"
            if self._skipped
            else "there is nothing larger to learn from"
        )

    def _counts(self) -> list[int]:
        """Return the machine counts: two, to show how costs grow with machines."""
        machines = self.engine.workers
        fewer = max(machines // _FEWER, 1)
        alone = self.engine.in_open_session or fewer == machines
        return [machines] if alone else [machines, fewer]

    def _cheapest_first(self, subjects: Sequence[_Subject]) -> Iterator[_Subject]:
        """Yield the algorithms, in turn the one with the shortest expected first run of those left.

        Those without reference runs, whose expected time is that of another one, come last.
        """
        waiting, machines = list(subjects), self.engine.workers
        while waiting:
            speed = speed_of_cluster(self.history, self.engine)
            for subject in waiting:
                subject.quote.cluster = speed
            cheapest = min(
                waiting,
                key=lambda each: (not (each.known or each.quote.runs), each.expected(machines, 0)),
            )
            waiting.remove(cheapest)
            yield cheapest

    def _in_session(
        self, there: SparkEngine, opening: float, until: float, turns: Sequence[int]
    ) -> None:
        """Run graphs of growing size: small ones of each algorithm first, the cheapest first."""
        machines, cold = there.workers, True
        for subject in self._cheapest_first(self._subjects):
            for turn in turns:
                first = cold and not self.found.training_runs
                if not first and not self._fits(subject.expected(machines, turn), until):
                    self._skipped = True
                    break
                self._run(subject, there, opening, turn, cold=cold)
                cold = False
        for turn in range(turns[-1] + 1, len(_GRAPHS)):
            waiting = [each for each in self._subjects if each.largest.get(machines) == turn - 1]
            for subject in self._cheapest_first(waiting):
                if self._fits(subject.expected(machines, turn), until):
                    self._run(subject, there, opening, turn)
                else:
                    self._skipped = True

    def _fits(self, seconds: float, until: float) -> bool:
        return self.spent + _MARGIN * seconds <= until

    @property
    def _fraction(self) -> float:
        return min(self.spent / self.allowed, 1.0)

    def _run(
        self,
        subject: _Subject,
        there: SparkEngine,
        opening: float,
        turn: int,
        *,
        cold: bool = False,
    ) -> None:
        """Run an algorithm on one of the graphs; on a small one, until the JVM is warm."""
        graph = subject.graph(turn)
        self.report(f"{subject.name} on {graph.name}, {there.workers} machines", self._fraction)
        given = (there, opening, subject.job, graph, "whole", graph)
        run = partial(sample_run, *given, limit=_SUPERSTEPS[turn])
        ran = [run(cold=cold)]
        if turn in _REPEATED:
            self._keep(subject, ran[0] if cold else warming(ran[0]))
            ran.append(run())
            while not settled(ran):
                self._keep(subject, warming(ran[-1]))
                ran.append(run())
        self._keep(subject, ran[-1])
        subject.largest[there.workers] = turn
        own = self.found.training_runs.setdefault(subject.name, [])
        if graph.name not in own:
            own.append(graph.name)

    def _keep(self, subject: _Subject, run: ClusterRun) -> None:
        """Store a run at once, so that it is not lost."""
        subject.quote.runs.append(run)
        records = sample_records(run, subject.graph(0), self.seed)
        self.history.add_all(records)
        self.found.runs += len(records)


class _Subject:
    """An algorithm to be run: its graphs, and the expected seconds on them."""

    def __init__(self, engine: Any, job: Algorithm, history: History, seed: int) -> None:
        self.name, self.job = job.name, job
        self.known = shipped_name(job) == job.name
        self.largest: dict[int, int] = {}  # graph of its runs, by machine count
        self._seed = seed
        # Turns alternate with 0: it and the last large graph are kept.
        self.graph = lru_cache(maxsize=2)(self._generated)
        first = self.graph(0)
        request = check_request(job, engine=engine, seed=seed, budget="none")
        chain = [part.algorithm for part in request.chain]
        estimates = (
            whole_run_estimates(LocalEngine(engine.workers).run(job, first))
            if runs_here(job)
            else estimates_of(first, request.chain)
        )
        workloads = workloads_of(first, chain, estimates, engine.workers)
        self.quote = Quote(first, engine, workloads, speed_of_cluster(history, engine))

    def _generated(self, turn: int) -> Graph:
        scale, factor = _GRAPHS[turn]
        source = f"rmat:scale={scale},edge_factor={factor},seed={self._seed}"
        return check_graph(source, directed=direction(self.job, None), seed=self._seed)

    def expected(self, machines: int, turn: int, *, cold: bool = False) -> float:
        """Return the expected seconds of a run, and of its repeats; with session start if cold."""
        first, factor = _GRAPHS[0], _GRAPHS[turn]
        larger = 2.0 ** (factor[0] - first[0]) * factor[1] / first[1]
        limit = _SUPERSTEPS[turn]
        once = self.quote.sample_seconds(machines, larger, cold=False, limit=limit)
        if turn not in _REPEATED:
            return once
        return once + self.quote.sample_seconds(machines, larger, cold=cold, limit=limit)


def _with_programs() -> list[str]:
    """Return the algorithms with a program for Spark."""
    found = [name for name in ALGORITHMS.names() if "spark" in ALGORITHMS.get(name).runs_on]
    if not found:
        raise JobError("no registered algorithm has a program for Spark")
    return found
