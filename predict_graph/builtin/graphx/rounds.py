"""The table that a twin of GraphX fills, a row a superstep, and what some of them exchange."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.engines.spark.library.algorithm import TWIN_COLUMNS
from predict_graph.engines.spark.library.exchange import Exchange

__all__ = ["Rounds"]

IntArray = npt.NDArray[np.int64]

_MOST_BYTES = 1 << 30  # of what is kept of supersteps; a choice: memory
# Bytes of what is kept, at most, by definition: what it is told by, whether it is told, what it
# becomes.
_A_VERTEX = 34


class Rounds:
    """Collects the rows of supersteps.

    Parameters
    ----------
    copies : ndarray of int64, shape (n,)
        Of each vertex, in partitions with edges of it.
    """

    def __init__(self, copies: IntArray) -> None:
        self._copies = copies
        self.rows: list[tuple[int, ...]] = []
        self.kept: dict[int, Exchange] = {}

    def add(
        self, counts: Any, received: Any, changed: Any = None, exchange: Exchange | None = None
    ) -> bool:
        """Add the counts of a superstep: senders, messages, records, entries, merged; return
        whether any message was sent.

        What is exchanged is kept of the first four, and then of two in each doubling.
        """
        if exchange is not None and self.keeps:
            self.kept[len(self.rows)] = exchange
        heard = int(np.count_nonzero(received))
        shipped = int(self._copies[received if changed is None else changed].sum())
        self.rows.append((*(int(each) for each in counts), heard, shipped))
        return heard > 0

    @property
    def keeps(self) -> bool:
        """Whether what the next superstep exchanges is kept."""
        number = len(self.rows)
        room = (len(self.kept) + 1) * _A_VERTEX * len(self._copies) <= _MOST_BYTES
        while number > 3 and number % 2 == 0:
            number //= 2
        return room and number <= 3

    def table(self) -> pd.DataFrame:
        """Return a row a superstep."""
        return pd.DataFrame(self.rows, columns=list(TWIN_COLUMNS))
