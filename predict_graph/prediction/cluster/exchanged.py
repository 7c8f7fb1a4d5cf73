"""How many records a job exchanges in an iteration, when nobody knows what they are.

A record goes along an edge, or once for each vertex, or it is what messages to the same vertex were
combined to: from each partition that has one. Which of these, sample runs show that differ in their
vertices, edges and partitions: records of the real run are the same mixture.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from costmodels import NonNegativeLinear
from predict_graph.graph import Graph
from predict_graph.prediction.cluster.placement import combined_share

__all__ = ["exchange_measures", "exchanged"]

FloatArray = npt.NDArray[np.float64]


def exchange_measures(graph: Graph, partitions: int) -> FloatArray:
    """Return what records may be in proportion to.

    Parameters
    ----------
    graph : Graph
    partitions : int

    Returns
    -------
    ndarray of float64, shape (4,)
        Vertices, edges, messages along all edges after those to a vertex were combined in each
        partition, and the same where edges carry messages both ways.
    """
    both = graph.in_degrees + graph.out_degrees
    combined = [
        float(combined_share(degrees, 1.0, partitions)[0]) * float(degrees.sum())
        for degrees in (graph.in_degrees, both)
    ]
    return np.array([graph.vertices, graph.edges, *combined], dtype=np.float64)


def exchanged(measures: Sequence[FloatArray], records: npt.ArrayLike, wanted: FloatArray) -> float:
    """Return the records of a run from those of others.

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
    >>> small, large = np.array([10.0, 60.0, 30.0, 40.0]), np.array([40.0, 200.0, 90.0, 120.0])
    >>> round(exchanged([small, large], [60.0, 180.0], np.array([90.0, 500.0, 200.0, 260.0])))
    400
    """
    counts = np.asarray(records, dtype=np.float64)
    known = counts > 0.0
    if not known.any():
        return 0.0
    table = np.vstack(measures)[known] / counts[known, None]  # errors in proportion
    model = NonNegativeLinear(fit_intercept=False).fit(table, np.ones(len(table)))
    return float(model.coef_ @ wanted)
