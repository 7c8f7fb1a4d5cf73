"""The plan of evidence: which source is bought for the iterations, and what it may cost.

History of the very run, then the compiled run itself where another engine is the target, then
samples, as large as the budget allows; and if not even small ones are worth it, a baseline
estimate.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from predict_graph.budget import DEFAULT_BUDGET, Budget
from predict_graph.cores import meter
from predict_graph.durations import readable_seconds
from predict_graph.engines import KnownSetup
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.graph import Graph
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.iterations.budget import LEAN
from predict_graph.prediction.baseline import Baseline
from predict_graph.prediction.memory import peak_memory
from predict_graph.prediction.request import Request

LEVELS = (LEAN, 0.05, 0.2, 0.6)
"""Edges of all samples / edges of the graph: small ones are nearly as good (docs/studies)."""

# Seconds of sampling: fixed, an edge of the graph, and an edge of the samples, measured on two
# cores with R-MAT 18 and web-NotreDame (docs/studies/overhead.md).
_FIXED, _PER_EDGE, _PER_SAMPLED_EDGE = 0.08, 0.045e-6, 0.13e-6
_LEAN_SHARE = 0.7  # of both, where nothing is calibrated; measured: web-NotreDame, R-MAT 16
_COUNTING = 4e-9  # seconds an edge; measured on R-MAT 20
# Times its budget, at which a prediction stops all work: by definition, the documented limit is
# 1.25, and the answer has to be put together, too.
_TOLERANCE = 1.2
_PROBING, _PROBE_FIXED = 0.05, 0.02  # a probe: of an iteration, and seconds in any case


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


@dataclass(frozen=True)
class EvidencePlan:
    """The sources that are worth buying for one prediction.

    Parameters
    ----------
    baselines : list of Baseline
        Of each algorithm of the chain.
    run_seconds : float
        What the run is estimated to take, on its engine; on this machine at least.
    """

    baselines: list[Baseline]
    run_seconds: float
    local: bool = True

    @classmethod
    def on_this_machine(cls, graph: AnyGraph, baselines: list[Baseline]) -> EvidencePlan:
        """Return the plan of a run on the local engine."""
        run = sum(baseline.least_seconds for baseline in baselines)
        return cls(baselines, graph.read_seconds + run)

    def buys_full_run(self, graph: AnyGraph, request: Request, spending: Spending) -> bool:
        """Whether the full run on this machine is expected to be within the budget, and fits.

        On the local engine that is the job itself: an unlimited budget does not run a long one,
        and options of sampling or cost models ask for other evidence.
        """
        named = request.evidence_named if self.local else request.estimation_named
        if named or not runs_here(request.algorithm):
            return False
        needed = sum(baseline.seconds + _COUNTING * graph.edges for baseline in self.baselines)
        needed *= meter.read().slowdown
        if self.local and request.budget.unlimited and needed > DEFAULT_BUDGET.least_seconds:
            return False
        if not spending.affords(needed):
            return False
        if not isinstance(graph, Graph):
            return True
        return all(
            peak_memory(graph, baseline.algorithm, LocalEngine()).fits
            for baseline in self.baselines
        )

    def samples_reserve(self, graph: AnyGraph, spending: Spending) -> float:
        """Return the seconds that the smallest samples need, if they are within the budget."""
        seconds = self.cost(graph, LEVELS[0])
        return seconds if spending.affords(seconds) else 0.0

    def levels(self, graph: AnyGraph, request: Request, spending: Spending) -> list[float]:
        """Return the levels of sampling to go through, the cheapest first; none for a baseline
        estimate.

        The largest that the budget affords; all of them up to that if the prediction is to stop as
        soon as it is near enough. What the user named is done, at the lowest level if need be.
        """
        every = [level for level in LEVELS if level < request.max_overhead]
        every.append(request.max_overhead)
        if request.budget.unlimited and request.within is None:
            return every[-1:]
        tunable = "max_overhead" in request.method.reads
        found = [level for level in every if spending.affords(self.cost(graph, level))]
        if not found and self.cost(graph, every[0]) <= spending.left_at_most:
            found = every[:1]
        if not found and (request.baseline_would_ignore or not self.local):
            found = every[:1] if tunable else every[-1:]
        if not tunable:
            return every[-1:] if found else []
        return found if request.within is not None else found[-1:]

    def estimated_setups(self, levels: Sequence[float]) -> dict[str, KnownSetup]:
        """Return setups by other graphs, where only the smallest samples are affordable."""
        if not self.local or max(levels) > LEAN:
            return {}
        return {
            baseline.algorithm.name: KnownSetup(baseline.setup_seconds, False)
            for baseline in self.baselines
        }

    def more(self, graph: AnyGraph, level: float) -> str:
        """Say what a larger budget would buy beyond samples of a level; nothing beyond the last."""
        better = [each for each in LEVELS if each > level]
        if not self.local or not better:
            return ""
        seconds = readable_seconds(self.cost(graph, better[-1]))
        what = "larger samples" if level else "samples"
        return f"about {seconds} of {what} would narrow this (--budget none)"

    def cost(self, graph: AnyGraph, level: float) -> float:
        """Return the seconds that samples of a level take, and setting up and probing with them.

        On this machine, as busy as it is now.
        """
        lean = level <= LEAN
        share = _LEAN_SHARE if lean else 1.0
        sampling = share * _FIXED + graph.edges * (share * _PER_EDGE + level * _PER_SAMPLED_EDGE)
        seconds = len(self.baselines) * sampling
        if self.local:
            for baseline in self.baselines:
                iteration = baseline.superstep_seconds / max(baseline.iterations, 1.0)
                seconds += _PROBE_FIXED + _PROBING * iteration
                # Samples are run, too: of semi-clustering that is most of what they take.
                seconds += (
                    0.0 if lean else baseline.setup_seconds + level * baseline.superstep_seconds
                )
        return seconds * meter.read().slowdown
