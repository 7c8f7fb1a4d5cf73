"""The workload of a run: counters of each iteration.

Methods that estimate them for the whole graph hand them on; otherwise those of a sample are
extrapolated (PREDIcT, section 3.3).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import COUNTERS, Workload, spread_evenly
from predict_graph.graph.csr import AnyGraph
from predict_graph.iterations import IterationEstimate
from predict_graph.table import Table

_VERTEX_FEATURES = ("active_vertices", "total_vertices")


def extrapolated(rows: Table, iterations: int, vertex_factor: float, edge_factor: float) -> Table:
    """Return the counters of the real run from those of a sample run, iteration by iteration.

    Features that grow with vertices are scaled by ``e_V = |V_G| / |V_S|``, those that grow with
    edges by ``e_E = |E_G| / |E_S|`` (section 3.3); the size of a message and the number of
    iterations are not scaled.

    Parameters
    ----------
    rows : Table
        One row an iteration of the sample run.
    iterations : int
        Of the real run. The last row of the sample stands for all iterations that it lacks.
    vertex_factor, edge_factor : float
        e_V and e_E.

    Returns
    -------
    Table
        `iterations` rows with `iteration`, the counters and `average_message_bytes`.
    """
    scaled = rows.take(np.minimum(np.arange(iterations), len(rows) - 1))
    columns = {}
    for name in (*COUNTERS, "total_vertices"):
        factor = vertex_factor if name in _VERTEX_FEATURES else edge_factor
        columns[name] = scaled.floats(name) * factor
    return counted(Table(columns))


def workloads_of(
    graph: AnyGraph,
    algorithms: Sequence[Algorithm],
    estimates: Sequence[IterationEstimate],
    workers: int,
) -> list[Workload]:
    """Return what the run of each algorithm of a chain will do.

    Parameters
    ----------
    graph : AnyGraph
    algorithms : sequence of Algorithm
    estimates : sequence of IterationEstimate
    workers : int
        Of the run: a hash leaves one message in so many where it is, which a small sample does not
        show as exactly.
    """
    return [
        Workload(algorithm, each.iterations, _rows_of(graph, each, workers), each.staged)
        for algorithm, each in zip(algorithms, estimates, strict=True)
    ]


def _rows_of(graph: AnyGraph, estimate: IterationEstimate, workers: int) -> Table:
    if estimate.counters is not None:
        return counted(estimate.counters)
    sample = estimate.observed
    if sample is None:
        return Table({})
    spread = spread_evenly(sample.rows, workers)
    larger = graph.vertices / max(sample.vertices, 1), graph.edges / max(sample.edges, 1)
    return extrapolated(spread, estimate.iterations, *larger)


def counted(counters: Table) -> Table:
    """Return counters of iterations as whole numbers, with `iteration` and the size of a message.

    `counters` has one row an iteration: the counters and all vertices.
    """
    known = [name for name in (*COUNTERS, "total_vertices") if name in counters]
    whole = {name: np.rint(counters.floats(name)).astype(np.int64) for name in known}
    rows = Table({"iteration": np.arange(1, len(counters) + 1), **whole})
    sent = rows.floats("local_messages", "remote_messages")
    size = rows.floats("local_message_bytes", "remote_message_bytes")
    return rows.assign(average_message_bytes=size / np.maximum(sent, 1.0))
