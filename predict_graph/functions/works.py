"""Estimates of the work of each iteration of a loop over the vertices, in the graph's order."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.graph import Graph

FloatArray = npt.NDArray[np.float64]

_SECONDS_OF_ONE = 1e-6  # of a vertex or an end of an edge, in Python (measured)


def light_graph(graph: Any, seconds: float) -> Graph | None:
    """Return a graph as ours, without names, weights and checks; None if that takes longer.

    Raises
    ------
    TypeError
        If it is neither ours nor a simple one of networkx.
    """
    if isinstance(graph, Graph):
        return graph
    if not hasattr(graph, "_adj") or graph.is_multigraph():
        raise TypeError(f"a {type(graph).__name__} is not read on the way")
    rows = graph._adj
    counts = np.fromiter(map(len, rows.values()), np.int64, len(rows))
    indptr = np.concatenate(([0], np.cumsum(counts)))
    if (len(rows) + int(indptr[-1])) * _SECONDS_OF_ONE > seconds:
        return None
    place = {node: number for number, node in enumerate(rows)}
    ends = map(place.__getitem__, chain.from_iterable(rows.values()))
    indices = np.fromiter(ends, np.int32, int(indptr[-1]))
    return Graph(indptr, indices, directed=graph.is_directed())


def works_of(graph: Graph) -> dict[str, FloatArray]:
    """Return the share of the work done after each vertex, by several estimates.

    ``degree``; ``around``, the degrees of the neighbours; ``two_hop``, their product.

    Examples
    --------
    >>> import networkx
    >>> star = light_graph(networkx.star_graph(3), 1.0)
    >>> works_of(star)["degree"].round(3).tolist()
    [0.0, 0.5, 0.667, 0.833, 1.0]
    """
    indptr, degree = graph.indptr, np.diff(graph.indptr).astype(np.float64)
    around = np.concatenate(([0.0], np.cumsum(degree[graph.indices])))
    around = around[indptr[1:]] - around[indptr[:-1]]
    works = {"degree": degree, "around": around, "two_hop": degree * around}
    done = {name: np.concatenate(([0.0], np.cumsum(work))) for name, work in works.items()}
    return {name: each / each[-1] for name, each in done.items() if each[-1] > 0.0}
