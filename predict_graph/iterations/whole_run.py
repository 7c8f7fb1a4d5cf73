"""The full local run: the job itself on this machine by the compiled kernel, under a deadline.

Iterations and messages are those of the algorithm, whatever engine runs it, and exact. A run of up
to about a second costs less than its samples (docs/studies/accuracy.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile, SampleSummary
from predict_graph.engines.base import StopRun
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.graph import Graph
from predict_graph.history import RunRecord
from predict_graph.iterations.estimate import IterationEstimate
from predict_graph.iterations.method import Method, SamplingCase

__all__ = ["WHOLE_RUN", "full_local_run", "recalled_estimate", "whole_run_estimates"]


class _Deadline:
    """Stops a run, or one before it in a chain, whose next superstep may not go on."""

    def __init__(self, affords: Callable[[float], bool]) -> None:
        self._affords = affords
        self._ended = time.perf_counter()

    def __call__(self, iteration: int, aggregate: float) -> None:
        now = time.perf_counter()
        if not self._affords(now - self._ended):
            raise StopRun
        self._ended = now

    def begins(self, algorithm: Algorithm, graph: Any, threshold: float, limit: int) -> None:
        """Start the clock of the first superstep."""
        self._ended = time.perf_counter()

    def superstep(self, iteration: int, ended: float) -> None:
        """Ignore when supersteps of a log ended: a local run has none."""


def full_local_run(
    graph: Graph,
    algorithm: Algorithm,
    engine: LocalEngine,
    affords: Callable[[float], bool] = lambda seconds: True,
) -> RunProfile:
    """Run an algorithm on this machine, as long as the next superstep is affordable.

    Parameters
    ----------
    graph : Graph
    algorithm : Algorithm
    engine : LocalEngine
    affords : callable
        Called after each superstep, also of an algorithm that runs before, with the seconds that it
        took: those of the next one, about. Once it returns False, the run stops, and the profile of
        what ran until then says so (``stopped``).
    """
    return engine.run(algorithm, graph, progress=_Deadline(affords))


def whole_run_estimates(profile: RunProfile | None) -> list[IterationEstimate]:
    """Return what the algorithms of a chain did in a run on this machine: exact."""
    found: list[IterationEstimate] = []
    while profile is not None:
        summary = SampleSummary(
            "whole graph",
            1.0,
            int(profile.graph["vertices"]),
            int(profile.graph["edges"]),
            profile.iterations,
            profile.runtime_seconds if not found else 0.0,
            "iterations",
        )
        rows = profile.per_iteration().drop(columns="seconds")
        sent = float(rows[["local_messages", "remote_messages"]].to_numpy().sum())
        found.insert(
            0,
            IterationEstimate(
                method=WHOLE_RUN.name,
                crossing=float(profile.iterations),
                iterations=profile.iterations,
                low=profile.iterations,
                high=profile.iterations,
                curve=np.asarray(profile.convergence),
                converged=profile.converged,
                samples=[summary],
                edge_steps=sent,
                counters=rows,
            ),
        )
        profile = profile.prior
    return found


def recalled_estimate(record: RunRecord, workers: int) -> IterationEstimate:
    """Return what an earlier run of the same graph did, by the history.

    Parameters
    ----------
    record : RunRecord
    workers : int
        Of the run that is predicted: if they are others than then, a hash leaves one message in so
        many where it is.
    """
    sums = record.table.groupby("iteration", sort=True)
    columns = ["active_vertices", "local_messages", "remote_messages"]
    columns += ["local_message_bytes", "remote_message_bytes", "total_vertices"]
    rows = sums[columns].sum().join(sums[["convergence", "working_set_bytes"]].first())
    if record.table["worker"].nunique() != workers:
        for kind in ("messages", "message_bytes"):
            whole = rows[f"local_{kind}"] + rows[f"remote_{kind}"]
            rows[f"local_{kind}"] = whole / workers
            rows[f"remote_{kind}"] = whole - whole / workers
    return IterationEstimate(
        method="history",
        crossing=float(record.iterations),
        iterations=record.iterations,
        low=record.iterations,
        high=record.iterations,
        curve=rows["convergence"].to_numpy(np.float64),
        converged=bool(record.converged),
        samples=[],
        edge_steps=0.0,
        counters=rows.reset_index(drop=True),
    )


def _estimate(case: SamplingCase) -> IterationEstimate:
    engine = LocalEngine(workers=case.engine.workers)
    return whole_run_estimates(full_local_run(case.graph, case.algorithm, engine))[-1]


WHOLE_RUN = Method(
    "whole-run",
    "the full run on this machine by the compiled kernel, for another engine: exact",
    frozenset(),
    runs_here,
    _estimate,
)
