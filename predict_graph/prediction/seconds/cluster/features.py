"""The features of a superstep: its work on the busiest worker of a cluster."""

from __future__ import annotations

import numpy as np
import pandas as pd

from predict_graph.engines import critical_worker
from predict_graph.engines.spark.library.running import MERGED, RECORDS
from predict_graph.engines.spark.session.settings import is_local
from predict_graph.prediction.seconds.cluster.runs import ClusterRun

FEATURES = ("vertices", "messages", "records", "remote_bytes", "merged")
"""Features: vertices, messages, records and received bytes of the critical worker. Records
are messages after combining those to one vertex; where they are maps, combining visits so
many entries (merged), which is known for libraries only."""


CLOCK = 1e-3  # seconds, the resolution of Spark's clock, by definition


def rows_of_run(run: ClusterRun) -> pd.DataFrame:
    """Return the features and the seconds of each iteration of a run.

    On a local master one process has the threads of all machines, which share its work equally.
    """
    engine, table = run.record.engine, run.record.table
    local = is_local(str(engine.get("master", ""))) and table["worker"].nunique() == 1
    shared = run.machines if local else 1
    cores = int(engine.get("cores", 1)) * shared
    rows = table[table["worker"] == critical_worker(run.record.rows)]
    counted = {
        "vertices": rows["total_vertices"],
        "messages": rows["local_messages"] + rows["remote_messages"],
        "records": rows["shuffle_read_records"],
        "remote_bytes": rows["remote_message_bytes"],
        "merged": pd.Series(0.0, rows.index),
    }
    if MERGED in rows and rows[MERGED].notna().all():  # exact counts of the local replay
        counted |= {"records": rows[RECORDS], "merged": rows[MERGED]}
    seconds = rows["seconds"].to_numpy(np.float64)
    tasks = rows["task_seconds"].to_numpy(np.float64) / cores
    return pd.DataFrame(
        {
            **{name: each.to_numpy(np.float64) / shared for name, each in counted.items()},
            "seconds": seconds,
            "working": np.fmax(np.minimum(tasks, seconds), CLOCK),
            # An imported table may lack the column
            "spilled": rows.get("spilled_bytes", pd.Series(0.0, rows.index)).to_numpy(np.float64),
        }
    ).fillna(0.0)


def typical_rows(run: ClusterRun) -> pd.DataFrame:
    """Return the rows of a run that did not spill, or all if each did.

    Of a cold run they are from its second half, as the JVM warms up in the first one.
    """
    rows = rows_of_run(run)
    if run.cold:
        rows = rows.iloc[len(rows) // 2 :]
    dry = rows[rows["spilled"] == 0.0]
    return dry if len(dry) else rows
