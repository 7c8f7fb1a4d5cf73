"""The first supersteps of a run on the whole graph, timed as evidence of the later ones.

Their messages come from memory, whereas those of a sample come from a cache.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from predict_graph.arrays import FloatArray
from predict_graph.engines.profile import per_iteration
from predict_graph.table import Table

PROBED_SUPERSTEPS = 6
"""Sufficient to measure supersteps that all do the same work; limits overhead."""


@dataclass(frozen=True)
class IterationProbe:
    """The first supersteps of a run.

    ``seconds`` of each, those of a superstep without senders, and the counters of those that ended.
    """

    seconds: FloatArray
    rows: Table
    idle_seconds: float = 0.0


def probe_of(run: Table) -> IterationProbe:
    """Return the first supersteps of a run from its rows."""
    rows = per_iteration(run).without("convergence").take(slice(PROBED_SUPERSTEPS))
    return IterationProbe(rows.floats("seconds"), rows)


def undisturbed_seconds(probes: Sequence[IterationProbe]) -> tuple[FloatArray, float]:
    """Return the seconds of the first supersteps from repeated probes, and their deviation.

    Disturbances only make probes slower, so the slowest one is excluded.
    """
    count = min(len(probe.seconds) for probe in probes)
    seconds = np.array([probe.seconds[:count] for probe in probes])
    totals = seconds.sum(axis=1)
    undisturbed = seconds[np.argsort(totals)[: max(len(totals) - 1, 1)]]
    return undisturbed.mean(axis=0), float(totals.std() / max(float(totals.mean()), 1e-300))


def settled(probes: Sequence[IterationProbe], work: FloatArray) -> slice | None:
    """Return the first supersteps to measure by; None if they do too little of the work.

    All but the first, which starts threads and takes page faults. One of them has to do at least
    half as much as the busiest superstep: the fixed cost of a superstep says little of its work.

    Examples
    --------
    >>> probe = IterationProbe(np.ones(3), Table({}))
    >>> settled([probe], np.array([1.0, 5.0, 9.0, 2.0]))
    slice(1, 3, None)
    >>> settled([probe], np.array([1.0, 1.0, 1.0, 80.0])) is None
    True
    """
    count = min((len(work), *(len(probe.seconds) for probe in probes))) if probes else 0
    measured = slice(1 if count > 1 else 0, count)
    busiest = float(work[measured].max(initial=0.0))
    return measured if count and 2.0 * busiest >= float(work.max()) else None


def idle_seconds(kernel: Any, repeats: int = 3) -> float:
    """Return the time of a superstep without senders; 0 for kernels in which all vertices send.

    The state of the kernel is invalid afterwards.
    """
    if not hasattr(kernel, "rest"):
        return 0.0
    seconds = []
    for _ in range(repeats):
        kernel.rest()
        started = time.perf_counter()
        kernel.step()
        seconds.append(time.perf_counter() - started)
    return min(seconds)
