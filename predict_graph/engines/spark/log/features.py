"""The table and the phases of a run on Spark: the work of each executor in each superstep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.engines.profile import OUT_EDGES, TABLE_COLUMNS, message_bytes
from predict_graph.engines.spark.blocks.running import SuperstepJob, superstep_group
from predict_graph.engines.spark.log.eventlog import EventLog, succeeded
from predict_graph.engines.spark.recognition.supersteps import Recognised
from predict_graph.engines.spark.recognition.units import united
from predict_graph.table import Table

_TIMES = ("task_seconds", "cpu_seconds", "gc_seconds")
_SHUFFLED = ("shuffle_read_records", "shuffle_write_records", "shuffle_write_bytes")
EXECUTOR_COLUMNS = (*_TIMES, *_SHUFFLED, "spilled_bytes", "peak_memory_bytes")
"""Columns of a run on Spark in addition to those of every engine."""

_SUMMED = (*_TIMES, *_SHUFFLED, "spilled_bytes", "local_bytes", "remote_bytes")
_FRACTIONS = {"average_message_bytes", "seconds", "convergence", *_TIMES}
_BYTES = {"local_bytes": "local_message_bytes", "remote_bytes": "remote_message_bytes"}


def executor_table(tasks: pd.DataFrame, seconds: Sequence[float]) -> pd.DataFrame:
    """Return metrics of the successful tasks with a column ``iteration``, and their number, one row
    per iteration and executor.
    """
    executors = sorted(tasks["executor"].unique(), key=lambda name: (len(name), name))
    keys = ["iteration", "executor"]
    index = pd.MultiIndex.from_product([range(1, len(seconds) + 1), executors], names=keys)
    done = succeeded(tasks).groupby(keys)
    table = done[list(_SUMMED)].sum()
    table = table.assign(peak_memory_bytes=done["peak_memory_bytes"].max(), tasks=done.size())
    table = table.reindex(index).fillna(0.0).rename(columns=_BYTES).reset_index()
    workers = np.tile(np.arange(len(executors)), len(seconds))
    each = np.repeat(np.asarray(seconds, float), len(executors))
    return table.assign(worker=workers, seconds=each)


def with_average(table: pd.DataFrame, convergence: Any = np.nan) -> pd.DataFrame:
    """Return the columns of a run's table, with the mean size of a message."""
    average = message_bytes(Table(table))
    table = table.assign(average_message_bytes=average, convergence=convergence)
    optional = [OUT_EDGES] if OUT_EDGES in table else []
    table = table[[*TABLE_COLUMNS, *EXECUTOR_COLUMNS, *optional]]
    return table.astype({name: np.int64 for name in table if name not in _FRACTIONS})


def superstep_table(job: SuperstepJob, tasks: pd.DataFrame, *, remote: bool) -> pd.DataFrame:
    """Return one row per iteration and executor.

    Messages are counted as vertices send them, before combining; records and bytes are those that
    the job counted: all of them local unless machines are `remote`.
    """
    iterations = len(job.seconds)
    counts = pd.concat(dict(enumerate(job.counts, start=1)), names=["iteration"])
    groups = {superstep_group(job.run, number): number for number in range(1, iterations + 1)}
    own = tasks[tasks["group"].isin(list(groups))]
    table = executor_table(own.assign(iteration=own["group"].map(groups)), job.seconds)
    homes = counts["task"].map(tasks.set_index("number")["executor"])
    first = table["executor"].iloc[0] if len(table) else "driver"
    homes = homes.where(homes.isin(table["executor"]), first)  # Spark may drop events of tasks
    keys = ["iteration", "executor"]
    counts = counts.assign(executor=homes).groupby(keys).sum()
    table = table.join(counts, on=keys).fillna(0.0)
    size, away = table["local_bytes"] + table["remote_bytes"], table["remote_bytes"] * remote
    sizes = {"local_message_bytes": size - away, "remote_message_bytes": away}
    records = {"shuffle_read_records": table["records"], "shuffle_write_records": table["records"]}
    table = table.assign(**sizes, **records, shuffle_write_bytes=size)
    return with_average(table, np.repeat(job.aggregates, len(table) // max(iterations, 1)))


def observed_table(log: EventLog, found: Recognised, vertices: int = 0) -> pd.DataFrame:
    """Return one row per superstep and executor.

    Task metrics count records and bytes, not vertices. Messages are the records that an executor
    read from shuffles, after Spark combined them; the share of bytes from other executors counts as
    remote. Active vertices are not visible, so all vertices count.
    """
    numbered = enumerate(found.supersteps, start=1)
    step_of = {stage: number for number, step in numbered for stage in step.stages}
    own = log.tasks[log.tasks["stage"].isin(list(step_of))]
    own = own.assign(iteration=own["stage"].map(step_of).astype(int))
    table = executor_table(own, [step.seconds for step in found.supersteps])
    every = table.groupby("iteration")["tasks"].transform("sum")
    held = np.round(table["tasks"] / np.maximum(every, 1) * vertices)
    size = table["local_message_bytes"] + table["remote_message_bytes"]
    records = table["shuffle_read_records"]
    remote: Any = np.round(records * table["remote_message_bytes"] / np.maximum(size, 1))
    table = table.assign(total_vertices=held, active_vertices=held)
    return with_average(table.assign(remote_messages=remote, local_messages=records - remote))


def observed_phases(log: EventLog, found: Recognised) -> dict[str, float]:
    """Return the seconds of setup, read, superstep and write.

    Read is the time before the first superstep in which tasks read input; write is all
    after the last superstep; setup is the rest before the first, including the start of the
    application.
    """
    begin = float(log.application.get("started") or log.jobs["started"].min())
    ends = [log.application.get("finished"), log.jobs["finished"].max(), found.finished]
    end = max(float(moment) for moment in ends if moment is not None and moment == moment)
    tasks = log.tasks[(log.tasks["input_bytes"] > 0) & (log.tasks["started"] >= begin)]
    read = united(tasks[tasks["finished"] <= found.started])
    before = max(found.started - begin, 0.0)
    return {
        "setup": max(before - read, 0.0),
        "read": min(read, before),
        "superstep": found.seconds,
        "write": max(end - found.finished, 0.0),
    }
