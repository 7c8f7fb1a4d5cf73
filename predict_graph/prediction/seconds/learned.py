"""The runtime model of an unknown engine, fitted to sample runs: PREDIcT, section 3.4.

The algorithm runs on samples of the graph, on that engine, at the training ratios. A regression
with forward selection on the counters of the critical path gives the time of each iteration, and
lines over the sizes of the samples give the other phases. Times of other engines are not used.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from predict_graph.engines import (
    COUNTERS,
    Engine,
    RuntimeEstimate,
    RuntimeModel,
    Workload,
)
from predict_graph.errors import JobError
from predict_graph.graph import Graph
from predict_graph.history import RunRecord
from predict_graph.plugins import loaded
from predict_graph.prediction.seconds.earlier_runs import PHASE_STD, with_common_error
from predict_graph.prediction.seconds.regression import cost_rows, fitted_line
from predict_graph.prediction.seconds.sample_runs import SampledModel
from predict_graph.prediction.work import records_of

if TYPE_CHECKING:
    import pandas as pd


class LearnedRuntimeModel(SampledModel):
    """The runtime model of an engine, fitted to sample runs on it."""

    reads: ClassVar[frozenset[str]] = frozenset({"cost_model", "train_ratios"})

    def estimate(self, workloads: Sequence[Workload]) -> list[RuntimeEstimate]:
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
        samples, visits = [run.summary for run in ran], sum(run.edge_visits for run in ran)
        found[-1] = replace(found[-1], samples=samples, edge_visits=visits)
        return found

    def _runtime_on(
        self, workload: Workload, runs: Sequence[RunRecord], *, first: bool
    ) -> RuntimeEstimate:
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
        return workload.runtime(evidence, **phases, phase_std=PHASE_STD)


def _phase(name: str, runs: Sequence[RunRecord], graph: Graph) -> float:
    """Return the seconds of a phase on the whole graph, on a line through those of its samples."""
    sizes = np.array([float(run.edges) for run in runs])
    # Samples in memory are not read; the read time of this graph is known.
    seconds = np.array([run.phases[name] for run in runs])
    found = fitted_line(sizes, seconds).at(graph.edges)
    return found + (graph.read_seconds if name == "read" else 0.0)


def _on_critical_path(rows: pd.DataFrame, runs: Sequence[RunRecord]) -> pd.DataFrame:
    """Return the counters of the critical worker, from those of all workers together.

    Its fraction of each counter is the mean of that in the samples, and even where they have none.
    """
    names = [*COUNTERS, "total_vertices"]
    fractions = []
    for table in (run.table for run in runs):
        own, every = cost_rows(table, virtual_workers=False)[names].sum(), table[names].sum()
        fractions.append((own / every).fillna(1.0 / table["worker"].nunique()))
    return rows.assign(**rows[names] * np.mean(fractions, axis=0))


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
