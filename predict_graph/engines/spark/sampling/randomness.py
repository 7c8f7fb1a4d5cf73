"""Random numbers that belong to a row, not to a place: the same however the rows are spread.

Each is a hash (XXH64) of a seed, of what it is for, and of the row's own key. Spark's ``rand()``
would depend on the partition that a row happens to be in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["below", "chance", "new_seed"]


def new_seed(random_state: int | np.random.Generator | None) -> int:
    """Return a seed of 63 bits.

    Raises
    ------
    ValueError
        If `random_state` is none of these.

    Examples
    --------
    >>> new_seed(1) == new_seed(1), new_seed(1) == new_seed(2)
    (True, False)
    """
    try:
        generator = np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state is {random_state!r}; accepted: an integer >= 0, a numpy Generator, None"
        ) from None
    return int(generator.integers(0, 2**63))


def chance(seed: int, purpose: str, key: Column) -> Column:
    """Return a random number in [0, 1) for each row, of 53 bits."""
    from pyspark.sql import functions as F

    bits = F.xxhash64(F.lit(seed), F.lit(purpose), key)
    return F.shiftrightunsigned(bits, 11).cast("double") * 2.0**-53


def below(bound: Column, seed: int, purpose: str, key: Column) -> Column:
    """Return a random integer in [0, bound) for each row."""
    from pyspark.sql import functions as F

    return F.floor(chance(seed, purpose, key) * bound).cast("bigint")
