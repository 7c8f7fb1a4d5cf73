"""R-MAT graphs, as Graph500 makes them: compiled, in parallel, the same for any thread count.

References
----------
.. [1] D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT: A Recursive Model for Graph Mining", SDM 2004.
.. [2] Graph 500 benchmark specification, section "Kronecker generator": a = 0.57, b = c = 0.19, a
   random permutation of the vertices.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from predict_graph.arrays import FloatArray
from predict_graph.errors import RequestError
from predict_graph.graph.build import from_blocks
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeBlock
from predict_graph.limits import check_size
from samplers.splitmix import mixed


def rmat(
    scale: int = 18,
    edge_factor: int = 16,
    seed: int | np.random.Generator | None = 1,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    directed: bool = True,
) -> Graph:
    """Return an R-MAT graph of 2**scale vertices.

    ``edge_factor * 2**scale`` edges are drawn; those that come twice count once, so a few per cent
    fewer are stored. Self-loops stay, and so do vertices without edges.

    Parameters
    ----------
    scale : int
        1 to 30.
    edge_factor : int
        Edges drawn for each vertex.
    seed : int, numpy.random.Generator or None
        None draws one from the operating system.
    a, b, c : float
        Probabilities of the quadrants upper left, upper right and lower left; the rest is d.
    directed : bool
        False stores both directions of each edge.

    Raises
    ------
    RequestError
        If an argument is out of range.

    Examples
    --------
    >>> rmat(scale=4, edge_factor=4, seed=1).vertices
    16
    """
    if not 1 <= scale <= 30:  # vertices are numbered in 32 bits
        raise RequestError(f"scale of rmat is {scale}; accepted: 1 to 30")
    if edge_factor < 1:
        raise RequestError(f"edge_factor of rmat is {edge_factor}; accepted: 1 and more")
    if min(a, b, c) < 0 or not 0 < a + b + c <= 1:
        raise RequestError(
            f"a, b, c of rmat are {a}, {b}, {c}; accepted: probabilities with a sum of at most 1"
        )
    edges = edge_factor << scale
    stored = edges if directed else 2 * edges
    check_size(f"an R-MAT graph of scale {scale}", vertices=1 << scale, edges=stored)
    random = np.random.default_rng(seed)
    key = random.integers(0, 2**64, dtype=np.uint64)
    renamed = random.permutation(2**scale).astype(np.int32)
    table = _alias_table(np.array([[a, b], [c, 1 - a - b - c]]))
    blocks, at_once = [], 1 << 22
    for begin in range(0, edges, at_once):
        length = min(at_once, edges - begin)
        sources, targets = np.empty(length, np.int32), np.empty(length, np.int32)
        _draw(key, begin, scale, *table, renamed, sources, targets)
        blocks.append(EdgeBlock(sources, targets))
    return from_blocks(blocks, 2**scale, directed=directed)


def _alias_table(quadrants: FloatArray) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return the table from which one lookup draws the quadrants of four levels.

    An outcome has four bits of the row and then four of the column. Entry *i* is outcome *i* below
    its threshold (of 2**24), and its alias from there on (Walker's alias method, Vose's set-up).
    """
    levels: npt.NDArray[np.floating] = quadrants
    for _ in range(3):
        levels = np.kron(levels, quadrants)
    left = levels.ravel() / levels.sum() * 256
    thresholds, aliases = np.full(256, 2**24, np.uint64), np.arange(256, dtype=np.uint64)
    small = [i for i in range(256) if left[i] < 1]
    large = [i for i in range(256) if left[i] >= 1]
    while small and large:
        poor, rich = small.pop(), large[-1]
        thresholds[poor] = round(left[poor] * 2**24)
        aliases[poor] = rich
        left[rich] -= 1 - left[poor]
        if left[rich] < 1:
            small.append(large.pop())
    return thresholds, aliases


@njit(cache=True, nogil=True, parallel=True)
def _draw(
    key: np.uint64,
    begin: int,
    scale: int,
    thresholds: npt.NDArray[np.uint64],
    aliases: npt.NDArray[np.uint64],
    renamed: npt.NDArray[np.int32],
    sources: npt.NDArray[np.int32],
    targets: npt.NDArray[np.int32],
    length: int = 1 << 14,
) -> None:
    """Draw edges from the place `begin` on; each run of `length` has a random stream of its own."""
    streams = (len(sources) + length - 1) // length
    lookups = (scale + 3) // 4
    surplus = np.uint64(4 * lookups - scale)
    for s in prange(streams):
        state = mixed(key + np.uint64(begin // length + s) * np.uint64(0xD1342543DE82EF95))
        for e in range(s * length, min((s + 1) * length, len(sources))):
            row, column, bits = np.uint64(0), np.uint64(0), np.uint64(0)
            for lookup in range(lookups):
                if lookup & 1:
                    bits >>= np.uint64(32)
                else:
                    state += np.uint64(0x9E3779B97F4A7C15)
                    bits = mixed(state)
                cell = bits & np.uint64(0xFF)
                toss = (bits >> np.uint64(8)) & np.uint64(0xFFFFFF)
                outcome = cell if toss < thresholds[cell] else aliases[cell]
                row = (row << np.uint64(4)) | (outcome >> np.uint64(4))
                column = (column << np.uint64(4)) | (outcome & np.uint64(15))
            sources[e] = renamed[row >> surplus]
            targets[e] = renamed[column >> surplus]
