"""The runtime model of an unknown engine, fitted to sample runs: PREDIcT, section 3.4.

The algorithm runs on samples of the graph, on that engine, at the training ratios. A regression
with forward selection on the counters of the critical path gives the time of each iteration, and
lines over the sizes of the samples give the other phases. Times of other engines are not used.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from predict_graph import engines
from predict_graph.algorithms import Algorithm
from predict_graph.calibration import log_std
from predict_graph.deadline import StopRun
from predict_graph.errors import JobError
from predict_graph.graph import Graph
from predict_graph.history import History, RunRecord, machine_identity
from predict_graph.iterations import EdgeBudget, SampleRun, draw_sample, run_sample
from predict_graph.plugins import loaded
from predict_graph.prediction.seconds import regression
from predict_graph.prediction.work import records_of
from predict_graph.table import Table

if TYPE_CHECKING:
    import pandas as pd

    from predict_graph.budget import Spending
    from predict_graph.prediction.request import Request

# Sampling ratios of the runs that train the cost model: PREDIcT, section 5.2.
DEFAULT_TRAIN_RATIOS = (0.05, 0.1, 0.15, 0.2)
# Limits the iterations of a sample run, whose first may be slower: sufficient to measure
# iterations that all do the same work.
STEADY_ITERATIONS = 6
# Variation of phases between runs, of those measured once; measured in docs/studies/overhead.md.
PHASE_STD = 0.2


def with_common_error(evidence: engines.Evidence, algorithm: str) -> engines.Evidence:
    """Return evidence of samples with the error that its own deviation does not show."""
    common = log_std("seconds by samples", algorithm)
    return replace(evidence, relative_std=math.hypot(evidence.relative_std, common))


@dataclass(eq=False)
class EngineModel:
    """What the runtime models of all engines hold."""

    graph: Graph
    request: Request
    history: History | None
    spending: Spending

    def __post_init__(self) -> None:
        self.engine: Any = self.request.engine
        self.parts = {part.algorithm.name: part for part in self.request.chain}
        self.algorithms = [part.algorithm for part in self.request.chain]
        self.rng = np.random.default_rng(self.request.seed).spawn(3)[1]  # of its samples

    def survey(self) -> None:
        """Do nothing: samples on this machine do not disturb another engine."""


class SampledModel(EngineModel):
    """A runtime model that fits a cost model to sample runs on its engine."""

    @property
    def edges_for_costs(self) -> int | None:
        """All edges of samples for the seconds alone; None where samples have their full size."""
        if self.request.method.name == "published":
            return None
        return EdgeBudget(self.graph.edges, self.request.max_overhead).for_costs

    def _sample_runs(self, algorithm: Algorithm, allowed: int | None) -> list[SampleRun]:
        """Run the algorithm on samples of growing ratio (PREDIcT, section 3.4).

        The smallest runs to its end, to show costs that grow during a run; of an algorithm whose
        iterations all do the same work a few suffice. Samples end at the deadline; `allowed` are
        their edges together.
        """
        request, graph = self.request, self.graph
        ratios = request.train_ratios or DEFAULT_TRAIN_RATIOS
        transform = self.parts[algorithm.name].transform
        given = algorithm, self.engine, transform, algorithm.threshold(graph.vertices)
        ran: list[SampleRun] = []
        for number, ratio in enumerate(ratios):
            # A line takes two points, and a third to validate it.
            if number >= 3 and not self.spending.affords(ran[-1].summary.seconds):
                break
            request.progress(f"cost sample at ratio {ratio:g}", number / len(ratios))
            cap = None if allowed is None else max(int(allowed * ratio / sum(ratios)), 1)
            most = STEADY_ITERATIONS if number and algorithm.steady else None
            try:
                sample = draw_sample(graph, request.sampler, ratio, self.rng, max_edges=cap)
                ran.append(run_sample(sample, *given, purpose="cost", max_iterations=most))
            except StopRun:
                break
        return ran

    def _regression(
        self,
        algorithm: Algorithm,
        rows: pd.DataFrame,
        tables: Sequence[pd.DataFrame],
        probed: Sequence[Table] = (),
    ) -> engines.Evidence:
        """Return the time of iterations with these counters, by a cost model.

        It is trained on the tables of sample runs, on runs of other graphs by the same engine on
        this machine, and on the rows of probes.
        """
        others, here = [], (self.engine.describe(), machine_identity())
        if self.history is not None:
            own = self.graph.fingerprint
            others = self.history.training_runs(algorithm.name, *here, exclude_fingerprint=own)
        rows_of = partial(regression.cost_rows, virtual_workers=self.engine.virtual_workers)
        training = regression.training_table(
            [
                *((rows_of(table), "sample") for table in tables),
                *((rows_of(record.table), "history") for record in others),
                *((each, "probe") for each in probed),
            ]
        )
        chosen = self.parts[algorithm.name].cost_model
        return regression.regression_evidence(training, chosen, rows, len(others))


class LearnedRuntimeModel(SampledModel):
    """The runtime model of an engine, fitted to sample runs on it."""

    reads: ClassVar[frozenset[str]] = frozenset({"cost_model", "train_ratios"})

    def estimate(self, workloads: Sequence[engines.Workload]) -> list[engines.RuntimeEstimate]:
        """Return the estimate of each algorithm of the chain; the first one reads the graph."""
        allowed = self.edges_for_costs and self.graph.edges
        ran = self._sample_runs(self.algorithms[-1], allowed)
        parts = [records_of(run.profile) for run in ran]
        for each in parts:
            if len(each) < len(workloads):
                raise JobError(
                    f"the engine ran {each[0].algorithm} but does not report the algorithm that "
                    "runs before it; accepted: a profile with prior"
                )
        found = [
            self._runtime_on(workload, [each[number] for each in parts], first=number == 0)
            for number, workload in enumerate(workloads)
        ]
        found[-1] = replace(found[-1], samples=[run.summary for run in ran])
        return found

    def _runtime_on(
        self, workload: engines.Workload, runs: Sequence[RunRecord], *, first: bool
    ) -> engines.RuntimeEstimate:
        algorithm, rows = workload.algorithm, workload.table
        if not self.engine.virtual_workers:
            rows = _on_critical_path(rows, runs)
        tables = [run.table for run in runs]
        evidence = with_common_error(self._regression(algorithm, rows, tables), algorithm.name)
        phases = {
            name: _phase(name, runs, self.graph) if first or name == "setup" else 0.0
            for name in ("setup", "read", "write")
        }
        evidence = replace(evidence, name="sample runs on the engine")
        return workload.runtime(evidence, PHASE_STD, **phases)


def _phase(name: str, runs: Sequence[RunRecord], graph: Graph) -> float:
    """Return the seconds of a phase on the whole graph, on a line through those of its samples."""
    sizes = np.array([float(run.edges) for run in runs])
    # Samples in memory are not read; the read time of this graph is known.
    seconds = np.array([run.phases[name] for run in runs])
    found = regression.fitted_line(sizes, seconds).at(graph.edges)
    return found + (graph.read_seconds if name == "read" else 0.0)


def _on_critical_path(rows: pd.DataFrame, runs: Sequence[RunRecord]) -> pd.DataFrame:
    """Return the counters of the critical worker, from those of all workers together.

    Its fraction of each counter is the mean of that in the samples, and even where they have none.
    """
    names = [*engines.COUNTERS, "total_vertices"]
    fractions = []
    for table in (run.table for run in runs):
        own = regression.cost_rows(table, virtual_workers=False)[names].sum()
        fractions.append((own / table[names].sum()).fillna(1.0 / table["worker"].nunique()))
    return rows.assign(**rows[names] * np.mean(fractions, axis=0))


def runtime_model_of(engine: engines.Engine | Any) -> type[engines.RuntimeModel]:
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
            found: type[engines.RuntimeModel] = loaded(own)
            return found
        if "run" in vars(ancestor):
            break
    return LearnedRuntimeModel
