"""The key input features of a cost model, from the table of a run (PREDIcT, table 1)."""

from __future__ import annotations

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
    "iteration",
    "iteration_messages",
)
"""Candidate features of the cost model: table 1, and counters that grow during a run."""


def cost_rows(table: pd.DataFrame, *, virtual_workers: bool) -> pd.DataFrame:
    """Return one row per iteration: the counters that determine its time."""
    if virtual_workers:
        return per_iteration(table).frame()
    return table[table["worker"] == critical_worker(Table(table))].reset_index(drop=True)


def cost_features(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the candidate features of rows of counters."""
    import pandas as pd

    # Computed per column in numpy: pandas takes ten times as long for a few rows.
    columns = {
        name: rows[name].to_numpy(dtype=np.float64)
        for name in (*COUNTERS, "total_vertices", "iteration")
    }
    messages = columns["local_messages"] + columns["remote_messages"]
    size = columns["local_message_bytes"] + columns["remote_message_bytes"]
    columns["average_message_bytes"] = size / np.maximum(messages, 1.0)
    columns["iteration_messages"] = messages * columns["iteration"]
    values = np.column_stack([columns[name] for name in CANDIDATES])
    return pd.DataFrame(values, index=rows.index, columns=list(CANDIDATES))
