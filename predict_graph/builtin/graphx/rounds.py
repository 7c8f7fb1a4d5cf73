"""The table of counters of a GraphX local replay, one row per superstep."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.engines.spark.library.algorithm import REPLAY_COLUMNS

IntArray = npt.NDArray[np.int64]


class Rounds:
    """Collects the rows of supersteps."""

    def __init__(self, copies: IntArray) -> None:
        self._copies = copies
        self.rows: list[tuple[int, ...]] = []

    def add(self, counts: Any, received: Any, changed: Any = None) -> bool:
        """Add the counts of a superstep (senders, messages, records, entries, merged); return
        whether any message was sent.
        """
        heard = int(np.count_nonzero(received))
        shipped = int(self._copies[received if changed is None else changed].sum())
        self.rows.append((*(int(each) for each in counts), heard, shipped))
        return heard > 0

    def table(self) -> pd.DataFrame:
        """Return one row per superstep."""
        return pd.DataFrame(self.rows, columns=list(REPLAY_COLUMNS))
