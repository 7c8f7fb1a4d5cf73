"""The case of a prediction: what is asked and known of it, and what each source may cost."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from predict_graph.algorithms import Algorithm
from predict_graph.budget import DEFAULT_BUDGET, Budget
from predict_graph.cores import meter
from predict_graph.durations import readable_seconds
from predict_graph.engines import Workload
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.engines.local.probing import PROBED_SUPERSTEPS
from predict_graph.graph import Graph
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.history import History, RunRecord
from predict_graph.iterations import IterationEstimate
from predict_graph.iterations.budget import LEAN
from predict_graph.prediction.baseline import Baseline, baselines_of
from predict_graph.prediction.memory import peak_memory
from predict_graph.prediction.request import Request, is_local
from predict_graph.prediction.seconds.local import probing_limit
from predict_graph.prediction.work import workloads_of

LEVELS = (LEAN, 0.05, 0.2, 0.6)
"""Edges of all samples / edges of the graph: small ones are nearly as good (docs/studies)."""

# Seconds of sampling: fixed, an edge of the graph, and an edge of the samples, measured on two
# cores with R-MAT 18 and web-NotreDame (docs/studies/overhead.md).
_FIXED, _PER_EDGE, _PER_SAMPLED_EDGE = 0.08, 0.045e-6, 0.13e-6
_COUNTING = 4e-9  # seconds an edge; measured on R-MAT 20
# Times its budget, at which a prediction stops all work: by definition, the documented limit is
# 1.25, and the answer has to be put together, too.
_TOLERANCE = 1.2


class Spending:
    """What is left of the budget of one prediction.

    Parameters
    ----------
    budget : Budget
    run_seconds : float
        What the run is estimated to take.
    reading_seconds : float
        Time to read the graph, where only the prediction needed it; not part of the budget.
    """

    def __init__(self, budget: Budget, run_seconds: float, reading_seconds: float = 0.0) -> None:
        self._started = time.perf_counter()
        self._budget = budget
        self._allowed = budget.allowed(run_seconds)
        self.reading_seconds = reading_seconds
        self.loading_seconds = 0.0

    @property
    def spent(self) -> float:
        """Seconds since the prediction began, those of loading compiled code left out."""
        return time.perf_counter() - self._started - self.loading_seconds

    @contextmanager
    def loading(self) -> Iterator[None]:
        """Do not count what is done inside: a process loads compiled code once, run or predict."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.loading_seconds += time.perf_counter() - started

    def expects(self, run_seconds: float) -> None:
        """Go by another figure for what the run will take: one that knows more."""
        self._allowed = self._budget.allowed(run_seconds)

    @property
    def left(self) -> float:
        """Seconds until the budget is spent."""
        return self._allowed - self.spent

    def affords(self, seconds: float) -> bool:
        """Whether so many more seconds are within the budget."""
        return seconds <= self.left

    @property
    def left_at_most(self) -> float:
        """Seconds until all work stops, whatever it was expected to take."""
        return _TOLERANCE * self._allowed - self.spent


@dataclass(frozen=True, eq=False)
class Case:
    """What is asked of one prediction, what is known before it, and the budget that is left.

    Parameters
    ----------
    graph : Graph, or one that stays on a cluster
    request : Request
    history : History or None
    spending : Spending
    source : graph-like, optional
        What the graph was read from.
    """

    graph: Any
    request: Request
    history: History | None
    spending: Spending
    source: Any = None

    @classmethod
    def of(
        cls,
        graph: AnyGraph,
        request: Request,
        history: History | None,
        source: Any = None,
        reading_seconds: float = 0.0,
    ) -> Case:
        """Return the case of a request on a graph; its budget starts to be spent."""
        request = replace(request, algorithm=request.algorithm.on(graph))
        return cls(graph, request, history, Spending(request.budget, 0.0, reading_seconds), source)

    @cached_property
    def chain(self) -> list[Request]:
        """The requests of a chain of algorithms, in the order in which they run."""
        return self.request.chain

    @property
    def algorithms(self) -> list[Algorithm]:
        """Those of the chain."""
        return [part.algorithm for part in self.chain]

    @property
    def local(self) -> bool:
        """Whether the run is one on this machine."""
        return is_local(self.request.engine)

    @cached_property
    def baselines(self) -> list[Baseline]:
        """What each algorithm takes on this machine, by runs of other graphs."""
        return baselines_of(self.graph, self.algorithms, self.history)

    @cached_property
    def records(self) -> list[list[RunRecord]]:
        """Earlier runs of each algorithm on this graph; [] if one has none, or others are asked."""
        history, fresh = self.history, self.request.named or self.request.budget.unlimited
        if fresh or history is None or len(history) == 0:
            return []
        key = self.graph.fingerprint
        found = [history.runs_of(each.name, key, each.to_dict()) for each in self.algorithms]
        return found if all(found) else []

    @property
    def run_seconds(self) -> float:
        """What the run takes at least, on this machine."""
        read: float = self.graph.read_seconds
        return read + sum(each.least_seconds for each in self.baselines)

    def workloads(self, estimates: Sequence[IterationEstimate]) -> list[Workload]:
        """Return the workload of each algorithm of the chain."""
        return workloads_of(self.graph, self.algorithms, estimates, self.request.engine.workers)

    def buys_full_run(self) -> bool:
        """Whether the full run on this machine is expected to be within the budget, and fits.

        On the local engine that is the job itself: an unlimited budget does not run a long one,
        and options of sampling or cost models ask for other evidence.
        """
        request = self.request
        named = request.evidence_named if self.local else request.estimation_named
        if named or not runs_here(request.algorithm):
            return False
        needed = sum(baseline.seconds + _COUNTING * self.graph.edges for baseline in self.baselines)
        needed *= meter.read().slowdown
        if self.local and request.budget.unlimited and needed > DEFAULT_BUDGET.least_seconds:
            return False
        if not self.spending.affords(needed):
            return False
        graph = self.graph
        return not isinstance(graph, Graph) or all(
            peak_memory(graph, each, LocalEngine()).fits for each in self.algorithms
        )

    def levels(self) -> list[float]:
        """Return the levels of sampling to go through, the cheapest first; none for a baseline
        estimate.

        The largest that the budget affords; all of them up to that if the prediction is to stop as
        soon as it is near enough. What the user named is done, at the lowest level if need be.
        """
        request, spending = self.request, self.spending
        every = [level for level in LEVELS if level < request.max_overhead]
        every.append(request.max_overhead)
        if request.budget.unlimited and request.within is None:
            return every[-1:]
        found = [level for level in every if spending.affords(self.cost(level))]
        asked = request.baseline_would_ignore or not self.local
        if not found and (asked or self.cost(every[0]) <= spending.left_at_most):
            found = every[:1]
        if "max_overhead" not in request.method.reads:
            return every[-1:] if found else []
        return found if request.within is not None else found[-1:]

    def more(self, level: float) -> str:
        """Say what a larger budget would buy beyond samples of a level; nothing beyond the last."""
        if not self.local or level >= LEVELS[-1]:
            return ""
        what = "larger samples" if level else "samples"
        seconds = readable_seconds(self.cost(LEVELS[-1]))
        return f"about {seconds} of {what} would narrow this (--budget none)"

    def cost(self, level: float) -> float:
        """Return the seconds that samples of a level, setup and the first supersteps take.

        On this machine, as busy as it is now.
        """
        edges: int = self.graph.edges
        sampling = _FIXED + edges * (_PER_EDGE + level * _PER_SAMPLED_EDGE)
        seconds = len(self.baselines) * sampling
        for baseline in self.baselines if self.local else ():
            iteration = baseline.superstep_seconds / max(baseline.iterations, 1.0)
            probing = min(PROBED_SUPERSTEPS * iteration, probing_limit(self.spending.left))
            seconds += baseline.setup_seconds + probing
            if level > LEAN:  # samples are run, too: of semi-clustering most of what they take
                seconds += level * baseline.superstep_seconds
        return seconds * meter.read().slowdown
