"""Bipartite edge lists, whose sources and targets are numbered independently of each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.edges import EdgeBlock
from predict_graph.graph.relabel import relabel
from predict_graph.graph.text_ids import TextIds


def apart(
    blocks: list[EdgeBlock], text_ids: TextIds | None = None
) -> tuple[list[EdgeBlock], int, npt.NDArray[Any]]:
    """Return the edges between vertices 0 … n - 1, n, and the original ids: sources come first.

    Parameters
    ----------
    blocks : list of EdgeBlock
    text_ids : TextIds, optional
        Of the numbers in the blocks.

    Raises
    ------
    RequestError
        If the ids are too large.

    Examples
    --------
    >>> blocks = [EdgeBlock(np.array([1, 1]), np.array([1, 2]))]
    >>> edges, n, labels = apart(blocks)
    >>> n, edges[0].targets.tolist(), labels.tolist()
    (3, [1, 2], [1, 1, 2])
    """
    texts = None
    if text_ids is not None:
        rank, texts = text_ids.order()
        blocks = [EdgeBlock(rank[b.sources], rank[b.targets], b.weights) for b in blocks]
    shift = 1 + max(int(block.sources.max()) for block in blocks)
    blocks, n, ids = relabel([shifted(block, shift) for block in blocks])
    return blocks, n, labels_apart(np.arange(n) if ids is None else ids, shift, texts)


def shifted(block: EdgeBlock, shift: int) -> EdgeBlock:
    """Return edges with `shift` added to their targets.

    Raises
    ------
    RequestError
        If the sum is no 64-bit number.
    """
    if shift + int(block.targets.max()) >= 2**63:
        raise RequestError("the ids are too large to tell sources from targets; use --ids string")
    return EdgeBlock(block.sources, block.targets.astype(np.int64) + shift, block.weights)


def labels_apart(
    ids: npt.NDArray[np.int64], shift: int, texts: npt.NDArray[Any] | None
) -> npt.NDArray[Any]:
    """Return the original ids of vertices."""
    original = np.where(ids >= shift, ids - shift, ids)
    return original if texts is None else texts[original]
