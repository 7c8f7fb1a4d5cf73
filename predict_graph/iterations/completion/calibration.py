"""Calibration of completed samples on walk samples, whose exact answer is known.

A walk sample is a small graph with the local structure of the whole graph: communities, triangles,
chains. The algorithm runs on it, and on completed samples of it. The logarithm of the ratio of both
crossings corrects the estimate, averaged over two samplers with opposite errors: random jump
(denser) and Metropolis–Hastings (sparser). It is weighted by the density of the walk sample
relative to the graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from predict_graph.deadline import StopRun, time_left
from predict_graph.iterations.completion.replicates import (
    FEWEST_VERTICES,
    ReplicatePlan,
    replicate,
)
from predict_graph.iterations.crossing import crossing
from predict_graph.iterations.method import SamplingCase
from predict_graph.iterations.samples import SampleRun, draw_sample, run_sample

_WALKS = ("rj", "mhrw")
_RATIO = 0.3  # of a completed sample of a walk sample: limits overhead
_REPLICATES = 3  # completed samples of a walk sample: limits overhead
_PASSES = 2.35  # by definition: a walk sample is run once and completed three times at about 0.45
_LARGEST = 300_000  # edges: limits overhead
_MOST_REPEATS = 5  # walk samples: limits overhead


@dataclass(frozen=True)
class Calibration:
    """The exact and the estimated crossing of one walk sample."""

    sampler: str
    exact: float
    completed: float
    density_ratio: float

    @property
    def log_correction(self) -> float:
        """Logarithm of the factor that the estimate should be multiplied with."""
        if not (np.isfinite(self.exact) and np.isfinite(self.completed)):
            return 0.0
        trust = min(1.0, self.density_ratio)
        return trust * float(np.log(self.exact / self.completed))


def combined_correction(calibrations: list[Calibration]) -> tuple[float, float]:
    """Return the mean logarithmic correction, and its standard error.

    It is the mean over samplers of the median over their samples, because a small sample may trap
    rank where the graph does not.

    Examples
    --------
    >>> correction, error = combined_correction(
    ...     [Calibration("rj", 11.0, 10.0, 1.0), Calibration("mhrw", 10.0, 10.0, 2.0)]
    ... )
    >>> round(correction, 3), round(error, 3)
    (0.048, 0.048)
    """
    if not calibrations:
        return 0.0, 0.0
    by_sampler: dict[str, list[float]] = {}
    for calibration in calibrations:
        by_sampler.setdefault(calibration.sampler, []).append(calibration.log_correction)
    medians = np.array([np.median(logs) for logs in by_sampler.values()])
    return float(medians.mean()), float(medians.std() / np.sqrt(max(len(medians) - 1, 1)))


def calibrate(case: SamplingCase, allowed: int) -> tuple[list[Calibration], list[SampleRun], float]:
    """Compare runs of walk samples with completed samples of them, until the deadline.

    Small walk samples are drawn several times, large ones, which vary little, once.
    """
    graph, algorithm, rng = case.graph, case.algorithm, case.rng
    threshold = case.threshold
    per_walk = allowed / _PASSES / len(_WALKS)
    most = max(int(min(per_walk, _LARGEST)), 1)
    calibrations: list[Calibration] = []
    runs: list[SampleRun] = []
    steps = 0.0
    for number, walk in enumerate(_WALKS):
        count = 1
        while count > 0 and time_left() > 0.0:
            case.progress(f"calibration on a {walk} sample", number / len(_WALKS))
            sample = draw_sample(graph, walk, case.ratio, rng, max_edges=most)
            small = sample.graph
            if small.vertices < 2 * FEWEST_VERTICES or small.edges < small.vertices // 10:
                break
            if not any(calibration.sampler == walk for calibration in calibrations):
                count = _odd(per_walk / small.edges)
            try:
                run = run_sample(
                    sample,
                    algorithm,
                    case.engine,
                    case.transform,
                    threshold,
                    purpose="calibration",
                )
            except StopRun:
                break
            plan = ReplicatePlan(max(small.edges // 2, 1), _REPLICATES)
            completed = replicate(small, algorithm, run.threshold, _RATIO, plan, rng)
            calibrations.append(
                Calibration(
                    walk,
                    crossing(run.profile.convergence, run.threshold),
                    completed.crossing,
                    (small.edges / small.vertices) / (graph.edges / graph.vertices),
                )
            )
            runs.append(run)
            steps += small.edges * run.profile.iterations
            steps += completed.edge_steps
            count -= 1
    return calibrations, runs, steps


def _odd(repeats: float) -> int:
    """Return the largest odd number of repeats that is affordable, for the median."""
    count = int(min(max(repeats, 1), _MOST_REPEATS))
    return count - (count + 1) % 2
