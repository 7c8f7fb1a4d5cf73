"""Matching of the cut edge ends (stubs) of a sample by vertex profiles.

An edge from a sampled vertex *v* to a vertex *w* outside the sample leaves a stub that requires the
profile of *w*. It is joined with a stub of a sampled vertex with this profile that requires the
profile of *v*. Unmatched stubs are matched at the next coarser level of the profile, so that the
joint distribution of profiles over edges is kept as closely as possible.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predict_graph.arrays import IntArray
from predict_graph.iterations.completion.profiles import FIELD, LEVELS, profile_key

ProfileArray = npt.NDArray[np.int32]
Pairs = tuple[IntArray, IntArray]

_KEY_BITS = FIELD * 3


def match_mutual(owner: ProfileArray, wanted: ProfileArray, rng: np.random.Generator) -> Pairs:
    """Pair stubs of edges that run in both directions; `rng` breaks ties.

    `owner` and `wanted` are the packed profiles of the vertex of each stub, and of its lost vertex.
    """
    left, found = rng.permutation(len(owner)).astype(np.int64), []
    for level in LEVELS:
        mine, theirs = profile_key(owner[left], level), profile_key(wanted[left], level)
        other = mine < theirs
        alike = np.flatnonzero(mine == theirs)
        other[alike] = _ranks(mine[alike]) % 2 == 1  # these are joined with each other
        keys = np.minimum(mine, theirs) << _KEY_BITS | np.maximum(mine, theirs)
        sides = np.flatnonzero(~other), np.flatnonzero(other)
        at = _equal(keys[sides[0]], keys[sides[1]])
        places = sides[0][at[0]], sides[1][at[1]]
        found.append((left[places[0]], left[places[1]]))
        left = np.delete(left, np.concatenate(places))
    return _joined(found)


def match_one_way(
    out_owner: ProfileArray,
    out_wanted: ProfileArray,
    in_owner: ProfileArray,
    in_wanted: ProfileArray,
    rng: np.random.Generator,
) -> Pairs:
    """Pair out-stubs with in-stubs of edges that run in one direction only, likewise."""
    out, into = (rng.permutation(len(each)).astype(np.int64) for each in (out_owner, in_owner))
    found = []
    for level in LEVELS:
        at = _equal(
            profile_key(out_owner[out], level) << _KEY_BITS | profile_key(out_wanted[out], level),
            profile_key(in_wanted[into], level) << _KEY_BITS | profile_key(in_owner[into], level),
        )
        found.append((out[at[0]], into[at[1]]))
        out, into = np.delete(out, at[0]), np.delete(into, at[1])
    return _joined(found)


def _equal(one: IntArray, other: IntArray) -> Pairs:
    """Return positions of equal keys in two lists; each position occurs in one pair at most."""
    one, other = (keys << _KEY_BITS | _ranks(keys) for keys in (one, other))
    _, first, second = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    return first, second


def _ranks(keys: IntArray) -> IntArray:
    """Return how many equal keys are before each key."""
    order = np.argsort(keys, kind="stable")
    places = np.arange(len(keys))
    first = np.diff(keys[order], prepend=-1) != 0
    ranks = np.empty_like(places)
    ranks[order] = places - np.maximum.accumulate(np.where(first, places, 0))
    return ranks


def _joined(found: list[Pairs]) -> Pairs:
    first, second = zip(*found, strict=True)
    return np.concatenate(first), np.concatenate(second)
