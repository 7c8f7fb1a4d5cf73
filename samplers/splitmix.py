"""A random generator and a hash that compile into loops.

SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014):
a counter and a mixing function, 64 bits of state, passes BigCrush. The state is an array of one
element that the caller owns, so that runs in several threads never share a generator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

State = npt.NDArray[np.uint64]
RandomState = int | np.random.Generator | None

_GAMMA = np.uint64(0x9E3779B97F4A7C15)  # of SplitMix64 (Steele, Lea and Flood, 2014)


def new_state(random_state: RandomState = None) -> State:
    """Return a fresh generator state, an array of one element.

    Parameters
    ----------
    random_state : int, numpy.random.Generator or None
        A seed (non-negative), a generator from which one 64-bit draw is taken, or None for entropy
        of the operating system.

    Raises
    ------
    ValueError
        If `random_state` is something else.
    """
    try:
        generator = np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state is {random_state!r}; accepted: an integer >= 0, a numpy Generator, None"
        ) from None
    return generator.integers(0, 2**64, size=1, dtype=np.uint64)


def chance_threshold(probability: float) -> np.uint64:
    """Return the 53-bit threshold with which :func:`happens` is true with `probability`."""
    return np.uint64(round(probability * 2.0**53))


@njit(cache=True, nogil=True, inline="always")
def mixed(z: Any) -> Any:
    """Mix 64 bits so that each depends on all of those given."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def splitmix64(vertex: Any) -> Any:
    """Return 64 bits that look random and are the same for the same vertex."""
    return mixed(np.uint64(vertex + 1) * _GAMMA)


@njit(cache=True, nogil=True, inline="always")
def next64(state: State) -> np.uint64:
    """Return the next 64 random bits."""
    state[0] = state[0] + _GAMMA
    return np.uint64(mixed(state[0]))


@njit(cache=True, nogil=True)
def happens(state: State, threshold: np.uint64) -> bool:
    """Return True with the probability that `threshold` stands for."""
    return bool((next64(state) >> np.uint64(11)) < threshold)


@njit(cache=True, nogil=True)
def below(state: State, bound: int) -> int:
    """Return an unbiased random integer in [0, bound), bound from 1 to 2**32.

    Lemire's method ("Fast random integer generation in an interval", ACM TOMACS 2019): a product
    instead of a division, which is needed once in 2**32 / bound draws only.
    """
    wide = np.uint64(bound)
    product = (next64(state) >> np.uint64(32)) * wide
    low = product & np.uint64(0xFFFFFFFF)
    if low < wide:
        rejected = (np.uint64(0x100000000) - wide) % wide
        while low < rejected:
            product = (next64(state) >> np.uint64(32)) * wide
            low = product & np.uint64(0xFFFFFFFF)
    return int(np.int64(product >> np.uint64(32)))
