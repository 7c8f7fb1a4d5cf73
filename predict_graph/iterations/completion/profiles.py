"""Vertex profiles: the classes by which cut edge ends are matched.

A profile packs three small integers of a vertex, in this order, into one int32:

- half-octave class of the in-degree, ``floor(2 log2(1 + d_in))``, 6 bits, and above it one bit for
  the side of the vertex in a bipartite graph, whose ranks alternate between the sides, so that
  edges within a side would let them converge too early;
- half-octave class of the out-degree, 7 bits;
- half-octave class of the *inflow* ``sum over in-neighbours u of 1 / d_out(u)`` per in-neighbour,
  7 bits: whether its in-neighbours have many out-edges or few.

Degrees alone give the joint degree matrix, the "2K" description of a graph [1]_; the inflow is one
round of neighbourhood refinement on top of it, and decides how fast PageRank settles.

References
----------
.. [1] P. Mahadevan, D. Krioukov, K. Fall, A. Vahdat: Systematic topology analysis and generation
   using degree correlations. SIGCOMM 2006.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from predict_graph.arrays import BoolArray, IntArray
from predict_graph.graph.csr import Graph, inbound_shares
from samplers.search import breadth_first

FIELD = 7  # by definition: bits of a class
# Coarsening levels of a profile, the finest first: the classes of in-degree (with the side), of
# out-degree and of inflow that are one class there. Four half octaves are two octaves; 128 classes
# are all of them.
LEVELS = ((1, 1, 1), (1, 1, 2), (4, 4, 2), (1, 1, 128), (4, 4, 128), (64, 128, 128))


def vertex_profiles(graph: Graph) -> npt.NDArray[np.int32]:
    """Return the packed profile of every vertex, from one pass over the edges; cached."""
    if graph not in _KNOWN:
        _KNOWN[graph] = _made(graph)
    return _KNOWN[graph]


_KNOWN: WeakKeyDictionary[Graph, npt.NDArray[np.int32]] = WeakKeyDictionary()


def _made(graph: Graph) -> npt.NDArray[np.int32]:
    inflow, degrees = inbound_shares(graph).T
    share = (inflow + 1e-3) / np.maximum(degrees, 1)  # avoids the logarithm of 0
    level = np.clip(_half_octaves(share) + 64, 0, 127)  # a share is at most 1: its logarithm, 0
    classes = [_half_octaves(1.0 + each) for each in (degrees, graph.out_degrees)]
    profiles: npt.NDArray[np.int32] = classes[0] << 2 * FIELD | classes[1] << FIELD | level
    sides = None if graph.directed else _sides(graph)
    if sides is not None:
        profiles |= sides.astype(np.int32) << 3 * FIELD - 1
    return profiles


def _sides(graph: Graph) -> BoolArray | None:
    """Return the side of each vertex of a bipartite graph, by the parity of distances, or None."""
    rows = graph.indptr, graph.indices
    sides: BoolArray = breadth_first(rows, rows, 0, graph.vertices, True)[0] % 2 == 1
    within = np.repeat(sides, graph.out_degrees) == sides[graph.indices]
    return None if within.any() else sides


def _half_octaves(values: npt.NDArray[np.floating]) -> npt.NDArray[np.int32]:
    return np.asarray(np.floor(2.0 * np.log2(values)), np.int32)


def profile_key(profiles: npt.NDArray[np.int32], level: tuple[int, int, int]) -> IntArray:
    """Return the key of each profile at a coarsening level, one of `LEVELS`.

    Sides, and out-degrees 0, 1 and 2, are kept at every level: two joined vertices with one
    outbound edge each would trap rank.

    Examples
    --------
    >>> import numpy as np
    >>> packed = np.array([(4 << 14) | (6 << 7) | 61, (5 << 14) | (6 << 7) | 61], dtype=np.int32)
    >>> [len(np.unique(profile_key(packed, level))) for level in LEVELS]
    [2, 2, 1, 2, 1, 1]
    """
    packed, (by_in, by_out, by_inflow) = profiles.astype(np.int64), level
    inbound, out, inflow = (packed >> 2 * FIELD, packed >> FIELD & 127, packed & 127)
    out = np.where(out < 4, out, 4 + out // by_out)
    return inbound // by_in << 2 * FIELD | out << FIELD | inflow // by_inflow
