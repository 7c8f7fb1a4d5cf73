"""Counters of recognised supersteps, with the table and phases of our own runs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.engines.profile import TABLE_COLUMNS
from predict_graph.engines.spark.log.eventlog import EventLog
from predict_graph.engines.spark.log.features import EXECUTOR_COLUMNS
from predict_graph.engines.spark.recognition.supersteps import Recognised

_TIMES = ("task_seconds", "cpu_seconds", "gc_seconds")
_COUNTS = (
    *("shuffle_read_records", "shuffle_write_records", "shuffle_write_bytes"),
    *("spilled_bytes", "local_bytes", "remote_bytes"),
)


def observed_table(log: EventLog, found: Recognised, vertices: int = 0) -> pd.DataFrame:
    """Return one row per superstep and executor.

    Task metrics count records and bytes, not vertices. Messages are the records that an executor
    read from shuffles, after Spark combined them; the share of bytes from other executors counts as
    remote. Active vertices are not visible, so all vertices count.
    """
    step_of = {
        stage: number
        for number, step in enumerate(found.supersteps, start=1)
        for stage in step.stages
    }
    own = log.tasks[log.tasks["stage"].isin(list(step_of))]
    own = own.assign(iteration=own["stage"].map(step_of).astype(int))
    executors = sorted(own["executor"].unique(), key=lambda name: (len(name), name))
    index = pd.MultiIndex.from_product(
        [range(1, found.iterations + 1), executors], names=["iteration", "executor"]
    )
    by = ["iteration", "executor"]
    lost = own["failed"].astype(bool) | own["redone"].astype(bool)
    done = own[~lost].groupby(by)
    table = own.groupby(by)[list(_TIMES)].sum().reindex(index, fill_value=0.0)
    table = table.join(done[list(_COUNTS)].sum().reindex(index, fill_value=0))
    table["peak_memory_bytes"] = done["peak_memory_bytes"].max().reindex(index, fill_value=0)
    share = done.size().reindex(index, fill_value=0).groupby("iteration")
    part = share.transform(lambda tasks: tasks / max(tasks.sum(), 1))
    table["total_vertices"] = table["active_vertices"] = np.round(part * vertices)
    size = table["local_bytes"] + table["remote_bytes"]
    records = table["shuffle_read_records"]
    remote: pd.Series[float] = records * table["remote_bytes"] / np.maximum(size, 1)
    table["remote_messages"] = np.round(remote)
    table["local_messages"] = records - table["remote_messages"]
    table["average_message_bytes"] = size / np.maximum(records, 1)
    table = table.rename(
        columns={"local_bytes": "local_message_bytes", "remote_bytes": "remote_message_bytes"}
    ).reset_index()
    table["worker"] = np.tile(np.arange(len(executors)), found.iterations)
    seconds = [step.seconds for step in found.supersteps]
    table["seconds"] = np.repeat(np.array(seconds), len(executors))
    table["convergence"] = np.nan
    table["working_set_bytes"] = table["peak_memory_bytes"]
    fractions = {"average_message_bytes", "seconds", "convergence", *_TIMES}
    table = table[[*TABLE_COLUMNS, *EXECUTOR_COLUMNS]]
    return table.astype({name: np.int64 for name in table if name not in fractions})


def observed_phases(log: EventLog, found: Recognised) -> dict[str, float]:
    """Return the seconds of setup, read, superstep and write.

    Read is the time before the first superstep in which tasks read uncached input; write is all
    after the last superstep; setup is the rest before the first, including the start of the
    application.
    """
    begin = float(log.application.get("started") or log.jobs["started"].min())
    ends = [log.application.get("finished"), log.jobs["finished"].max(), found.finished]
    end = max(float(moment) for moment in ends if moment is not None and moment == moment)
    fresh = log.stages.loc[~log.stages["cached"].astype(bool), "stage"]
    tasks = log.tasks[log.tasks["stage"].isin(fresh) & (log.tasks["input_bytes"] > 0)]
    tasks = tasks[tasks["finished"] <= found.started]
    read = _united(tasks["started"].to_numpy(), tasks["finished"].to_numpy())
    before = max(found.started - begin, 0.0)
    return {
        "setup": max(before - read, 0.0),
        "read": min(read, before),
        "superstep": float(sum(step.seconds for step in found.supersteps)),
        "write": max(end - found.finished, 0.0),
    }


def observed_convergence(found: Recognised) -> npt.NDArray[np.float64]:
    """Return NaN for each superstep: the job's convergence aggregate is unknown."""
    return np.full(found.iterations, np.nan)


def _united(begins: npt.NDArray[np.float64], ends: npt.NDArray[np.float64]) -> float:
    """Return the length of the union of intervals."""
    total, reached = 0.0, -np.inf
    for begin, end in sorted(zip(begins, ends, strict=True)):
        total += max(float(end - max(begin, reached)), 0.0)
        reached = max(reached, float(end))
    return total
