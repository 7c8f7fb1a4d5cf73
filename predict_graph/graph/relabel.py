"""From the ids of a file to vertices 0 … n - 1.

The vertices are the ids that occur in an edge, in ascending order. When they are 0 … n - 1 already,
nothing changes and nothing is stored; otherwise the original ids are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.graph.edge_source import EdgeBlock
from predict_graph.stopwatch import imported


def relabel(
    blocks: list[EdgeBlock], *, apart: bool = False
) -> tuple[list[EdgeBlock], int, npt.NDArray[Any] | None]:
    """Return the edges between vertices 0 … n - 1, n, and the original ids unless they are those.

    `blocks` is emptied on the way, so that the edges are never stored twice. With `apart`, sources
    and targets are of two kinds: the same id in both is two vertices, and sources come first.

    Examples
    --------
    >>> edges, n, labels = relabel([EdgeBlock(np.array([1, 1]), np.array([1, 2]))], apart=True)
    >>> n, edges[0].targets.tolist(), labels.tolist()
    (3, [1, 2], [1, 1, 2])
    """
    sources: list[Any] = [block.sources for block in blocks]
    targets: list[Any] = [block.targets for block in blocks]
    weights = [block.weights for block in blocks]
    blocks.clear()
    if apart:
        own, other = _numbered(sources), _numbered(targets)
        targets = [part + len(own) for part in targets]
        labels = np.concatenate([own, other])
    else:
        ends = sources + targets
        del sources, targets
        labels = _numbered(ends)
        sources, targets = ends[: len(weights)], ends[len(weights) :]
    plain = not apart and labels.dtype != object and int(labels[-1]) == len(labels) - 1
    edges = [EdgeBlock(*each) for each in zip(sources, targets, weights, strict=True)]
    return edges, len(labels), None if plain else labels


def _numbered(parts: list[Any], dense: int = 1 << 22) -> npt.NDArray[Any]:
    """Replace ids by their places among all of them, in ascending order; return them so.

    If the largest id is below `dense`, or below twice their number, by a table of all ids.
    """
    if not isinstance(parts[0], np.ndarray):
        return _numbered_sparse(parts)
    largest = max(int(part.max()) for part in parts)
    if largest >= max(dense, 2 * sum(map(len, parts))):
        return _numbered_sparse(parts)
    present = np.zeros(largest + 1, np.bool_)
    for part in parts:
        present[part] = True
    ids = np.flatnonzero(present)
    if len(ids) < largest + 1:
        rank = np.zeros(largest + 1, np.int32 if len(ids) < 2**31 else np.int64)
        rank[ids] = np.arange(len(ids))
        parts[:] = [rank[part] for part in parts]
    return ids


def _numbered_sparse(parts: list[Any]) -> npt.NDArray[Any]:
    """Do the same with texts, or numbers far apart; texts are in the order of their UTF-8 bytes."""
    pa, pc = imported("pyarrow"), imported("pyarrow.compute")
    if isinstance(parts[0], np.ndarray):
        encoded = pa.chunked_array(parts, pa.int64()).dictionary_encode()
    else:
        encoded = pa.chunked_array(parts).unify_dictionaries()
    ids = encoded.chunk(0).dictionary
    order = pc.sort_indices(ids)
    rank = np.empty(len(ids), np.int32)
    rank[order.to_numpy()] = np.arange(len(ids))
    parts[:] = [rank[chunk.indices.to_numpy()] for chunk in encoded.chunks]
    labels: npt.NDArray[Any] = ids.take(order).to_numpy(zero_copy_only=False)
    return labels
