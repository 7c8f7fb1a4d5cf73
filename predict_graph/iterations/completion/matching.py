"""Matching of the cut edge ends (stubs) of a sample by vertex profiles.

An edge from a sampled vertex *v* to a vertex *w* outside the sample leaves a stub that requires the
profile of *w*. It is joined with a stub of a sampled vertex with this profile that requires the
profile of *v*. Unmatched stubs are matched at the next coarser level of the profile, so that the
joint distribution of profiles over edges is kept as closely as possible.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from predict_graph.iterations.completion.profiles import LEVELS, profile_key

IntArray = npt.NDArray[np.int64]
ProfileArray = npt.NDArray[np.int32]
Pairs = tuple[IntArray, IntArray]

_KEY_BITS = 21  # by definition: three fields of a profile (profiles.py)


def match_mutual(
    owner: ProfileArray, wanted: ProfileArray, rng: np.random.Generator
) -> tuple[Pairs, IntArray]:
    """Pair stubs of edges that run in both directions."""
    open_stubs = rng.permutation(len(owner)).astype(np.int64)
    first, second = [], []
    for level in range(LEVELS):
        if not len(open_stubs):
            break
        mine = profile_key(owner[open_stubs], level)
        theirs = profile_key(wanted[open_stubs], level)
        key = np.minimum(mine, theirs) << _KEY_BITS | np.maximum(mine, theirs)
        order = np.argsort(key, kind="stable")
        side = np.sign(mine - theirs).astype(np.int8)
        one, other, left = _pair_mutual(key[order], side[order])
        first.append(open_stubs[order[one]])
        second.append(open_stubs[order[other]])
        open_stubs = open_stubs[order[left]]
    return _joined(first, second), open_stubs


def match_one_way(
    out_owner: ProfileArray,
    out_wanted: ProfileArray,
    in_owner: ProfileArray,
    in_wanted: ProfileArray,
    rng: np.random.Generator,
) -> tuple[Pairs, IntArray, IntArray]:
    """Pair out-stubs with in-stubs of edges that run in one direction only."""
    open_out = rng.permutation(len(out_owner)).astype(np.int64)
    open_in = rng.permutation(len(in_owner)).astype(np.int64)
    first, second = [], []
    for level in range(LEVELS):
        if not len(open_out) or not len(open_in):
            break
        out_key = profile_key(out_owner[open_out], level) << _KEY_BITS | profile_key(
            out_wanted[open_out], level
        )
        in_key = profile_key(in_wanted[open_in], level) << _KEY_BITS | profile_key(
            in_owner[open_in], level
        )
        out_order = np.argsort(out_key, kind="stable")
        in_order = np.argsort(in_key, kind="stable")
        one, other, left_out, left_in = _pair_one_way(out_key[out_order], in_key[in_order])
        first.append(open_out[out_order[one]])
        second.append(open_in[in_order[other]])
        open_out = open_out[out_order[left_out]]
        open_in = open_in[in_order[left_in]]
    return _joined(first, second), open_out, open_in


def _joined(first: list[IntArray], second: list[IntArray]) -> Pairs:
    empty = [np.empty(0, np.int64)]
    return np.concatenate(empty + first), np.concatenate(empty + second)


@numba.njit(cache=True, nogil=True)
def _pair_mutual(key: IntArray, side: npt.NDArray[np.int8]) -> tuple[IntArray, IntArray, IntArray]:
    """Pair positions of equal key: one side with the other, or among themselves when alike."""
    n = len(key)
    one, other, left = np.empty(n // 2, np.int64), np.empty(n // 2, np.int64), np.empty(n, np.int64)
    pairs = lost = 0
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and key[stop] == key[start]:
            stop += 1
        if side[start] == 0:
            for position in range(start, stop - 1, 2):
                one[pairs], other[pairs] = position, position + 1
                pairs += 1
            if (stop - start) % 2:
                left[lost] = stop - 1
                lost += 1
        else:
            low = high = start
            while True:
                while low < stop and side[low] > 0:
                    low += 1
                while high < stop and side[high] < 0:
                    high += 1
                if low == stop or high == stop:
                    break
                one[pairs], other[pairs] = low, high
                pairs += 1
                low += 1
                high += 1
            while low < stop:
                if side[low] < 0:
                    left[lost] = low
                    lost += 1
                low += 1
            while high < stop:
                if side[high] > 0:
                    left[lost] = high
                    lost += 1
                high += 1
        start = stop
    return one[:pairs], other[:pairs], left[:lost]


@numba.njit(cache=True, nogil=True)
def _pair_one_way(
    out_key: IntArray, in_key: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Merge two sorted key lists; equal keys pair off one to one."""
    size = min(len(out_key), len(in_key))
    one, other = np.empty(size, np.int64), np.empty(size, np.int64)
    left_out, left_in = np.empty(len(out_key), np.int64), np.empty(len(in_key), np.int64)
    pairs = lost_out = lost_in = 0
    i = j = 0
    while i < len(out_key) and j < len(in_key):
        if out_key[i] == in_key[j]:
            one[pairs], other[pairs] = i, j
            pairs += 1
            i += 1
            j += 1
        elif out_key[i] < in_key[j]:
            left_out[lost_out] = i
            lost_out += 1
            i += 1
        else:
            left_in[lost_in] = j
            lost_in += 1
            j += 1
    while i < len(out_key):
        left_out[lost_out] = i
        lost_out += 1
        i += 1
    while j < len(in_key):
        left_in[lost_in] = j
        lost_in += 1
        j += 1
    return one[:pairs], other[:pairs], left_out[:lost_out], left_in[:lost_in]
