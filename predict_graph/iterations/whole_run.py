"""The compiled run of the whole graph on this machine, for an engine that is another one.

Iterations and messages are those of the algorithm, whatever runs it. Compiled, the run takes a
fraction of what its samples take, and what it says is exact (docs/studies/overhead.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile, SampleSummary
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.graph import Graph
from predict_graph.history import RunRecord
from predict_graph.iterations.estimate import IterationEstimate
from predict_graph.iterations.method import Method, SamplingCase

__all__ = ["WHOLE_RUN", "recalled_estimate", "whole_run_estimates"]


class _AbandonedError(Exception):
    """A run costs more than it is worth."""


class _Watch:
    """Abandons a run, or one before it in a chain, that may not go on."""

    def __init__(self, goes_on: Callable[[], bool]) -> None:
        self._goes_on = goes_on

    def __call__(self, iteration: int, aggregate: float) -> None:
        if not self._goes_on():
            raise _AbandonedError

    def begins(self, algorithm: Algorithm, graph: Any, threshold: float, limit: int) -> None:
        """Watch an algorithm of the chain like any other."""


def whole_run_estimates(
    graph: Graph,
    algorithms: Sequence[Algorithm],
    workers: int,
    goes_on: Callable[[], bool] = lambda: True,
) -> list[IterationEstimate]:
    """Run the algorithms of a chain on this machine, and return what they did: exact.

    Parameters
    ----------
    graph : Graph
    algorithms : sequence of Algorithm
        In the order in which they run.
    workers : int
        Workers that messages are counted for.
    goes_on : callable
        Asked after each superstep; once it says no, the run is given up, and nothing comes back.
    """
    started = time.perf_counter()
    profile: RunProfile | None
    try:
        profile = LocalEngine(workers=workers).run(algorithms[-1], graph, progress=_Watch(goes_on))
    except _AbandonedError:
        return []
    seconds = time.perf_counter() - started
    found: list[IterationEstimate] = []
    while profile is not None:
        summary = SampleSummary(
            "whole graph",
            1.0,
            graph.vertices,
            graph.edges,
            profile.iterations,
            seconds if not found else 0.0,
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
    return whole_run_estimates(case.graph, [case.algorithm], case.engine.workers)[-1]


WHOLE_RUN = Method(
    "whole-run",
    "the compiled run itself on this machine, for another engine: exact",
    frozenset(),
    runs_here,
    _estimate,
)
