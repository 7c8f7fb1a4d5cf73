"""The workload of a run: counters of each iteration.

Methods that estimate them for the whole graph hand them on; otherwise those of a sample are
extrapolated (PREDIcT, section 3.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import COUNTERS, Workload, spread_evenly
from predict_graph.graph.csr import AnyGraph
from predict_graph.iterations import IterationEstimate
from predict_graph.table import Table

_VERTEX_FEATURES = ("active_vertices", "total_vertices", "working_set_bytes")


@dataclass(frozen=True)
class Extrapolator:
    """Scales features of a sample run, iteration by iteration.

    Features that grow with vertices are scaled by ``e_V = |V_G| / |V_S|``, those that grow with
    edges by ``e_E = |E_G| / |E_S|`` (section 3.3); the size of a message and the number of
    iterations are not scaled.

    Parameters
    ----------
    vertex_factor, edge_factor : float
        e_V and e_E.

    Examples
    --------
    >>> Extrapolator.between(1000, 9000, 100, 600)
    Extrapolator(vertex_factor=10.0, edge_factor=15.0)
    """

    vertex_factor: float
    edge_factor: float

    @classmethod
    def between(
        cls, vertices: int, edges: int, sample_vertices: int, sample_edges: int
    ) -> Extrapolator:
        """Return the extrapolator from the sizes of the graph and of the sample."""
        return cls(vertices / max(sample_vertices, 1), edges / max(sample_edges, 1))

    def extrapolate(self, rows: Table, iterations: int) -> Table:
        """Return the counters of the real run.

        Parameters
        ----------
        rows : Table
            One row an iteration of the sample run.
        iterations : int
            Of the real run. The last row of the sample stands for all iterations that it lacks.

        Returns
        -------
        Table
            `iterations` rows with `iteration`, the counters, the working set and
            `average_message_bytes`.
        """
        at = np.minimum(np.arange(iterations), len(rows) - 1)
        scaled = rows.take(at)
        columns = {}
        for name in (*COUNTERS, "total_vertices", "working_set_bytes"):
            factor = self.vertex_factor if name in _VERTEX_FEATURES else self.edge_factor
            columns[name] = scaled.floats(name) * factor
        return _counted(Table(columns))


def workload_of(
    graph: AnyGraph, algorithm: Algorithm, estimate: IterationEstimate, workers: int = 1
) -> Workload:
    """Return what the run of an algorithm will do.

    Parameters
    ----------
    graph : AnyGraph
    algorithm : Algorithm
    estimate : IterationEstimate
    workers : int
        Of the run: a hash leaves one message in so many where it is, which a small sample does not
        show as exactly.
    """
    if estimate.counters is not None:
        rows = _counted(estimate.counters)
    elif estimate.observed is not None:
        sample = estimate.observed
        extrapolator = Extrapolator.between(
            graph.vertices, graph.edges, sample.vertices, sample.edges
        )
        spread = spread_evenly(sample.rows, workers)
        rows = extrapolator.extrapolate(spread, estimate.iterations)
    else:
        rows = Table({})
    return Workload(algorithm, estimate.iterations, rows, estimate.staged)


def _counted(counters: Table) -> Table:
    """Return counters of iterations as whole numbers, with `iteration` and the size of a message.

    `counters` has one row an iteration: the counters, all vertices and the working set.
    """
    names = (*COUNTERS, "total_vertices", "working_set_bytes")
    whole = {name: np.rint(counters.floats(name)).astype(np.int64) for name in names}
    rows = Table({"iteration": np.arange(1, len(counters) + 1), **whole})
    sent = rows.floats("local_messages", "remote_messages")
    size = rows.floats("local_message_bytes", "remote_message_bytes")
    return rows.assign(average_message_bytes=size / np.maximum(sent, 1.0))


def workloads_of(
    graph: AnyGraph,
    algorithms: Sequence[Algorithm],
    estimates: Sequence[IterationEstimate],
    workers: int,
) -> list[Workload]:
    """Return the workload of each algorithm of a chain; see :func:`workload_of`."""
    return [
        workload_of(graph, algorithm, estimate, workers)
        for algorithm, estimate in zip(algorithms, estimates, strict=True)
    ]
