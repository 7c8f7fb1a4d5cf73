"""Counters of recognised supersteps, with the table and phases of our own runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from predict_graph.engines.spark.log.eventlog import EventLog
from predict_graph.engines.spark.log.features import executor_table, with_average
from predict_graph.engines.spark.recognition.supersteps import Recognised
from predict_graph.engines.spark.recognition.units import united


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
    table = executor_table(own, [step.seconds for step in found.supersteps])
    every = table.groupby("iteration")["tasks"].transform("sum")
    held = np.round(table["tasks"] / np.maximum(every, 1) * vertices)
    size = table["local_message_bytes"] + table["remote_message_bytes"]
    records = table["shuffle_read_records"]
    remote: Any = np.round(records * table["remote_message_bytes"] / np.maximum(size, 1))
    return with_average(
        table.assign(
            total_vertices=held,
            active_vertices=held,
            remote_messages=remote,
            local_messages=records - remote,
        )
    )


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
    read = united(tasks)
    before = max(found.started - begin, 0.0)
    return {
        "setup": max(before - read, 0.0),
        "read": min(read, before),
        "superstep": float(sum(step.seconds for step in found.supersteps)),
        "write": max(end - found.finished, 0.0),
    }
