"""The full local run: the job itself on this machine by the compiled kernel, under a deadline.

Iterations and messages do not depend on the engine, so they are exact. A run of up to about a
second costs less than its samples (docs/studies/accuracy.md).
"""

from __future__ import annotations

import numpy as np

from predict_graph.engines import RunProfile, per_iteration, spread_evenly
from predict_graph.history import RunRecord
from predict_graph.iterations.estimate import IterationEstimate, whole_graph


def whole_run_estimates(profile: RunProfile | None) -> list[IterationEstimate]:
    """Return the exact iterations and counters of a local run and of its priors."""
    found: list[IterationEstimate] = []
    while profile is not None:
        seconds = profile.runtime_seconds if not found else 0.0
        made = IterationEstimate.exact(
            "whole-run",
            np.asarray(profile.convergence),
            per_iteration(profile.rows).without("seconds"),
            converged=profile.converged,
            samples=[whole_graph(profile.graph, profile.iterations, seconds)],
        )
        found.insert(0, made)
        profile = profile.prior
    return found


def recalled_estimate(record: RunRecord, workers: int) -> IterationEstimate:
    """Return the iterations and counters of an earlier run of the same graph.

    If it had another number of workers, messages are divided as a hash partitioning does.
    """
    rows = per_iteration(record.rows).without("seconds")
    if len(np.unique(record.rows["worker"])) != workers:
        rows = spread_evenly(rows, workers)
    curve = rows.floats("convergence")
    return IterationEstimate.exact("history", curve, rows, converged=bool(record.converged))
