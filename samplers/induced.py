"""The subgraph that a set of vertices induces, cut out of CSR arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from samplers.csr import IntArray, matrix_of, read_only


def induced_csr(
    indptr: IntArray,
    indices: IntArray,
    vertices: npt.ArrayLike,
    weights: npt.NDArray[Any] | None = None,
) -> tuple[IntArray, IntArray, npt.NDArray[Any] | None]:
    """Return the CSR arrays of the subgraph that `vertices` induce.

    Vertex *i* of the subgraph is ``vertices[i]``, and an edge is kept when both its ends are.
    Parallel edges and self-loops are kept. Costs two passes over the rows of `vertices`, and a
    byte an edge of the whole graph.

    Parameters
    ----------
    indptr : ndarray of int, shape (n + 1,)
        Start of each row of the whole graph.
    indices : ndarray of int, shape (m,)
        Out-neighbours, row after row.
    vertices : array_like of int, shape (k,)
        Distinct vertices of the whole graph, in any order.
    weights : ndarray, shape (m,), optional
        Weight of each edge.

    Returns
    -------
    indptr : ndarray of int64, shape (k + 1,)
    indices : ndarray, shape (m_kept,), dtype of the input's `indices`
        Ascending in each row.
    weights : ndarray, shape (m_kept,), or None
        Weights of the edges kept; None when none were given.

    Raises
    ------
    ValueError
        If a vertex does not exist or comes twice, or if `weights` has another length than
        `indices`.

    Examples
    --------
    >>> indptr, indices = np.array([0, 2, 3, 4]), np.array([1, 2, 2, 0], dtype=np.int32)
    >>> induced_csr(indptr, indices, [2, 0])
    (array([0, 1, 2]), array([1, 0], dtype=int32), None)
    """
    indptr, indices = read_only(indptr, "indptr"), read_only(indices, "indices")
    chosen = np.asarray(vertices)
    if chosen.ndim != 1 or (chosen.size and not np.issubdtype(chosen.dtype, np.integer)):
        raise ValueError(
            f"vertices must be a vector of integers, not {chosen.ndim}-dimensional {chosen.dtype}"
        )
    n = len(indptr) - 1
    chosen = chosen.astype(np.int64, copy=False)
    if chosen.size and not (int(chosen.min()) >= 0 and int(chosen.max()) < n):
        wrong = int(chosen[(chosen < 0) | (chosen >= n)][0])
        raise ValueError(f"vertex {wrong} does not exist; vertices are 0 to {n - 1}")
    if weights is not None and len(weights) != len(indices):
        raise ValueError(f"there are {len(weights)} weights, but {len(indices)} edges")
    twice = np.sort(chosen)
    twice = twice[1:][twice[1:] == twice[:-1]]
    if len(twice):
        raise ValueError(f"vertex {twice[0]} comes twice; vertices must be distinct")
    rows = matrix_of(indptr, indices, weights)[chosen][:, chosen]
    rows.sort_indices()
    starts, targets = rows.indptr.astype(np.int64), rows.indices.astype(indices.dtype, copy=False)
    return starts, targets, None if weights is None else rows.data
