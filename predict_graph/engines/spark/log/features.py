"""The table of a run on Spark: what each executor did in each superstep."""

from __future__ import annotations

import numpy as np
import pandas as pd

from predict_graph.engines.profile import OUT_EDGES, TABLE_COLUMNS
from predict_graph.engines.spark.superstep import SuperstepLog, superstep_group

__all__ = ["EXECUTOR_COLUMNS", "executor_metrics", "moved_table", "superstep_table"]

EXECUTOR_COLUMNS = (
    "task_seconds",
    "cpu_seconds",
    "gc_seconds",
    "shuffle_read_records",
    "shuffle_write_records",
    "shuffle_write_bytes",
    "spilled_bytes",
    "peak_memory_bytes",
)
"""Columns of a run on Spark beside those of every engine."""

_SUMMED = (*EXECUTOR_COLUMNS[:-1], "local_bytes", "remote_bytes")
_COUNTED = ("total_vertices", "active_vertices", "local_messages", "remote_messages", OUT_EDGES)


def executor_metrics(tasks: pd.DataFrame) -> pd.DataFrame:
    """Add the metrics of tasks up by job group and executor; peak memory is the largest.

    Parameters
    ----------
    tasks : DataFrame
        Of an event log.

    Returns
    -------
    DataFrame
        Index: group and executor.
    """
    done = tasks[~(tasks["failed"] | tasks["redone"]).astype(bool)]
    grouped = done.groupby(["group", "executor"])
    sums = grouped[list(_SUMMED)].sum()
    return sums.assign(peak_memory_bytes=grouped["peak_memory_bytes"].max())


def superstep_table(log: SuperstepLog, tasks: pd.DataFrame, run: str) -> pd.DataFrame:
    """Return one row an iteration and executor.

    Messages are counted as the vertices send them, before anything combines them; bytes are those
    that executors read from themselves and from each other, which is what the network carried.

    Parameters
    ----------
    log : SuperstepLog
    tasks : DataFrame
        Of the event log.
    run : str
        Begins the names of the job groups.
    """
    metrics = executor_metrics(tasks)
    groups = {superstep_group(run, number): number for number in range(1, len(log.convergence) + 1)}
    metrics = metrics[metrics.index.get_level_values("group").isin(list(groups))].reset_index()
    metrics["iteration"] = metrics["group"].map(groups)
    executors = sorted(metrics["executor"].unique(), key=lambda name: (len(name), name))
    counted = log.counts.assign(executor=log.counts["partition"].map(_homes(tasks, run)))
    counted["executor"] = counted["executor"].fillna(executors[0] if executors else "driver")
    sums = counted.groupby(["iteration", "executor"])[list(_COUNTED)].sum()
    iterations = range(1, len(log.convergence) + 1)
    index = pd.MultiIndex.from_product([iterations, executors], names=["iteration", "executor"])
    table = metrics.set_index(["iteration", "executor"]).drop(columns="group").reindex(index)
    table = table.join(sums.reindex(index)).fillna(0.0)
    table["worker"] = np.tile(np.arange(len(executors)), len(log.convergence))
    table = table.rename(
        columns={"local_bytes": "local_message_bytes", "remote_bytes": "remote_message_bytes"}
    ).reset_index()
    messages = table["local_messages"] + table["remote_messages"]
    size = table["local_message_bytes"] + table["remote_message_bytes"]
    table["average_message_bytes"] = size / np.maximum(messages, 1.0)
    table["seconds"] = np.repeat(log.seconds, len(executors))
    table["convergence"] = np.repeat(log.convergence, len(executors))
    table["working_set_bytes"] = table["peak_memory_bytes"]
    whole = [str(name) for name in table if str(name).endswith(("messages", "vertices", "bytes"))]
    whole.remove("average_message_bytes")
    whole += ["shuffle_read_records", "shuffle_write_records", OUT_EDGES]
    table[whole] = table[whole].astype(np.int64)
    return table[[*TABLE_COLUMNS, *EXECUTOR_COLUMNS, OUT_EDGES]]


def moved_table(
    table: pd.DataFrame, moved: pd.DataFrame, tasks: pd.DataFrame, run: str, *, remote: bool
) -> pd.DataFrame:
    """Put what a vertex program moved into the table of its run: no shuffle knows of it.

    Parameters
    ----------
    table : DataFrame
        From :func:`superstep_table`.
    moved : DataFrame
        ``iteration, partition, records, bytes``: what came to a partition from the driver, and what
        went back.
    tasks : DataFrame
    run : str
    remote : bool
        Whether that went from one machine to another.
    """
    own_tasks = tasks[tasks["group"].astype(str).str.startswith(f"{run}/superstep/")]
    executors = sorted(own_tasks["executor"].unique(), key=lambda name: (len(name), name))
    worker = {name: number for number, name in enumerate(executors)}
    homes = moved["partition"].map(_homes(tasks, run)).map(worker).fillna(0).astype(int)
    sums = moved.assign(worker=homes).groupby(["iteration", "worker"])[["records", "bytes"]].sum()
    own = sums.reindex(pd.MultiIndex.from_frame(table[["iteration", "worker"]])).fillna(0)
    size = own["bytes"].to_numpy().astype(np.int64)
    records = own["records"].to_numpy().astype(np.int64)
    messages = (table["local_messages"] + table["remote_messages"]).to_numpy()
    return table.assign(
        local_message_bytes=0 if remote else size,
        remote_message_bytes=size if remote else 0,
        shuffle_read_records=records,
        shuffle_write_records=records,
        shuffle_write_bytes=size,
        average_message_bytes=size / np.maximum(messages, 1.0),
    )


def _homes(tasks: pd.DataFrame, run: str) -> dict[int, str]:
    """Return the executor that holds each partition of the state.

    The stage that makes a state is the last of its superstep that writes for another: it hands its
    sums to the tasks that add them up, which may run anywhere.
    """
    own = tasks[tasks["group"].astype(str).str.startswith(f"{run}/superstep/")]
    writing = own[own.groupby(["group", "stage"])["shuffle_write_records"].transform("sum") > 0]
    making = writing if len(writing) else own
    making = making[making["stage"] == making.groupby("group")["stage"].transform("max")]
    last = making.sort_values("finished").drop_duplicates("task", keep="last")
    return dict(zip(last["task"].astype(int), last["executor"].astype(str), strict=True))
