"""Blocks of rows of about equal work, shared by threads, and deterministic sums over them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numba
import numpy as np

from predict_graph.arrays import Array, IndexArray, IntArray
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph


def row_blocks(
    indptr: IntArray, fewest: int = 64, least: int = 1_024, most: int = 16_384
) -> IntArray:
    """Split rows into blocks of about equal edges + vertices; rows are never split.

    A block has at most about `most` of them (tens of microseconds), and at least `least`, so that
    scheduling takes little; in between there are `fewest` blocks, for an even split among threads.

    Examples
    --------
    >>> row_blocks(np.array([0, 3, 6, 9]), most=4).tolist()
    [0, 1, 2, 3]
    """
    n = len(indptr) - 1
    work = indptr + np.arange(n + 1)
    size = min(max(work[-1] // fewest, least), most)
    count = max(1, int(np.ceil(work[-1] / size)))
    cuts = np.searchsorted(work, np.linspace(0, work[-1], count + 1)[1:-1])
    return np.unique(np.concatenate(([0], cuts, [n]))).astype(np.int64)


def unsigned(indices: IndexArray) -> Array:
    """Return a view that spares a compiled loop the check for negative indices."""
    return indices.view(np.dtype(f"u{indices.itemsize}"))


class SharedRows:
    """A kernel whose threads share the rows of a graph, some blocks at a time."""

    def __init__(self, rows: Graph, team: Team | None) -> None:
        self._team = team or Team()
        self._blocks = row_blocks(rows.indptr)

    def summary(self) -> Mapping[str, Any]:
        """Return nothing: the result consists of the values alone."""
        return {}

    def _share(self, work: Callable[..., Any], *arrays: Any) -> None:
        """Call ``work(first, last, *arrays)`` for ranges of rows that cover all of them."""
        self._share_blocks(lambda a, b, blocks: work(blocks[a], blocks[b], *arrays))

    def _share_blocks(self, work: Callable[..., Any], *arrays: Any) -> None:
        """Call ``work(first, last, starts of blocks, *arrays)`` for ranges of blocks likewise."""
        blocks = self._blocks
        self._team.share(lambda first, last: work(first, last, blocks, *arrays), len(blocks) - 1)


@numba.njit(cache=True, nogil=True)
def ordered_sum(values: Any) -> float:
    """Add in the order of `values`, so that the sum does not depend on the number of threads."""
    total = 0.0
    for value in values:
        total += value
    return total
