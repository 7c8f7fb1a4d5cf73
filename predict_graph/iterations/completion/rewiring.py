"""Removal of loops that the matching of stubs creates by chance.

A self-loop, or a pair of opposite one-way edges, traps rank; in a small sample one such trap can
double the predicted iterations.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
_ROUNDS = 8  # limits the swaps of a trap


def without_traps(
    sources: IntArray,
    targets: IntArray,
    narrow: npt.NDArray[np.bool_],
    rng: np.random.Generator,
) -> IntArray:
    """Return targets rearranged so that few edges are traps; degrees stay as they are.

    Each trap swaps its target with a random other edge, for a few rounds.

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
