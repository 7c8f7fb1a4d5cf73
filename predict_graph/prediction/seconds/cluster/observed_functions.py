"""Estimating the work of a user's job from its sample runs.

Only the metrics of its tasks are known. Iterations come from walk samples of two sizes (PREDIcT,
section 3.2, without a transform, because the job's threshold is unknown): their growth is
extrapolated to the graph. The decrease of records over iterations comes from the larger sample; the
initial records come from all samples.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.intervals import QUANTILE
from predict_graph.iterations import IterationEstimate
from predict_graph.iterations.estimate import iteration_interval
from predict_graph.prediction.seconds.cluster.exchanged_records import exchange_measures, exchanged
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.superstep_features import by_place

FloatArray = npt.NDArray[np.float64]

_LEAST_STD = 0.02  # of iterations: bounds the interval from below; not tuned
_FEW_RUNS_STD = 0.15  # where all samples agree: bounds the interval from below; not tuned
_MOST = 2**31  # by definition: no limit


def observed_estimate(runs: list[ClusterRun], graph: AnyGraph) -> IterationEstimate:
    """Return the iterations of the graph, from those of its samples.

    Samples that agree exactly indicate a fixed number of iterations. Otherwise the walk samples are
    extrapolated over the logarithm of their size. Folded samples have the graph's edges per vertex
    in random order, in which values spread fast: the graph hardly takes fewer iterations than the
    largest of them.
    """
    walks = sorted(
        (run for run in runs if run.summary.purpose == "iterations"),
        key=lambda run: run.summary.vertices,
    )
    mixed = max(
        (run for run in runs if run.summary.purpose == "cost"), key=lambda run: run.summary.vertices
    )
    counts = np.array([run.profile.iterations for run in runs], dtype=np.float64)
    agree = counts.min() == counts.max()
    continued = _continued(walks, graph.vertices)
    expected = max(continued, float(mixed.profile.iterations))
    seen = np.array([*(run.profile.iterations for run in walks), expected])
    spread = _LEAST_STD if agree else math.hypot(float(np.log(seen).std()), _FEW_RUNS_STD)
    iterations, low, high = iteration_interval(expected, spread, QUANTILE, _MOST)
    warnings = []
    if not agree:
        warnings.append(
            f"the samples took {int(counts.min())} to {int(counts.max())} iterations; the real run "
            "may differ as much"
        )
    found = walks[-1].profile.result
    if found.get("certainty") == "doubtful":
        warnings.append(f"it is doubtful what the supersteps of the job are: {found.get('reason')}")
    return IterationEstimate(
        method="observed",
        crossing=expected,
        iterations=iterations,
        low=low,
        high=high,
        curve=np.full(iterations, np.nan),
        converged=True,
        samples=[],
        edge_steps=0.0,
        warnings=warnings,
    )


def _continued(walks: list[ClusterRun], vertices: int) -> float:
    """Return the iterations at the size of the graph, on the line through two samples."""
    small, large = walks[0], walks[-1]
    reached = float(large.profile.iterations)
    apart = math.log(large.summary.vertices / small.summary.vertices)
    if apart <= 0.0:
        return reached
    growth = max(reached - small.profile.iterations, 0.0) / apart
    return reached + growth * math.log(max(vertices / large.summary.vertices, 1.0))


def observed_rows(
    runs: list[ClusterRun],
    graph: AnyGraph,
    iterations: int,
    machines: int,
    partitions: int,
    executors: int,
) -> pd.DataFrame:
    """Return the features and counters of each iteration of the real run."""
    walk = max(
        (run for run in runs if run.summary.purpose == "iterations"),
        key=lambda run: run.summary.vertices,
    )
    sums = walk.exchanged()
    first = _first_records(runs, exchange_measures(graph, partitions))
    records = _course(sums["shuffle_read_records"].to_numpy(), first, iterations)
    at = np.minimum(np.arange(iterations), len(sums) - 1)
    written = np.maximum(sums["shuffle_write_records"].to_numpy(), 1.0)
    volume = records * (sums["shuffle_write_bytes"].to_numpy() / written)[at]
    active = sums["active_vertices"].to_numpy()[at] / max(walk.summary.vertices, 1)
    remote = 1.0 - 1.0 / executors
    return pd.DataFrame(
        {
            "vertices": np.full(iterations, graph.vertices / machines),
            "messages": records / machines,
            "records": records / machines,
            "remote_bytes": volume * remote / machines,
            "active_vertices": active * graph.vertices,
            **by_place(records, remote, volume, remote),
        }
    )


def _first_records(runs: list[ClusterRun], wanted: FloatArray) -> list[float]:
    """Return the records of the first two iterations of the real run.

    The first one may include setup; all later ones do the same work.
    """
    known_runs = [(run.measures, run.exchanged()) for run in runs if run.measures is not None]
    measures = [known for known, _ in known_runs]
    courses = [sums["shuffle_read_records"].to_numpy() for _, sums in known_runs]
    return [
        exchanged(measures, [course[min(step, len(course) - 1)] for course in courses], wanted)
        for step in range(2)
    ]


def _course(sample: FloatArray, first: list[float], iterations: int) -> FloatArray:
    """Return records of all iterations: the first two, then proportional to those of a sample."""
    at = np.minimum(np.arange(iterations), len(sample) - 1)
    second = sample[min(1, len(sample) - 1)]
    records: FloatArray = first[1] * sample[at] / max(second, 1.0)
    records[0] = first[0]
    return records
