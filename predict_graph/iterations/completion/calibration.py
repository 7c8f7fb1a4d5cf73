"""How far off is a completed sample? Ask graphs whose answer is known.

A walk sample is a small graph with structure of its own kind: communities, triangles, chains. Run
the algorithm on it: its crossing is known exactly. Complete a sample *of the walk sample* and
compare. What completion misses there, it misses in the whole graph too, so the logarithm of the
ratio is added to the estimate, averaged over two samplers that err in opposite directions: random
jump (denser places, shorter walks) and Metropolis–Hastings (even, sparser).

A walk sample that is sparser than the graph says little about it: its word counts in proportion
to its density.
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

__all__ = ["Calibration", "calibrate", "combined_correction"]

_WALKS = ("rj", "mhrw")
_RATIO = 0.3  # of a completed sample of a walk; judgement, as these: docs/studies/constants.md
_REPLICATES = 3  # completed samples of a walk sample; judgement
_PASSES = 2.35  # by definition: a walk sample is run once and completed three times at about 0.45
_LARGEST = 300_000  # edges; judgement
_MOST_REPEATS = 5  # judgement


@dataclass(frozen=True)
class Calibration:
    """What one walk sample said.

    Parameters
    ----------
    sampler : str
    exact, completed : float
        Crossing of the walk sample itself, and as estimated from completed samples of it.
    density_ratio : float
        Edges per vertex of the walk sample / of the graph.
    """

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
    """Return the logarithmic correction that walk samples agree on, and its standard error.

    The median of each sampler's samples, because a small one may hold a trap for rank that the
    graph does not have; then the mean over samplers.

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
    """Run walk samples, complete samples of them, and compare, until the deadline.

    Small walk samples are drawn several times; large ones, which vary little, once.

    Parameters
    ----------
    case : SamplingCase
        Its engine runs the walk samples, to the threshold of the graph: any would do, as long as
        the completed ones run to the same.
    allowed : int
        Edges that all samples together may have.

    Returns
    -------
    calibrations : list of Calibration
    runs : list of SampleRun
        Of the walk samples.
    edge_steps : float
        Edges times iterations, over all samples.
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
