"""Edges among the first vertices of a list, for every length at once."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt


@numba.njit(cache=True, nogil=True)
def edges_by_later_position(indptr: Any, indices: Any, members: Any) -> npt.NDArray[np.int64]:
    """Count the edges among members, at the later of their two ends.

    The running sum is the number of edges among the first 1, 2, … members.
    """
    n, count = len(indptr) - 1, len(members)
    # A bit set fits in a cache; positions are only read for members.
    marks, position = np.zeros(n // 8 + 1, np.uint8), np.empty(n, np.int32)
    for i in range(count):
        position[members[i]] = i
        marks[members[i] >> 3] |= np.uint8(1 << (members[i] & 7))
    filed = np.zeros(count, np.int64)
    for i in range(count):
        v = members[i]
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if (marks[w >> 3] >> (w & 7)) & 1:
                filed[max(i, position[w])] += 1
    return filed
