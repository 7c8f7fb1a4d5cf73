"""Counters of the supersteps of a local replay, one row each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
import pandas as pd

from predict_graph.arrays import BoolArray, IntArray
from predict_graph.engines.spark.library.algorithm import REPLAY_COLUMNS
from predict_graph.engines.spark.library.layout import EdgeLayout

Row = tuple[int, ...]


def table_of(rows: Sequence[Row]) -> pd.DataFrame:
    """Return one row per superstep."""
    return pd.DataFrame(rows, columns=list(REPLAY_COLUMNS))


def sent(
    layout: EdgeLayout, sends: BoolArray, senders: Any, receivers: Any
) -> tuple[Row, BoolArray]:
    """Return the row of a superstep of one message along some edges, and the receivers.

    Messages to a vertex are combined into one record of one entry in each partition.
    """
    counts, received = _sent(layout.starts, sends, senders, receivers, layout.vertices)
    senders, messages, records = counts
    return (senders, messages, records, records, messages, int(received.sum())), received


def distinct_rows(
    n: int, partitions: int, first: IntArray, second: IntArray, parts: IntArray
) -> tuple[int, IntArray, IntArray]:
    """Return the distinct rows within partitions, counted, and the distinct rows of all."""
    keys = np.unique((first * n + second) * partitions + parts)
    rows = np.unique(keys // partitions)
    return len(keys), rows // n, rows % n


@numba.njit(cache=True, nogil=True)
def _sent(starts: Any, sends: Any, senders: Any, receivers: Any, n: int) -> Any:
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
    return (active, messages, records), received
