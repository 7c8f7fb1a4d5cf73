"""Compiled loops over the rows of a graph."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
IndexArray = npt.NDArray[np.integer]
WeightArray = npt.NDArray[np.float32]


@numba.njit(cache=True, nogil=True)
def count_self_loops(indptr: IntArray, indices: IndexArray) -> int:
    """Count the edges from a vertex to itself."""
    count = 0
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            count += indices[e] == v
    return count


@numba.njit(cache=True, nogil=True)
def merge_duplicates(
    indptr: IntArray, indices: IndexArray, weights: WeightArray
) -> tuple[IntArray, IndexArray, WeightArray]:
    """Drop repeated targets of ascending rows, in place; weights of the copies are added."""
    n = len(indptr) - 1
    merged = np.zeros(n + 1, np.int64)
    weighted = len(weights) > 0
    kept = 0
    for v in range(n):
        start = kept
        for e in range(indptr[v], indptr[v + 1]):
            if kept > start and indices[kept - 1] == indices[e]:
                if weighted:
                    weights[kept - 1] += weights[e]
                continue
            indices[kept] = indices[e]
            if weighted:
                weights[kept] = weights[e]
            kept += 1
        merged[v + 1] = kept
    if kept == len(indices):
        return merged, indices, weights
    return merged, indices[:kept].copy(), weights[:kept].copy() if weighted else weights


@numba.njit(cache=True, nogil=True)
def union_of_rows(
    indptr: IntArray,
    indices: IndexArray,
    weights: WeightArray,
    other_indptr: IntArray,
    other_indices: IndexArray,
    other_weights: WeightArray,
) -> tuple[IntArray, IndexArray, WeightArray]:
    """Merge the ascending rows of two graphs; of two weights of an edge the larger one holds."""
    n = len(indptr) - 1
    weighted = len(weights) + len(other_weights) > 0  # one side may have no edges
    merged = np.zeros(n + 1, np.int64)
    result, values = np.empty(0, indices.dtype), np.empty(0, np.float32)
    for filling in range(2):
        if filling:
            result = np.empty(merged[n], indices.dtype)
            values = np.empty(merged[n] if weighted else 0, np.float32)
        kept = 0
        for v in range(n):
            a, a_stop = indptr[v], indptr[v + 1]
            b, b_stop = other_indptr[v], other_indptr[v + 1]
            while a < a_stop or b < b_stop:
                from_first = b == b_stop or (a < a_stop and indices[a] <= other_indices[b])
                both = from_first and b < b_stop and indices[a] == other_indices[b]
                if filling:
                    result[kept] = indices[a] if from_first else other_indices[b]
                    if weighted:
                        values[kept] = weights[a] if from_first else other_weights[b]
                        if both:
                            values[kept] = max(weights[a], other_weights[b])
                kept += 1
                if both or from_first:
                    a += 1
                if both or not from_first:
                    b += 1
            if not filling:
                merged[v + 1] = kept
    return merged, result, values
