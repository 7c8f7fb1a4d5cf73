"""Edges inside the first so many vertices of a list, for every length at once."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

__all__ = ["edges_by_later_position"]


@numba.njit(cache=True, nogil=True)
def edges_by_later_position(
    indptr: Any, indices: Any, members: Any, position: Any
) -> npt.NDArray[np.int64]:
    """Count the edges among members, filed under the later of their two ends.

    The running sum is the number of edges inside the first 1, 2, … members.

    Parameters
    ----------
    indptr, indices : ndarray
        CSR of the graph.
    members : ndarray of int, shape (k,)
        Distinct vertices.
    position : ndarray of int, shape (n,)
        Place of each vertex in `members`; k or more for the others.

    Returns
    -------
    ndarray of int64, shape (k,)
    """
    count = len(members)
    filed = np.zeros(count, np.int64)
    for i in range(count):
        v = members[i]
        for e in range(indptr[v], indptr[v + 1]):
            later = max(i, position[indices[e]])
            if later < count:
                filed[later] += 1
    return filed
