"""The records that an unknown job exchanges in an iteration.

Records are proportional to edges, or to vertices, or to messages combined per vertex and partition.
Sample runs that differ in vertices, edges and partitions show the mixture, which also applies to
the real run.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from predict_graph.graph.degrees import counted_degrees
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.prediction.seconds.cluster.placement import combined_share

FloatArray = npt.NDArray[np.float64]


def exchange_measures(graph: AnyGraph, partitions: int) -> FloatArray:
    """Return the quantities to which records may be proportional."""
    both = graph.in_degrees + graph.out_degrees
    combined = [
        float(combined_share(counted, 1.0, partitions)[0]) * float(counted[0] @ counted[1])
        for counted in (graph.in_degree_counts, counted_degrees(both))
    ]
    return np.array([graph.vertices, graph.edges, *combined], dtype=np.float64)


def exchanged(
    measures: Sequence[npt.ArrayLike], records: npt.ArrayLike, wanted: FloatArray
) -> float:
    """Return the records of a run from those of others, which may be fewer than the measures.

    Examples
    --------
    >>> measures = [[10, 60, 30, 40], [40, 200, 90, 120], [20, 200, 50, 70], [30, 90, 60, 90]]
    >>> twice_the_third = [60, 180, 100, 120]
    >>> round(exchanged(np.array(measures), twice_the_third, np.array([90, 500, 200, 260])))
    400
    """
    counts = np.asarray(records, dtype=np.float64)
    known = counts > 0.0
    if not known.any():
        return 0.0
    table = np.vstack(measures)[known] / counts[known, None]  # weights for relative errors
    from scipy.optimize import nnls  # imported here because it is slow

    shares, _ = nnls(table, np.ones(len(table)))
    return float(shares @ wanted)
