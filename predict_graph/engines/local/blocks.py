"""Blocks of rows of about equal work, shared by threads, and deterministic sums over them."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

# Edges + vertices of a block (tens of microseconds): limits scheduling overhead
_BLOCK_WORK = 16_384
# Small graphs get smaller blocks: trades off scheduling overhead for an even split among threads.
_FEWEST_BLOCKS, _LEAST_WORK = (
    64,
    1_024,
)


def row_blocks(
    indptr: npt.NDArray[np.int64], block_work: int | None = None
) -> npt.NDArray[np.int64]:
    """Split rows into blocks of about equal edges + vertices; rows are never split.

    Examples
    --------
    >>> row_blocks(np.array([0, 3, 6, 9]), block_work=4).tolist()
    [0, 1, 2, 3]
    """
    n = len(indptr) - 1
    work = indptr + np.arange(n + 1)
    if block_work is None:
        block_work = int(np.clip(work[-1] // _FEWEST_BLOCKS, _LEAST_WORK, _BLOCK_WORK))
    count = max(1, int(np.ceil(work[-1] / block_work)))
    cuts = np.searchsorted(work, np.linspace(0, work[-1], count + 1)[1:-1])
    return np.unique(np.concatenate(([0], cuts, [n]))).astype(np.int64)


@numba.njit(cache=True, nogil=True)
def ordered_sum(values: Any) -> float:
    """Add in the order of `values`, so that the sum does not depend on the number of threads."""
    total = 0.0
    for value in values:
        total += value
    return total
