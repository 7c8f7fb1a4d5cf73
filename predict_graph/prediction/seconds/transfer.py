"""Seconds of a run from those of a sample run that goes through the same stages.

A regression on counters knows what a message costs on average. A staged sample run does more: its
iterations are those of the real run, one by one, with the same share of messages that change
something, so that their seconds have the right proportions. What differs is how much work there is,
which kernels tell apart by vertices, edges and messages, and how far away its data is, which a
probe of the real arrays tells. Data from far away makes each unit of work dearer by the same time,
whatever else is done with it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import Algorithm
from predict_graph.deadline import StopRun
from predict_graph.engines import StagedSample, Witness, Workload
from predict_graph.engines.local.observed import timed_run
from predict_graph.engines.local.probing import IterationProbe

__all__ = ["TimedSample", "timed_sample", "transfer_witness", "undisturbed_seconds"]

FloatArray = npt.NDArray[np.float64]

_UNPROBED_STD = 0.25  # judgement: a sample fits in a cache (docs/design-notes.md, fact 4)
_WORTH_REPEATING = 0.5  # seconds of the runs before; a choice, of what it costs
_MOST_RUNS = 4  # a choice, of what they cost


@dataclass(frozen=True)
class TimedSample:
    """What the iterations of a staged sample take on this machine.

    Parameters
    ----------
    seconds : ndarray of float64, shape (iterations,)
    idle_seconds : float
        Of an iteration in which nothing is sent.
    runs : int
    """

    seconds: FloatArray
    idle_seconds: float
    runs: int


def timed_sample(
    algorithm: Algorithm,
    staged: StagedSample,
    threads: int,
    affords: Callable[[float], bool] = lambda seconds: True,
) -> TimedSample:
    """Run a staged sample a few times, and return the least seconds of each iteration.

    What disturbs one run seldom disturbs all, and the first uses memory that nobody has used. If
    the deadline passes in the first run, they are those of the run that estimated its iterations.

    Parameters
    ----------
    algorithm : Algorithm
    staged : StagedSample
    threads : int
    affords : callable
        Whether so many more seconds are within the budget.
    """
    iterations = len(staged.work)
    least, idle, spent, runs = np.full(iterations, np.inf), math.inf, 0.0, 0
    while runs < _MOST_RUNS and spent <= _WORTH_REPEATING:
        try:
            seconds, resting = timed_run(
                algorithm,
                staged.graph,
                staged.weighting,
                iterations,
                prior=staged.prior_values,
                threads=threads,
            )
        except StopRun:
            break
        least, idle = np.minimum(least, seconds), min(idle, resting)
        spent, runs = spent + float(seconds.sum()), runs + 1
        if not affords(float(seconds.sum())):
            break
    return TimedSample(least, idle, runs) if runs else TimedSample(staged.seconds, 0.0, 0)


def transfer_witness(
    workload: Workload, timed: TimedSample, probes: list[IterationProbe]
) -> Witness:
    """Return the seconds of each iteration, as a staged sample run and probes say.

    ``seconds = idle + work x ((sample seconds - sample idle) / sample work + far)``, where `far`,
    what a unit of work takes longer with its data far away, makes the first iteration take what
    the probes say; where they are of an iteration with other work, it makes that one take it, whose
    units are near what they are in the busiest iteration. Probes cannot say less than a sample run,
    whose data is near: should they, one of the two was disturbed, and the middle is taken.

    Parameters
    ----------
    workload : Workload
        With a staged sample.
    timed : TimedSample
        Of that.
    probes : list of IterationProbe
        Of the first iteration of the real run.
    """
    staged = workload.staged
    assert staged is not None
    working = np.maximum(timed.seconds - timed.idle_seconds, 0.0)
    at = np.minimum(np.arange(workload.iterations), len(working) - 1)
    work = staged.whole_work[at]
    near = work * (working / staged.work)[at]
    if not probes:
        return Witness("sample run", timed.idle_seconds + near, _UNPROBED_STD)
    name = "sample run and probe"
    probed, std = undisturbed_seconds(probes)
    idle = min(probe.idle_seconds for probe in probes)
    first, units = float(near[0]), float(work[0])
    if probes[0].work is not None:
        busiest = int(work.argmax())
        units = probes[0].work
        first = units * float(near[busiest]) / max(float(work[busiest]), 1.0)
    if probed < first:
        factor = math.sqrt(probed / first)
        return Witness(name, idle + near * factor, math.hypot(std, -math.log(max(factor, 1e-9))))
    far = (probed - first) / max(units, 1.0)
    return Witness(name, idle + near + far * work, std)


def undisturbed_seconds(probes: list[IterationProbe]) -> tuple[float, float]:
    """Return what an iteration takes by repeated probes, and the relative deviation of that.

    Disturbances only ever make a probe slower: the slowest one is left out.
    """
    seconds = np.array([probe.seconds for probe in probes])
    undisturbed = np.sort(seconds)[: max(len(seconds) - 1, 1)]
    within = max(probe.relative_std for probe in probes)
    between = float(seconds.std() / max(float(seconds.mean()), 1e-300))
    return float(undisturbed.mean()), math.hypot(within, between)
