"""The check that comes before all compiled code: are these arrays rows of a graph?

Kernels read and write where row pointers and neighbours say. So every graph passes through here
once, whatever file, object or kernel its arrays come from.
"""

# Compiled functions: what numba infers, and casts it needs, are not types that mypy knows.
# mypy: disable-error-code="assignment, arg-type"

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.arrays import Array, IndexArray, IntArray
from predict_graph.errors import RequestError
from samplers.csr import check_rows, frozen
from samplers.splitmix import mixed

# By definition drawn anew by each process, so that no file can be made to pass.
_KEYS = np.frombuffer(os.urandom(16), np.uint64) | np.uint64(1)


def checked_rows(indptr: Any, indices: Any) -> tuple[IntArray, IndexArray, bool]:
    """Return the rows of a graph as arrays that compiled code can be given.

    Integers of other widths or of another byte order are converted; nothing is copied when both are
    as :class:`Graph` has them. The check takes a byte an edge.

    Parameters
    ----------
    indptr : array, shape (n + 1,)
    indices : array, shape (m,)

    Returns
    -------
    indptr : ndarray of int64, shape (n + 1,)
        From 0 to m, never falling.
    indices : ndarray of int32 (int64 from 2**31 vertices on), shape (m,)
        All in 0 … n - 1.
    ascending : bool
        Whether each row ascends without duplicates.

    Raises
    ------
    RequestError
        If they are not the rows of a graph.

    Examples
    --------
    >>> checked_rows(np.array([0, 1, 1]), np.array([2], np.int32))
    Traceback (most recent call last):
    predict_graph.errors.RequestError: edge 0 leads to the vertex 2; accepted: 0 to 1
    """
    for name, array in (("indptr", indptr), ("indices", indices)):
        if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu":
            found = f"{array.ndim}-dimensional {array.dtype}" if hasattr(array, "ndim") else "none"
            raise RequestError(f"{name} of a graph is {found}; accepted: a vector of integers")
    n = len(indptr) - 1
    pointers = _plain(indptr, np.int64)
    narrow = n < 2**31
    # Narrowed only after the check: a cast would turn wrong vertices into right ones. Unsigned ones
    # that are too large become negative.
    targets = _plain(indices, np.int32 if narrow and indices.dtype.itemsize == 4 else np.int64)
    try:
        check_rows(pointers, targets)
    except ValueError as error:
        raise RequestError(str(error)) from None
    rises = targets[1:] > targets[:-1]
    starts = pointers[1:-1]
    rises[starts[(starts > 0) & (starts < len(targets))] - 1] = True  # to another row
    if narrow:
        targets = targets.astype(np.int32, copy=False)
    return pointers, targets, bool(rises.all())


def checked_weights(weights: Any, edges: int) -> npt.NDArray[np.float32] | None:
    """Return the weights of so many edges as float32; None when there are none.

    Raises
    ------
    RequestError
        If they are not one real number an edge.
    """
    if weights is None:
        return None
    if not isinstance(weights, np.ndarray) or weights.ndim != 1 or weights.dtype.kind not in "iuf":
        raise RequestError("weights of a graph must be a vector of real numbers")
    if len(weights) != edges:
        raise RequestError(f"there are {len(weights)} weights, but {edges} edges")
    return _plain(weights, np.float32)


def _plain(array: Array, kind: Any) -> Array:
    """Return an array as one run of aligned numbers in the machine's byte order."""
    return np.require(np.asarray(array), kind, ["C", "A"])


def is_symmetric(indptr: IntArray, indices: IndexArray) -> bool:
    """Return whether every edge is there in both directions.

    One pass: each end of an edge adds a hash of the edge, or takes it away when it is the larger
    end. Wrong rows pass with a probability of 2**-64.
    """
    return not _signed_hashes(frozen(indptr), frozen(indices), _KEYS[0], _KEYS[1])


@njit(cache=True, nogil=True)
def _signed_hashes(
    indptr: IntArray, indices: IndexArray, low_key: np.uint64, high_key: np.uint64
) -> int:
    total = np.uint64(0)
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            target = np.int64(indices[e])
            low, high = min(v, target), max(v, target)
            z = mixed(np.uint64(low) * low_key + np.uint64(high) * high_key)
            if v < target:
                total += z
            elif v > target:
                total -= z
    return total  # type: ignore[return-value]
