"""The workload of a run: counters of each iteration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import COUNTERS, Workload
from predict_graph.iterations import IterationEstimate
from predict_graph.table import Table


def workloads_of(
    algorithms: Sequence[Algorithm], estimates: Sequence[IterationEstimate]
) -> list[Workload]:
    """Return what the run of each algorithm of a chain will do."""
    return [
        Workload(algorithm, each.iterations, counted(each.counters), each.staged)
        for algorithm, each in zip(algorithms, estimates, strict=True)
    ]


def counted(counters: Table) -> Table:
    """Return counters of iterations as whole numbers, with `iteration` and the size of a message.

    `counters` has one row an iteration: the counters and all vertices.
    """
    if not len(counters):
        return counters
    known = [name for name in (*COUNTERS, "total_vertices") if name in counters]
    whole = {name: np.rint(counters.floats(name)).astype(np.int64) for name in known}
    rows = Table({"iteration": np.arange(1, len(counters) + 1), **whole})
    sent = rows.floats("local_messages", "remote_messages")
    size = rows.floats("local_message_bytes", "remote_message_bytes")
    return rows.assign(average_message_bytes=size / np.maximum(sent, 1.0))
