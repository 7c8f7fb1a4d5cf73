"""What a job of the user's own will do, from what its sample runs were seen to do.

Nothing is known of it but the metrics of its tasks. Iterations are those of a walk sample (PREDIcT,
section 3.2, without a transform, because nobody knows where the job keeps its threshold); records
and bytes are those of a folded sample, and grow with the edges (section 3.3).
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from predict_graph.engines import COUNTERS
from predict_graph.graph import Graph
from predict_graph.iterations import QUANTILE, IterationEstimate
from predict_graph.iterations.estimate import iteration_interval
from predict_graph.prediction.cluster.sample_runs import ClusterRun

__all__ = ["observed_estimate", "observed_rows"]

_LEAST_STD = 0.02
_FEW_RUNS_STD = 0.15  # of the iterations of samples that all agree on something wrong
_MOST = 2**31


def observed_estimate(runs: list[ClusterRun]) -> IterationEstimate:
    """Return the iterations of the walk sample, with the spread over all samples.

    Samples that agree exactly are taken at their word: a job of a fixed number of iterations.
    """
    largest = max(runs, key=_says_most)
    counts = np.array([run.profile.iterations for run in runs], dtype=np.float64)
    agree = counts.min() == counts.max()
    spread = _LEAST_STD if agree else math.hypot(float(np.log(counts).std()), _FEW_RUNS_STD)
    iterations, low, high = iteration_interval(
        float(largest.profile.iterations), spread, QUANTILE, _MOST
    )
    warnings = []
    if not agree:
        warnings.append(
            f"the samples took {int(counts.min())} to {int(counts.max())} iterations; the real run "
            "may differ as much"
        )
    seen = largest.profile.result
    if seen.get("certainty") == "doubtful":
        warnings.append(f"it is doubtful what the supersteps of the job are: {seen.get('reason')}")
    return IterationEstimate(
        method="observed",
        crossing=float(iterations),
        iterations=iterations,
        low=low,
        high=high,
        curve=np.full(iterations, np.nan),
        converged=True,
        samples=[],
        edge_steps=0.0,
        warnings=warnings,
    )


def observed_rows(
    runs: list[ClusterRun], graph: Graph, iterations: int, machines: int, executors: int
) -> pd.DataFrame:
    """Return the features of each iteration of the real run, and its counters.

    Parameters
    ----------
    runs : list of ClusterRun
    graph : Graph
    iterations : int
    machines : int
    executors : int
        Processes that exchange records.
    """
    costs = [run for run in runs if run.summary.purpose == "cost"]
    largest = max(costs, key=lambda run: (run.profile.graph["edges"], not run.cold))
    profile = largest.profile
    e_v = graph.vertices / max(int(profile.graph["vertices"]), 1)
    e_e = graph.edges / max(int(profile.graph["edges"]), 1)
    sums = profile.table.groupby("iteration")[[*COUNTERS, "shuffle_read_records"]].sum()
    at = np.minimum(np.arange(iterations), len(sums) - 1)
    found = sums.iloc[at].reset_index(drop=True).astype(np.float64)
    records = found["shuffle_read_records"] * e_e
    messages = (found["local_messages"] + found["remote_messages"]) * e_e
    volume = (found["local_message_bytes"] + found["remote_message_bytes"]) * e_e
    remote = 1.0 - 1.0 / executors
    return pd.DataFrame(
        {
            "vertices": np.full(iterations, graph.vertices / machines),
            "messages": messages / machines,
            "records": records / machines,
            "remote_bytes": volume * remote / machines,
            "active_vertices": found["active_vertices"] * e_v,
            "local_messages": messages * (1.0 - remote),
            "remote_messages": messages * remote,
            "local_message_bytes": volume * (1.0 - remote),
            "remote_message_bytes": volume * remote,
        }
    )


def _says_most(run: ClusterRun) -> tuple[bool, int, bool]:
    """Rank runs by how much they say of iterations: walk samples, large ones, warm ones."""
    return run.summary.purpose == "iterations", int(run.profile.graph["edges"]), not run.cold
