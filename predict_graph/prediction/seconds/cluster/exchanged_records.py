"""How many records a job exchanges in an iteration, when nobody knows what they are.

A record goes along an edge, or once for each vertex, or it is what messages to the same vertex were
combined to: from each partition that has one. Which of these, sample runs show that differ in their
vertices, edges and partitions: records of the real run are the same mixture.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from predict_graph.graph.degrees import counted_degrees
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.prediction.seconds.cluster.placement import combined_share

__all__ = ["exchange_measures", "exchanged"]

FloatArray = npt.NDArray[np.float64]


def exchange_measures(graph: AnyGraph, partitions: int) -> FloatArray:
    """Return what records may be in proportion to.

    Parameters
    ----------
    graph : AnyGraph
    partitions : int

    Returns
    -------
    ndarray of float64, shape (4,)
        Vertices, edges, messages along all edges after those to a vertex were combined in each
        partition, and the same where edges carry messages both ways.
    """
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

    Parameters
    ----------
    measures : sequence of ndarray, shape (4,)
        Of sample runs; see :func:`exchange_measures`.
    records : array_like of float
        Of the same runs.
    wanted : ndarray, shape (4,)
        Of the real run.

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
    table = np.vstack(measures)[known] / counts[known, None]  # errors in proportion
    from scipy.optimize import nnls  # slow to import: only who fits waits for it

    shares, _ = nnls(table, np.ones(len(table)))
    return float(shares @ wanted)
