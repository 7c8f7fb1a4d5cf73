"""Seeds of what is random in a prediction: the user's, or one that is drawn and reported."""

from __future__ import annotations

import secrets
from numbers import Integral

from predict_graph.errors import RequestError


def check_seed(seed: int | None) -> int:
    """Return the seed; a fresh one is drawn and reported when none is given.

    Raises
    ------
    RequestError
        If it is negative or too large.
    """
    if seed is None:
        return secrets.randbelow(2**32)
    whole = isinstance(seed, Integral) and not isinstance(seed, bool)
    if not whole or not 0 <= int(seed) < 2**63:
        raise RequestError(f"seed is {seed!r}; accepted: a whole number from 0 on")
    return int(seed)
