"""Predictions from runs of the very job: earlier ones in the history, or the one just made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile, Workload
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.history import History, RunRecord
from predict_graph.iterations import IterationEstimate
from predict_graph.iterations.whole_run import recalled_estimate, whole_run_estimates
from predict_graph.prediction.evidence_plan import Spending
from predict_graph.prediction.outcome import Prediction, assembled
from predict_graph.prediction.request import Request
from predict_graph.prediction.run_records import records_of
from predict_graph.prediction.seconds.earlier_runs import earlier_runtime
from predict_graph.prediction.work import workloads_of


def known_runs(
    graph: AnyGraph, algorithms: Sequence[Algorithm], history: History | None
) -> list[list[RunRecord]]:
    """Return the real runs of each algorithm of a chain on this very graph; [] if one has none."""
    if history is None or len(history) == 0:
        return []
    found = [history.runs_of(each.name, graph.fingerprint, each.to_dict()) for each in algorithms]
    return found if all(found) else []


def from_full_run(
    graph: AnyGraph,
    chain: Sequence[Request],
    profile: RunProfile,
    spending: Spending,
    source: Any,
) -> Prediction:
    """Return the prediction from a full run on the very engine."""
    records = [[record] for record in records_of(profile)]
    estimates = whole_run_estimates(profile)
    named = "full local run"
    return _from_runs(graph, chain, records, estimates, named, spending, source, measured=True)


def from_earlier_runs(
    graph: AnyGraph,
    chain: Sequence[Request],
    records: Sequence[Sequence[RunRecord]],
    spending: Spending,
    source: Any = None,
) -> Prediction:
    """Return the prediction from earlier runs of this job on this graph and engine."""
    estimates = [recalled_estimate(part[0], chain[-1].engine.workers) for part in records]
    named = "earlier runs of this graph"
    return _from_runs(graph, chain, records, estimates, named, spending, source, measured=False)


def _from_runs(
    graph: AnyGraph,
    chain: Sequence[Request],
    records: Sequence[Sequence[RunRecord]],
    estimates: Sequence[IterationEstimate],
    evidence: str,
    spending: Spending,
    source: Any,
    *,
    measured: bool,
) -> Prediction:
    workloads = workloads_on(graph, chain, estimates)
    runtimes = [
        earlier_runtime(part, workload, first=number == 0, source=evidence)
        for number, (part, workload) in enumerate(zip(records, workloads, strict=True))
    ]
    return assembled(
        graph, chain, estimates, workloads, runtimes, spending, source=source, measured=measured
    )


def workloads_on(
    graph: AnyGraph, chain: Sequence[Request], estimates: Sequence[IterationEstimate]
) -> list[Workload]:
    """Return the workload of each algorithm of a chain."""
    algorithms = [part.algorithm for part in chain]
    return workloads_of(graph, algorithms, estimates, chain[-1].engine.workers)
