"""Training runs on a cluster, made once, so that later predictions need none.

Generated graphs are run and stored in the history at once, so that an interruption loses nothing.
One session serves all algorithms, as opening one and warming up Java takes longer than many runs in
it. Graphs grow as far as the budget allows: tables that fit in processor caches do not show the
cost of those that do not. Of each size the cheapest algorithm comes first, and a run starts only if
its expected time is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache, partial
from os import PathLike
from typing import Any

import pandas as pd

from predict_graph.algorithms import ALGORITHMS, Algorithm
from predict_graph.answers import Answer, Table
from predict_graph.budget import Spending, check_budget
from predict_graph.durations import counted
from predict_graph.engines import Engine
from predict_graph.engines.spark import SparkEngine
from predict_graph.errors import PredictGraphError, RequestError
from predict_graph.graph import Graph, check_graph
from predict_graph.history import History, check_history
from predict_graph.prediction.request import check_engine, check_function, direction
from predict_graph.prediction.seconds.cluster.runs import WARM_UP, sample_run
from predict_graph.results import Result
from predict_graph.seeds import check_seed

__all__ = ["Learning", "learn"]

# R-MAT graphs of half a million edges, and about four, sixteen and sixty, by scale and edge factor:
# different densities separate costs of vertices from costs of edges. Limits the time of `learn`.
_GRAPHS = ((15, 16), (19, 8), (20, 16), (21, 32))
_TOO_LONG = "the next run would have taken longer than the budget allows"


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
    ended: str = "there is nothing larger to learn from"

    @property
    def answer(self) -> Answer:
        """The number of stored runs, and why learning ended."""
        rows = [(name, len(graphs), graphs[-1]) for name, graphs in self.training_runs.items()]
        said = f"{self.runs} sample runs kept in {self.seconds:.0f} s: {self.ended}"
        table = Table("learned", ["algorithm", "training runs", "last graph"], rows)
        return Answer(said, tables=[table])

    @property
    def title(self) -> str:
        """The title of reports."""
        return "runs that costs are learned from"

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each algorithm and graph."""
        rows = [(name, graph) for name, graphs in self.training_runs.items() for graph in graphs]
        return pd.DataFrame(rows, columns=["algorithm", "graph"])

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return {"schema": 1, **asdict(self)}


def learn(
    engine: str | Engine,
    *,
    spark: Any = None,
    algorithms: str | Algorithm | Sequence[str | Algorithm] | None = None,
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
    algorithms : str or Algorithm, or sequence of them, optional
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
    engine = check_engine({"engine": engine, "spark": spark})
    if not isinstance(engine, SparkEngine):
        raise RequestError(f"the engine is {engine.name}; accepted: spark, whose costs are learned")
    kept = check_history(history)
    if kept is None:
        raise RequestError("to learn takes a history; accepted: a file for --history")
    allowed = check_budget(budget)
    if not 0.0 < allowed.seconds < math.inf or allowed.share is not None:
        raise RequestError(f"the budget is {budget!r}; accepted for learning: a time such as 10m")
    every = [name for name in ALGORITHMS.names() if "spark" in ALGORITHMS.get(name).runs_on]
    given = [algorithms] if isinstance(algorithms, str | Algorithm) else algorithms
    jobs = [check_function(name) for name in (every if given is None else given)]
    if len({job.java_works for job in jobs}) == 2 and not engine.settings.in_open_session:
        raise RequestError(
            "algorithms of GraphX and GraphFrames have sessions of their own; accepted: no others"
        )
    entropy, report = check_seed(seed), progress or (lambda text, fraction: None)
    learner = _Learner(engine, jobs, kept, entropy, Spending(allowed, 0.0), report)
    try:
        learner.learn()
    except PredictGraphError as error:
        if not learner.found.training_runs:
            raise
        learner.found.ended = f"the cluster failed: {error}"
    finally:
        learner.found.seconds = learner.spending.spent
    return learner.found


@dataclass
class _Learner:
    """The session of one call of `learn`, within its budget."""

    engine: SparkEngine
    jobs: Sequence[Algorithm]
    history: History
    seed: int
    spending: Spending
    report: Callable[[str, float], None]

    def __post_init__(self) -> None:
        self.found, self._before = Learning(), 0

    def learn(self) -> None:
        """Run what fits in the budget: small graphs of all algorithms first, the cheapest first.

        An edge is expected to take as long as one of the graph before; nothing is known of the
        first graph.
        """
        self._report(f"opening a session on {counted(self.engine.workers, 'machines')}")
        rates = {job.name: 0.0 for job in self.jobs}  # seconds an edge
        with self.engine.session(java_works=any(job.java_works for job in self.jobs)) as session:
            for scale, factor in _GRAPHS:
                size = factor * 2.0**scale
                source = f"rmat:scale={scale},edge_factor={factor},seed={self.seed}"
                read = lru_cache(partial(check_graph, source, seed=self.seed))  # in both directions
                for job in sorted(self.jobs, key=lambda job: rates[job.name]):
                    fits = self.spending.affords(rates[job.name] * size)
                    if self.found.training_runs and not fits:
                        self.found.ended = _TOO_LONG
                        continue
                    graph = read(directed=direction(job, None))
                    times = 2 if rates[job.name] == 0.0 else 1  # first to warm up the JVM
                    seconds = self._run(job, graph, session.seconds, times)
                    rates[job.name] = seconds / size

    def _report(self, text: str) -> None:
        spent, left = self.spending.spent, self.spending.left
        self.report(text, min(spent / (spent + left), 1.0))

    def _run(self, job: Algorithm, graph: Graph, opening: float, times: int) -> float:
        """Run an algorithm on a graph some times, and return the seconds of the last one.

        Each run is stored at once, so that it is not lost.
        """
        self._report(f"{job.name} on {graph.name}")
        for number in range(1, times + 1):
            purpose = "cost" if not self._before or number == times else WARM_UP
            how = {"sampler": "whole", "seed": self.seed, "opening_seconds": opening}
            runs = sample_run(self.engine, job, graph, graph, self._before, purpose=purpose, **how)
            self._before += sum(run.record.iterations for run in runs)
            self.history.add_all(run.record for run in runs)
            self.found.runs += len(runs)
        self.found.training_runs.setdefault(job.name, []).append(graph.name)
        return sum(run.record.seconds for run in runs)
