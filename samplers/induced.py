"""The subgraph that a set of vertices induces, cut out of CSR arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy import sparse

from samplers.csr import IntArray, read_only

Marks = npt.NDArray[np.uint8]


def induced_csr(
    indptr: IntArray,
    indices: IntArray,
    vertices: npt.ArrayLike,
    weights: npt.NDArray[Any] | None = None,
) -> tuple[IntArray, IntArray, npt.NDArray[Any] | None]:
    """Return the CSR arrays of the subgraph that `vertices` induce.

    Vertex *i* of the subgraph is ``vertices[i]``, and an edge is kept when both its ends are.
    Parallel edges and self-loops are kept. Costs one pass over the rows of `vertices` to count and
    one to fill. Memory is a bit a vertex of the whole graph, 4 bytes (8 from 2**31 vertices on) of
    those about `vertices`, and twice the result while rows are put in order, which ascending
    `vertices` make needless.

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
    chosen = _frozen(chosen.astype(np.int64, copy=False))
    if chosen.size and not (int(chosen.min()) >= 0 and int(chosen.max()) < n):
        wrong = int(chosen[(chosen < 0) | (chosen >= n)][0])
        raise ValueError(f"vertex {wrong} does not exist; vertices are 0 to {n - 1}")
    if weights is not None and len(weights) != len(indices):
        raise ValueError(f"there are {len(weights)} weights, but {len(indices)} edges")

    # One bit says whether a vertex is in: its number is looked up only then, and exists only then.
    marks = np.zeros(n // 8 + 1, dtype=np.uint8)
    new_id = np.empty(n, dtype=np.int32 if n < 2**31 else np.int64)
    twice = _number(chosen, marks, new_id)
    if twice >= 0:
        raise ValueError(f"vertex {twice} comes twice; vertices must be distinct")

    kept_indptr: IntArray = np.zeros(len(chosen) + 1, dtype=np.int64)
    _count_kept(indptr, indices, chosen, marks, kept_indptr)
    kept_indices = np.empty(int(kept_indptr[-1]), dtype=indices.dtype)
    given = np.zeros(0, np.int8) if weights is None else _frozen(weights)
    kept_weights = np.empty(0 if weights is None else len(kept_indices), dtype=given.dtype)
    kept = (kept_indptr, kept_indices, kept_weights)
    if not _fill(indptr, indices, given, chosen, marks, new_id, *kept):
        values = np.zeros(len(kept_indices), np.int8) if weights is None else kept_weights
        rows = sparse.csr_array((values, kept_indices, kept_indptr), shape=(len(chosen),) * 2)
        rows.sort_indices()
        kept_indices, kept_weights = rows.indices.astype(indices.dtype, copy=False), rows.data
    return kept_indptr, kept_indices, None if weights is None else kept_weights


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only contiguous view, so that one compiled version serves all callers."""
    view = np.ascontiguousarray(array).view(np.ndarray)
    if view is array:
        view = array.view()
    view.flags.writeable = False
    return view


@njit(cache=True, nogil=True)
def is_marked(marks: Marks, v: int) -> bool:
    """Return whether the bit of a vertex is set."""
    return bool((marks[v >> 3] >> np.uint8(v & 7)) & np.uint8(1))


@njit(cache=True, nogil=True)
def _number(chosen: IntArray, marks: Marks, new_id: IntArray) -> int:
    for i in range(chosen.size):
        v = chosen[i]
        if is_marked(marks, v):
            return int(v)
        marks[v >> 3] |= np.uint8(1) << np.uint8(v & 7)
        new_id[v] = i
    return -1


@njit(cache=True, nogil=True)
def _count_kept(
    indptr: IntArray,
    indices: IntArray,
    chosen: IntArray,
    marks: Marks,
    kept_indptr: IntArray,
) -> None:
    for i in range(chosen.size):
        kept = 0
        for e in range(indptr[chosen[i]], indptr[chosen[i] + 1]):
            kept += is_marked(marks, indices[e])
        kept_indptr[i + 1] = kept_indptr[i] + kept


@njit(cache=True, nogil=True)
def _fill(
    indptr: IntArray,
    indices: IntArray,
    weights: npt.NDArray[Any],
    chosen: IntArray,
    marks: Marks,
    new_id: IntArray,
    kept_indptr: IntArray,
    kept_indices: IntArray,
    kept_weights: npt.NDArray[Any],
) -> bool:
    """Write the edges kept; return True when all rows came out ascending."""
    ascending = True
    weighted = kept_weights.size > 0
    for i in range(chosen.size):
        at = kept_indptr[i]
        last = -1
        for e in range(indptr[chosen[i]], indptr[chosen[i] + 1]):
            if is_marked(marks, indices[e]):
                w = new_id[indices[e]]
                kept_indices[at] = w
                if weighted:
                    kept_weights[at] = weights[e]
                at += 1
                ascending &= w >= last
                last = w
    return ascending
