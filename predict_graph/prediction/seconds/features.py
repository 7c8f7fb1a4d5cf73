"""The key input features of a cost model, from the table of a run (PREDIcT, table 1)."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from predict_graph.engines import COUNTERS, critical_worker, per_iteration
from predict_graph.table import Table

if TYPE_CHECKING:
    import pandas as pd

CANDIDATES = (
    *COUNTERS,
    "average_message_bytes",
    "total_vertices",
    "memory_messages",
    "iteration",
    "iteration_messages",
)
"""Candidate features of the cost model: table 1, messages with uncached data, and counters that
grow during a run."""

_LIKELY_CACHE = 32 << 20  # limits cached data where the machine does not report its caches


def cost_rows(table: pd.DataFrame, *, virtual_workers: bool) -> pd.DataFrame:
    """Return one row per iteration: the counters that determine its time."""
    if virtual_workers:
        return per_iteration(table).frame()
    return table[table["worker"] == critical_worker(Table(table))].reset_index(drop=True)


def cost_features(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the candidate features of rows of counters.

    ``memory_messages`` are the messages times the share of the working set that does not fit in the
    largest cache: an edge whose other end is in memory takes several times as long as one in cache
    (docs/design-notes.md, fact 4).
    """
    import pandas as pd

    # Computed per column in numpy: pandas takes ten times as long for a few rows.
    columns = {
        name: rows[name].to_numpy(dtype=np.float64)
        for name in (*COUNTERS, "total_vertices", "iteration")
    }
    messages = columns["local_messages"] + columns["remote_messages"]
    working_set = rows["working_set_bytes"].to_numpy(dtype=np.float64)
    missing = np.clip(1.0 - cache_bytes() / np.maximum(working_set, 1.0), 0.0, 1.0)
    size = columns["local_message_bytes"] + columns["remote_message_bytes"]
    columns["average_message_bytes"] = size / np.maximum(messages, 1.0)
    columns["memory_messages"] = messages * missing
    columns["iteration_messages"] = messages * columns["iteration"]
    values = np.column_stack([columns[name] for name in CANDIDATES])
    return pd.DataFrame(values, index=rows.index, columns=list(CANDIDATES))


@cache
def cache_bytes() -> int:
    """Return the size of the cache that one core has exclusively, or a typical size.

    The last level is shared, often with other virtual machines, so it is not included.
    """
    sizes = []
    for index in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            shared = (index / "shared_cpu_list").read_text().strip()
            level = int((index / "level").read_text())
            text = (index / "size").read_text().strip()
        except (OSError, ValueError):
            continue
        alone = shared == "0" or level < 3 or (os.cpu_count() or 1) == 1
        if text.endswith("K") and alone:
            sizes.append(int(text[:-1]) << 10)
    return max(sizes, default=_LIKELY_CACHE)
