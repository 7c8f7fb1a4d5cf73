"""The subgraph that a set of vertices induces, cut out of CSR arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy import sparse

from samplers.csr import IntArray, frozen, read_only


def induced_csr(
    indptr: IntArray,
    indices: IntArray,
    vertices: npt.ArrayLike,
    weights: npt.NDArray[Any] | None = None,
) -> tuple[IntArray, IntArray, npt.NDArray[Any] | None]:
    """Return the CSR arrays of the subgraph that `vertices` induce.

    Vertex *i* of the subgraph is ``vertices[i]``, and an edge is kept when both its ends are.
    Parallel edges and self-loops are kept. Costs one pass over the rows of `vertices` to count and
    one to fill. Memory is 4 bytes a vertex of the whole graph (8 from 2**31 vertices on), and twice
    the result while rows are put in order, which ascending `vertices` make needless.

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
    chosen = frozen(chosen.astype(np.int64, copy=False))
    if chosen.size and not (int(chosen.min()) >= 0 and int(chosen.max()) < n):
        wrong = int(chosen[(chosen < 0) | (chosen >= n)][0])
        raise ValueError(f"vertex {wrong} does not exist; vertices are 0 to {n - 1}")
    if weights is not None and len(weights) != len(indices):
        raise ValueError(f"there are {len(weights)} weights, but {len(indices)} edges")
    new_id = np.full(n, -1, dtype=np.int32 if n < 2**31 else np.int64)
    new_id[chosen] = np.arange(len(chosen))
    twice = new_id[chosen] != np.arange(len(chosen))
    if twice.any():
        raise ValueError(f"vertex {chosen[twice][0]} comes twice; vertices must be distinct")
    given = frozen(np.zeros(0, np.int8) if weights is None else weights)
    starts, targets, values, ascending = _induced(indptr, indices, given, chosen, new_id)
    if not ascending:
        values = np.zeros(len(targets), np.int8) if weights is None else values
        rows = sparse.csr_array((values, targets, starts), shape=(len(chosen),) * 2)
        rows.sort_indices()
        targets, values = rows.indices.astype(indices.dtype, copy=False), rows.data
    return starts, targets, None if weights is None else values


@njit(cache=True, nogil=True)
def _induced(
    indptr: IntArray, indices: IntArray, weights: Any, chosen: IntArray, new_id: IntArray
) -> tuple[IntArray, IntArray, Any, bool]:
    """Return the rows of the edges kept, their weights, and whether all rows ascend."""
    starts = np.zeros(len(chosen) + 1, np.int64)
    for i in range(len(chosen)):
        kept = 0
        for e in range(indptr[chosen[i]], indptr[chosen[i] + 1]):
            kept += new_id[indices[e]] >= 0
        starts[i + 1] = starts[i] + kept
    targets = np.empty(starts[-1], indices.dtype)
    values = np.empty(starts[-1] if len(weights) else 0, weights.dtype)
    at, ascending = 0, True
    for i in range(len(chosen)):
        last = -1
        for e in range(indptr[chosen[i]], indptr[chosen[i] + 1]):
            w = new_id[indices[e]]
            if w >= 0:
                targets[at] = w
                if len(weights):
                    values[at] = weights[e]
                at += 1
                ascending &= w >= last
                last = w
    return starts, targets, values, ascending
