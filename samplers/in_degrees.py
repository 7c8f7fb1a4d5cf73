"""In-degrees of all vertices in about a byte each, counted without the reverse of the graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

__all__ = ["InDegrees", "count_in_degrees", "in_degree"]

IntArray = npt.NDArray[np.integer]

_MANY = 255  # by definition: as much as a byte holds; means: look it up among the large ones


class InDegrees(NamedTuple):
    """A byte for each vertex; the few large degrees beside them.

    Parameters
    ----------
    small : ndarray of uint8, shape (n,)
        In-degree, 255 for any from 255 on.
    vertices : ndarray of int64
        Those of 255 and more, ascending.
    degrees : ndarray of int64
        Of `vertices`.
    """

    small: npt.NDArray[np.uint8]
    vertices: npt.NDArray[np.int64]
    degrees: npt.NDArray[np.int64]


def count_in_degrees(indices: IntArray, vertices: int) -> InDegrees:
    """Count how often each vertex is pointed at.

    Examples
    --------
    >>> count_in_degrees(np.array([1, 2, 1]), 3).small
    array([0, 2, 1], dtype=uint8)
    """
    small = np.zeros(vertices, dtype=np.uint8)
    _count_small(indices, small)
    large = np.flatnonzero(small == _MANY)
    degrees = np.zeros(len(large), dtype=np.int64)
    if len(large):
        _count_large(indices, small, large, degrees)
    return InDegrees(small, large, degrees)


@njit(cache=True, nogil=True)
def in_degree(
    small: npt.NDArray[np.uint8],
    vertices: npt.NDArray[np.int64],
    degrees: npt.NDArray[np.int64],
    v: int,
) -> int:
    """Return the in-degree of a vertex."""
    if small[v] < _MANY:
        return int(small[v])
    return int(degrees[np.searchsorted(vertices, v)])


@njit(cache=True, nogil=True)
def _count_small(indices: IntArray, small: npt.NDArray[np.uint8]) -> None:
    for w in indices:
        if small[w] < _MANY:
            small[w] += np.uint8(1)


@njit(cache=True, nogil=True)
def _count_large(
    indices: IntArray,
    small: npt.NDArray[np.uint8],
    large: npt.NDArray[np.int64],
    degrees: npt.NDArray[np.int64],
) -> None:
    for w in indices:
        if small[w] == _MANY:
            degrees[np.searchsorted(large, w)] += 1
