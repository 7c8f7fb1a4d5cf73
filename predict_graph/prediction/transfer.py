"""Seconds of a run from those of a sample run that goes through the same stages.

A regression on counters knows what a message costs on average. A rooted sample run does more: its
iterations are those of the real run, one by one, with the same share of messages that change
something, so that their seconds have the right proportions. What differs is how much work there is,
which kernels tell apart by vertices, edges and messages, and how far away its data is, which a
probe of the real arrays tells. Data from far away makes each unit of work dearer by the same time,
whatever else is done with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from predict_graph.engines import IterationProbe, per_iteration
from predict_graph.iterations import IterationEstimate

__all__ = ["Transfer", "transfer_of", "undisturbed_seconds"]

FloatArray = npt.NDArray[np.float64]

_UNPROBED_STD = 0.25


@dataclass(frozen=True)
class Transfer:
    """How seconds of a sample run become seconds of the real run.

    Parameters
    ----------
    factor : float
        Cost of the same work in the real run / in the sample run, at the first iteration.
    idle_seconds : float
        Of an iteration of the real run, whatever is sent.
    relative_std : float
        How sure the factor is.
    seconds : ndarray of float64, shape (iterations,)
        Predicted.
    """

    factor: float
    idle_seconds: float
    relative_std: float
    seconds: FloatArray


def transfer_of(
    estimate: IterationEstimate, iterations: int, probes: list[IterationProbe]
) -> Transfer | None:
    """Return the seconds of each iteration; None if no sample run goes through the same stages.

    ``seconds = idle + work x ((sample seconds - sample idle) / sample work + far)``, where `far`,
    what a unit of work takes longer with its data far away, makes the first iteration take what
    the probes say. They cannot say less than a sample run, whose data is near: should they, one of
    the two was disturbed, and the middle is taken.

    Parameters
    ----------
    estimate : IterationEstimate
    iterations : int
        How many to give seconds for.
    probes : list of IterationProbe
        Of the first iteration of the real run.
    """
    sample = estimate.timed
    if sample is None:
        return None
    rows = per_iteration(sample.table)
    working = np.maximum(rows["seconds"].to_numpy() - sample.idle_seconds, 0.0)
    at = np.minimum(np.arange(iterations), len(rows) - 1)
    work = sample.whole_work[at]
    near = work * (working / sample.work)[at]
    if not probes:
        return Transfer(1.0, sample.idle_seconds, _UNPROBED_STD, sample.idle_seconds + near)
    probed, relative_std = undisturbed_seconds(probes)
    idle = min(probe.idle_seconds for probe in probes)
    first = float(near[0])
    factor = probed / first if first > 0.0 else 1.0
    if factor < 1.0:
        factor = math.sqrt(factor)
        return Transfer(
            factor, idle, math.hypot(relative_std, -math.log(factor)), idle + near * factor
        )
    far = (probed - first) / max(float(work[0]), 1.0)
    return Transfer(factor, idle, relative_std, idle + near + far * work)


def undisturbed_seconds(probes: list[IterationProbe]) -> tuple[float, float]:
    """Return what an iteration takes by repeated probes, and the relative deviation of that.

    Disturbances only ever make a probe slower: the slowest one is left out.
    """
    seconds = np.array([probe.seconds for probe in probes])
    undisturbed = np.sort(seconds)[: max(len(seconds) - 1, 1)]
    within = max(probe.relative_std for probe in probes)
    between = float(seconds.std() / seconds.mean())
    return float(undisturbed.mean()), math.hypot(within, between)
