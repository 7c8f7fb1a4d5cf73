"""Counters of the supersteps of a local replay, one row each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, starmap
from typing import Any

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
    n, records = layout.vertices, 0
    sending, received = np.zeros((2, n), np.bool_)
    sending[senders[sends]] = True
    for part in starmap(slice, pairwise(layout.starts)):
        here = np.zeros(n, np.bool_)
        here[receivers[part][sends[part]]] = True
        records += int(np.count_nonzero(here))
        received |= here
    active, messages, hear = (int(np.count_nonzero(each)) for each in (sending, sends, received))
    return (active, messages, records, records, messages, hear), received


def distinct_rows(
    n: int, partitions: int, first: IntArray, second: IntArray, parts: IntArray
) -> tuple[int, IntArray, IntArray]:
    """Return the distinct rows within partitions, counted, and the distinct rows of all."""
    keys = np.unique((first * n + second) * partitions + parts)
    rows = np.unique(keys // partitions)
    return len(keys), rows // n, rows % n
