"""Counters of the supersteps of a local replay, one row each."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pandas as pd

from predict_graph.arrays import BoolArray, IntArray
from predict_graph.engines.spark.library.algorithm import REPLAY_COLUMNS
from predict_graph.engines.spark.library.layout import EdgeLayout


class Rounds:
    """Collects the rows of supersteps.

    Parameters
    ----------
    layout : EdgeLayout
        Of the graph whose vertices have copies in the partitions of edges; messages may follow the
        edges of another one (:meth:`send`).
    sources_only : bool
        Whether only partitions with out-edges of a vertex have a copy of it.
    """

    def __init__(self, layout: EdgeLayout, *, sources_only: bool = False) -> None:
        self._copies = layout.copies(sources_only=sources_only)
        self.rows: list[tuple[int, ...]] = []

    def add(self, counts: Any, received: BoolArray, changed: BoolArray | None = None) -> bool:
        """Add the counts of a superstep: senders, messages, records, entries, merged.

        Copies of the `changed` vertices are sent to partitions, by default of those that received.
        Returns whether any vertex received a message.
        """
        heard = int(np.count_nonzero(received))
        shipped = int(self._copies[received if changed is None else changed].sum())
        self.rows.append((*(int(each) for each in counts), heard, shipped))
        return heard > 0

    def send(
        self,
        layout: EdgeLayout,
        sends: BoolArray,
        senders: IntArray,
        receivers: IntArray,
        changed: BoolArray | None = None,
    ) -> BoolArray:
        """Add a superstep of one message along some edges; return the vertices that receive.

        Messages to a vertex are combined into one record in each partition of the edges.
        """
        received: BoolArray
        counts, received = sent(layout.starts, sends, senders, receivers, layout.vertices)
        self.add(counts, received, changed)
        return received

    def table(self) -> pd.DataFrame:
        """Return one row per superstep."""
        return pd.DataFrame(self.rows, columns=list(REPLAY_COLUMNS))


@numba.njit(cache=True, nogil=True)
def sent(
    starts: IntArray, sends: BoolArray, senders: IntArray, receivers: IntArray, n: int
) -> tuple[tuple[int, int, int, int, int], BoolArray]:
    """Return the counts of a superstep of one message along some edges, and the receivers.

    Counts are senders, messages, records, entries (one a record) and merges (one a message).
    """
    received, sending = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    seen = np.full(n, -1, np.int64)
    active = messages = records = 0
    for p in range(len(starts) - 1):
        for e in range(starts[p], starts[p + 1]):
            if not sends[e]:
                continue
            v, w = senders[e], receivers[e]
            messages += 1
            received[w] = True
            if not sending[v]:
                sending[v] = True
                active += 1
            if seen[w] != p:
                seen[w] = p
                records += 1
    return (active, messages, records, records, messages), received
