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

from predict_graph.errors import RequestError
from predict_graph.graph.build import from_blocks
from predict_graph.graph.csr import Graph
from predict_graph.graph.edges import EdgeBlock

__all__ = ["rmat"]

_BLOCK = 1 << 22
_STREAM = 1 << 14


def rmat(
    scale: int = 18,
    edge_factor: int = 16,
    seed: int | np.random.Generator | None = 1,
    *,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    directed: bool = True,
    name: str | None = None,
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
    name : str, optional

    Raises
    ------
    RequestError
        If an argument is out of range.

    Examples
    --------
    >>> rmat(scale=4, edge_factor=4, seed=1).vertices
    16
    """
    if not 1 <= scale <= 30:
        raise RequestError(f"scale of rmat is {scale}; accepted: 1 to 30")
    if edge_factor < 1:
        raise RequestError(f"edge_factor of rmat is {edge_factor}; accepted: 1 and more")
    if min(a, b, c) < 0 or not 0 < a + b + c <= 1:
        raise RequestError(
            f"a, b, c of rmat are {a}, {b}, {c}; accepted: probabilities with a sum of at most 1"
        )
    random = np.random.default_rng(seed)
    key = random.integers(0, 2**64, dtype=np.uint64)
    renamed = random.permutation(2**scale).astype(np.int32)
    # Three levels a draw: 21 bits decide one quadrant.
    bounds = np.rint(np.array([a, a + b, a + b + c]) * 2**21).astype(np.int64)
    drawn = edge_factor << scale
    blocks = []
    for begin in range(0, drawn, _BLOCK):
        length = min(_BLOCK, drawn - begin)
        sources, targets = np.empty(length, np.int32), np.empty(length, np.int32)
        _draw(key, begin // _STREAM, scale, bounds, renamed, sources, targets)
        blocks.append(EdgeBlock(sources, targets))
    name = name or f"rmat-{scale}-{edge_factor}"
    return from_blocks(blocks, 2**scale, directed=directed, name=name)


@njit(cache=True, nogil=True, inline="always")
def _mixed(z: np.uint64) -> np.uint64:
    """SplitMix64's output function."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True, parallel=True)
def _draw(
    key: np.uint64,
    stream: int,
    scale: int,
    bounds: npt.NDArray[np.int64],
    renamed: npt.NDArray[np.int32],
    sources: npt.NDArray[np.int32],
    targets: npt.NDArray[np.int32],
) -> None:
    """Draw edges; each run of `_STREAM` edges has a random stream of its own."""
    streams = (len(sources) + _STREAM - 1) // _STREAM
    in_a, in_ab, in_abc = bounds[0], bounds[1], bounds[2]
    for s in prange(streams):
        state = _mixed(key + np.uint64(stream + s) * np.uint64(0xD1342543DE82EF95))
        for e in range(s * _STREAM, min((s + 1) * _STREAM, len(sources))):
            row, column, level = 0, 0, 0
            while level < scale:
                state += np.uint64(0x9E3779B97F4A7C15)
                bits = _mixed(state)
                for _ in range(min(3, scale - level)):
                    draw = np.int64(bits & np.uint64(0x1FFFFF))
                    bits >>= np.uint64(21)
                    below = draw >= in_ab
                    right = (draw >= in_a) != below or draw >= in_abc
                    row = 2 * row + below
                    column = 2 * column + right
                level += 3
            sources[e] = renamed[row]
            targets[e] = renamed[column]
