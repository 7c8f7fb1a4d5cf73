"""The time of a run from a sample run that passes through the same stages.

A regression on counters uses the average cost of a message. The iterations of a staged sample match
those of the real run one by one, with the same share of messages that change something, so that
their times have the right proportions. The amount of work differs, which kernels split into
vertices, edges and messages, and so does the memory latency, which a probe of the real arrays
measures: it adds the same time to each unit of work.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import Algorithm
from predict_graph.deadline import StopRun
from predict_graph.engines import Evidence, StagedSample, Workload
from predict_graph.engines.local.observed import timed_run
from predict_graph.engines.local.probing import (
    IterationProbe,
    settled,
    undisturbed_seconds,
)

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TimedSample:
    """The time of the iterations of a staged sample on this machine."""

    seconds: FloatArray
    idle_seconds: float
    runs: int


def timed_sample(
    algorithm: Algorithm,
    staged: StagedSample,
    threads: int,
    affords: Callable[[float], bool] = lambda seconds: True,
    most: int = 4,
    enough: float = 0.5,
) -> TimedSample:
    """Run a staged sample up to `most` times, and return the minimum seconds of each iteration.

    No more runs are made when they have taken `enough` seconds.

    The minimum excludes most disturbances, and page faults of the first run. If the budget does not
    allow the first run, these are the times of the run that estimated the iterations.
    """
    iterations, took = len(staged.work), float(staged.seconds.sum())
    least, idle, spent, runs = np.full(iterations, np.inf), math.inf, 0.0, 0
    while runs < most and spent <= enough and affords(took):
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
        took = float(seconds.sum())
        spent, runs = spent + took, runs + 1
    return TimedSample(least, idle, runs) if runs else TimedSample(staged.seconds, 0.0, 0)


def transfer_evidence(
    workload: Workload,
    timed: TimedSample | None,
    probes: list[IterationProbe],
    unprobed_std: float = 0.25,
) -> Evidence | None:
    """Return the seconds of each iteration from a staged sample run and probes.

    ``seconds = idle + work x ((sample seconds - sample idle) / sample work + far)``, where `far`,
    the additional time per unit of work in memory, matches the first iterations to the probes.
    Probes below the sample run, whose data is in cache, indicate a disturbance of one of them, and
    the mean is used. Without a sample run all is in proportion to the work; None without either.
    Without a probe the deviation is `unprobed_std`, as a sample fits in a cache
    (docs/design-notes.md, fact 4).
    """
    staged, idle = workload.staged, 0.0
    if timed is None or staged is None:
        work = workload.rows.floats("active_vertices", "local_messages", "remote_messages")
        name, near = "probe", np.zeros(len(work))
    else:
        name, idle = "sample run and probe", timed.idle_seconds
        working = np.maximum(timed.seconds - idle, 0.0)
        at = np.minimum(np.arange(workload.iterations), len(working) - 1)
        work = staged.whole_work[at]
        near = work * (working / staged.work)[at]
    measured = settled(probes, work)
    if measured is None:
        return None if timed is None else Evidence("sample run", idle + near, unprobed_std)
    probed, std = undisturbed_seconds(probes)
    idle = min(probe.idle_seconds for probe in probes)
    taken = float(np.maximum(probed[measured] - idle, 0.0).sum())
    first, units = float(near[measured].sum()), float(work[measured].sum())
    if taken < first:
        factor = math.sqrt(taken / first)
        apart = -math.log(max(factor, 0.02))  # an interval of a factor of 700 says enough
        return Evidence(name, idle + near * factor, math.hypot(std, apart))
    far = (taken - first) / max(units, 1.0)
    return Evidence(name, idle + near + far * work, std)
