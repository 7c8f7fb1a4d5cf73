"""The runtime model of an unknown engine, fitted to sample runs: PREDIcT, section 3.4.

The algorithm runs on samples of the graph, on that engine, at the training ratios. A regression
with forward selection on the counters of the critical path gives the time of each iteration, and
lines over the sizes of the samples give the other phases. Times of other engines are not used.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import (
    COUNTERS,
    Engine,
    EstimationContext,
    Evidence,
    RunProfile,
    RuntimeEstimate,
    RuntimeModel,
    Workload,
)
from predict_graph.errors import JobError
from predict_graph.graph import Graph
from predict_graph.iterations import SampleRun, run_sample
from predict_graph.plugins import loaded
from predict_graph.prediction.seconds.earlier_runs import PHASE_STD
from predict_graph.prediction.seconds.features import BY_ITERATION, cost_rows
from predict_graph.prediction.seconds.regression import TrainingSet, regression_evidence
from predict_graph.prediction.seconds.sample_runs import (
    STEADY_ITERATIONS,
    add_history,
    drawn_samples,
    keep_samples,
)
from predict_graph.prediction.seconds.straight_line import fitted_line
from predict_graph.prediction.seconds.weighing import weighed

if TYPE_CHECKING:
    import pandas as pd

# Of the cross-validated error, with a prior error: limits the choice of complex models
_CLEARLY = 0.99
_FEWEST_RUNS = 3  # by definition: a line takes two points, and a third to validate it


class LearnedRuntimeModel:
    """The runtime model of an engine, fitted to sample runs on it."""

    reads: ClassVar[frozenset[str]] = frozenset({"cost_model", "train_ratios"})

    def __init__(
        self,
        engine: Engine,
        graph: Graph,
        algorithms: Sequence[Algorithm],
        context: EstimationContext,
    ) -> None:
        self._engine, self._graph, self._context = engine, graph, context
        self._algorithms = list(algorithms)
        self._rng = np.random.default_rng(context.seed).spawn(3)[1]
        self._factors: list[tuple[float, float]] = []

    def survey(self) -> None:
        """Do nothing: samples do not disturb another engine."""

    def estimate(self, workloads: Sequence[Workload]) -> list[RuntimeEstimate]:
        """Return the estimate of each algorithm of the chain; the first one reads the graph."""
        runs = self._sample_runs()
        by_part = [_of_part(runs, number, len(workloads)) for number in range(len(workloads))]
        return [
            self._runtime_on(
                workload,
                by_part[number],
                first=number == 0,
                ran=runs if number + 1 == len(workloads) else [],
            )
            for number, workload in enumerate(workloads)
        ]

    def _sample_runs(self) -> list[SampleRun]:
        """Run samples; the smallest to its end, to show costs that grow during a run."""
        algorithm, context = self._algorithms[-1], self._context
        allowed = context.edges_for_costs and self._graph.edges
        runs: list[SampleRun] = []
        whole = _unevenness(self._graph)
        for sample in drawn_samples(self._graph, context, allowed, self._rng):
            if len(runs) >= _FEWEST_RUNS and not context.spending.affords(runs[-1].summary.seconds):
                break
            own = _unevenness(sample.graph)
            self._factors.append((whole[0] / own[0], whole[1] / own[1] if own[1] > 0.0 else 1.0))
            runs.append(
                run_sample(
                    sample,
                    algorithm,
                    self._engine,
                    context.transforms[algorithm.name],
                    algorithm.threshold(self._graph.vertices),
                    purpose="cost",
                    max_iterations=STEADY_ITERATIONS if runs and algorithm.steady else None,
                )
            )
            keep_samples(context, self._graph, runs[-1:])
        return runs

    def _runtime_on(
        self, workload: Workload, runs: list[SampleRun], *, first: bool, ran: list[SampleRun]
    ) -> RuntimeEstimate:
        """Return the estimate of one algorithm from its `runs`; the overhead is that of `ran`."""
        engine, graph = self._engine, self._graph
        # The critical worker is the one with most edges, as in the paper, or the one that sends
        # most in each iteration; costs that grow during a run are selected, or required from the
        # start, only if cross-validation clearly supports it.
        paces = (False,) if engine.virtual_workers else (False, True)
        evidence, *others = (
            each for busiest in paces for each in self._regressions(workload, runs, busiest=busiest)
        )
        for other in others:
            if other.relative_std < _CLEARLY * evidence.relative_std:
                evidence = other
        weighted, seconds, std = weighed([replace(evidence, name="sample runs on the engine")])
        phases = {
            name: _phase(name, runs, graph) if first or name == "setup" else 0.0
            for name in ("setup", "read", "write")
        }
        phases["superstep"] = float(seconds.sum())
        steps = sum(run.summary.edges * run.summary.iterations for run in ran)
        return RuntimeEstimate(
            evidence=weighted,
            rows=workload.rows.assign(seconds=seconds),
            relative_std=std,
            phases=phases,
            phase_std=PHASE_STD,
            samples=[run.summary for run in ran],
            edge_visits=float(steps),
        )

    def _regressions(
        self, workload: Workload, runs: list[SampleRun], *, busiest: bool
    ) -> Iterator[Evidence]:
        """Yield regressions on one critical worker: with selection, then with growing costs."""
        engine, context = self._engine, self._context
        training = TrainingSet(by_iteration=True)
        side_by_side = not engine.virtual_workers
        for run in runs:
            training.add(
                cost_rows(run.profile.table, virtual_workers=not side_by_side, busiest=busiest),
                own=True,
            )
        history_runs = add_history(
            context.history, self._graph, engine, workload.algorithm, training
        )
        rows, named = workload.table, context.cost_model(workload.algorithm)
        if side_by_side:
            tables = [run.profile.table for run in runs]
            rows = _on_critical_path(rows, tables, self._factors, busiest=busiest)
        for required in ((), BY_ITERATION):
            yield regression_evidence(training, named, rows, history_runs, required)


def _of_part(runs: list[SampleRun], number: int, parts: int) -> list[SampleRun]:
    """Return the runs of one algorithm of a chain, each with its own phases."""
    found = []
    for run in runs:
        profile = run.profile
        for _ in range(parts - 1 - number):
            if profile.prior is None:
                raise JobError(
                    f"the engine ran {profile.algorithm} but does not report the algorithm that "
                    "runs before it; accepted: a profile with prior"
                )
            profile = profile.prior
        found.append(replace(run, profile=_own(profile)))
    return found


def _own(profile: RunProfile) -> RunProfile:
    """Return a run without the setup of its prior, which a profile includes."""
    if profile.prior is None:
        return profile
    before = profile.prior.phases["setup"]
    phases = {**profile.phases, "setup": max(profile.phases["setup"] - before, 0.0)}
    return replace(profile, phases=phases)


def _phase(name: str, runs: list[SampleRun], graph: Graph) -> float:
    """Return the seconds of a phase on the whole graph, on a line through those of its samples."""
    sizes = np.array([float(run.summary.edges) for run in runs])
    # Samples in memory are not read; the read time of this graph is known.
    seconds = np.array([run.profile.phases[name] for run in runs])
    found = fitted_line(sizes, seconds).at(graph.edges) if seconds.any() else 0.0
    return found + (graph.read_seconds if name == "read" else 0.0)


def _on_critical_path(
    rows: pd.DataFrame,
    tables: Sequence[pd.DataFrame],
    factors: Sequence[tuple[float, float]],
    *,
    busiest: bool,
) -> pd.DataFrame:
    """Return the counters of the critical worker, from those of all workers together.

    The fullest of `w` workers has ``1 / w`` of all counters plus a random excess. The samples show
    this excess in units of :func:`_unevenness`; the whole graph, with more vertices, is more
    balanced.
    """
    shares: dict[str, float] = {}
    for name in (*COUNTERS, "total_vertices"):
        found = []
        for table, (by_vertices, by_edges) in zip(tables, factors, strict=True):
            even = 1.0 / max(table["worker"].nunique(), 1)
            own = cost_rows(table, virtual_workers=False, busiest=busiest)[name]
            share = float(own.sum()) / max(float(table[name].sum()), 1e-300)
            factor = by_vertices if name in ("active_vertices", "total_vertices") else by_edges
            found.append(even + (share - even) * factor if share > 0.0 else even)
        shares[name] = float(np.mean(found))
    return rows.assign(**{name: rows[name] * share for name, share in shares.items()})


def _unevenness(graph: Graph) -> tuple[float, float]:
    """Return how unevenly a random partitioning distributes the vertices and edges of a graph.

    ``sqrt(sum d^2) / sum d``, proportional to the standard deviation of a worker's share, with 1,
    or the out-degree, for `d`.
    """
    degrees = graph.out_degrees.astype(np.float64)
    by_edges = math.sqrt(float(degrees @ degrees)) / max(float(degrees.sum()), 1.0)
    return 1.0 / math.sqrt(max(graph.vertices, 1)), by_edges


def runtime_model_of(engine: Engine | Any) -> type[RuntimeModel]:
    """Return the runtime model of an engine, or of a class of engines.

    This is the model that the class itself declares. An engine that inherits a model but overrides
    the run uses sample runs, like one that declares none.

    Examples
    --------
    >>> from predict_graph.engines.local import LocalEngine
    >>> class Slower(LocalEngine):
    ...     name = "slower"
    ...
    ...     def run(self, *arguments, **options):
    ...         return super().run(*arguments, **options)
    >>> runtime_model_of(LocalEngine).__name__, runtime_model_of(Slower).__name__
    ('LocalRuntimeModel', 'LearnedRuntimeModel')
    """
    kind: Any = engine if inspect.isclass(engine) else type(engine)
    for ancestor in getattr(kind, "__mro__", ()):
        own = vars(ancestor).get("runtime_model")
        if own is not None and kind.run is ancestor.run:
            found: type[RuntimeModel] = loaded(own)
            return found
        if "run" in vars(ancestor):
            break
    return LearnedRuntimeModel
