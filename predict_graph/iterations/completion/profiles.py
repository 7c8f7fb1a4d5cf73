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

from predict_graph.graph import Graph
from predict_graph.graph.inbound import inbound_shares
from predict_graph.graph.sides import two_sides

LEVELS = 6
"""Number of coarsening levels of a profile, by definition of `profile_key`."""

_FIELD = 7  # by definition: bits of a class
_MASK = (1 << _FIELD) - 1
_SIDE = 3 * _FIELD - 1  # by definition: the highest bit, which no class of a degree reaches
_OFFSET = 64  # by definition: inflow per in-neighbour is at most 1, so its logarithm is negative


def vertex_profiles(graph: Graph) -> npt.NDArray[np.int32]:
    """Return the packed profile of every vertex, from one pass over the edges; cached."""
    known = _KNOWN.get(graph)
    if known is None:
        known = _KNOWN[graph] = _made(graph)
    return known


_KNOWN: WeakKeyDictionary[Graph, npt.NDArray[np.int32]] = WeakKeyDictionary()


def _made(graph: Graph) -> npt.NDArray[np.int32]:
    inflow, degrees = inbound_shares(graph).T
    share = (inflow + 1e-3) / np.maximum(degrees, 1)  # avoids the logarithm of 0
    level = np.clip(_half_octaves(share) + _OFFSET, 0, _MASK)
    classes = [_half_octaves(1.0 + each) for each in (degrees, graph.out_degrees)]
    profiles: npt.NDArray[np.int32] = classes[0] << 2 * _FIELD | classes[1] << _FIELD | level
    sides = None if graph.directed else two_sides(graph)
    if sides is not None:
        profiles |= sides.astype(np.int32) << _SIDE
    return profiles


def _half_octaves(values: npt.NDArray[np.floating]) -> npt.NDArray[np.int32]:
    classes: npt.NDArray[np.int32] = np.floor(2.0 * np.log2(values)).astype(np.int32)
    return classes


def profile_key(profiles: npt.NDArray[np.int32], level: int) -> npt.NDArray[np.int64]:
    """Return the key of each profile at a coarsening level, 0 (finest) to ``LEVELS - 1``.

    Sides, and out-degrees 0, 1 and 2, are kept at every level: two joined vertices with one
    outbound edge each would trap rank.

    Examples
    --------
    >>> import numpy as np
    >>> packed = np.array([(4 << 14) | (6 << 7) | 61], dtype=np.int32)
    >>> [int(profile_key(packed, level)[0]) for level in range(LEVELS)]
    [66365, 66334, 17054, 66304, 17024, 512]
    """
    packed = profiles.astype(np.int64)
    inflow = packed & _MASK
    degrees = packed >> _FIELD << _FIELD
    out_class = packed >> _FIELD & _MASK
    # Four half-octave classes make a class of two octaves: floor(floor(2x) / 4) = floor(x / 2).
    coarse_in = (packed >> 2 * _FIELD) // 4 << 2 * _FIELD
    coarse_out = np.where(out_class < 4, out_class, 4 + out_class // 4)
    if level == 0:
        return degrees | inflow
    if level == 1:
        return degrees | inflow // 2
    if level == 2:
        return coarse_in | coarse_out << _FIELD | inflow // 2
    if level == 3:
        return degrees
    if level == 4:
        return coarse_in | coarse_out << _FIELD
    lowest: npt.NDArray[np.int64] = np.minimum(out_class, 4) << _FIELD | packed >> _SIDE << _SIDE
    return lowest
