"""Undoing the loops that joining stubs may make and the graph does not have.

A chance self-loop, or two one-way edges that answer each other, traps rank in a place where it
circulates for ever; in a small sample one such trap can double the predicted iterations.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["without_traps"]

IntArray = npt.NDArray[np.int64]
_ROUNDS = 8  # judgement: docs/studies/constants.md


def without_traps(
    sources: IntArray,
    targets: IntArray,
    narrow: npt.NDArray[np.bool_],
    rng: np.random.Generator,
) -> IntArray:
    """Return targets rearranged so that few edges are traps; degrees stay as they are.

    Each trap swaps its target with a random other edge, for a few rounds.

    Parameters
    ----------
    sources, targets : ndarray of int64, shape (k,)
        Ends of the joined edges.
    narrow : ndarray of bool, shape (n,)
        Vertices with so few ways out that an edge between two of them must not have its opposite
        among the others. All False if each pair stands for both directions anyway.
    rng : Generator

    Examples
    --------
    >>> import numpy as np
    >>> sources, targets = np.array([0, 1, 2]), np.array([0, 2, 3])
    >>> narrow = np.ones(4, bool)
    >>> fixed = without_traps(sources, targets, narrow, np.random.default_rng(1))
    >>> bool((fixed == sources).any()), sorted(fixed.tolist())
    (False, [0, 2, 3])
    """
    targets = targets.copy()
    size = len(narrow)
    for _ in range(_ROUNDS):
        trapped = sources == targets
        risky = np.flatnonzero(narrow[sources] & narrow[targets])
        there = sources[risky] * size + targets[risky]
        back = targets[risky] * size + sources[risky]
        trapped[risky] |= np.isin(there, back)
        bad = np.flatnonzero(trapped)
        good = np.flatnonzero(~trapped)
        if not len(bad) or not len(good):
            break
        bad = bad[: len(good)]
        partner = rng.choice(good, len(bad), replace=False)
        targets[bad], targets[partner] = targets[partner], targets[bad]
    return targets
