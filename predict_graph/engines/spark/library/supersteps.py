"""Finding the supersteps of a library algorithm in its event log.

GraphX names the stages in which messages are made and combined: each job with such a stage is a
superstep, or each such stage where all runs in one job. Loops over tables end a round with a sum
that the driver collects: the one kind of job that shuffles records without being a query.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from predict_graph.arrays import IntArray
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm
from predict_graph.engines.spark.log.eventlog import EventLog, succeeded
from predict_graph.engines.spark.recognition.supersteps import (
    Recognised,
    Superstep,
    by_messages,
    message_stages,
    steps_of_jobs,
    with_step,
)
from predict_graph.errors import JobError


def supersteps_of(log: EventLog, algorithm: LibraryAlgorithm, began: float) -> Recognised:
    """Return the supersteps in a log that starts with the call of an algorithm.

    A superstep ends with its sum, or with the last job before the next messages are made; it
    includes the driver's work in between. The first starts with the call.
    """
    jobs = log.jobs[log.jobs["group"] == algorithm.name].sort_values("job")
    if algorithm.separated_by == "messages":
        found = by_messages(log, algorithm.name, began)
    else:
        separate = _by_sums if algorithm.separated_by == "sums" else _by_stages
        steps = separate(log, algorithm, jobs, began)
        reason = f"each ends with one of the {algorithm.separated_by}"
        found = Recognised(steps, "names", algorithm.name, "certain", reason) if steps else None
    if found is None:
        raise JobError(f"{algorithm.name} made no messages that its log shows")
    return found


def _by_sums(
    log: EventLog, algorithm: LibraryAlgorithm, jobs: pd.DataFrame, began: float
) -> tuple[Superstep, ...]:
    """Return the supersteps that each end with a sum, which exchanges records without a query."""
    exchanging = log.stages.loc[[bool(each) for each in log.stages["parents"]], "job"]
    ends = jobs.loc[(jobs["execution"] < 0) & jobs["job"].isin(exchanging), "job"]
    return steps_of_jobs(log, jobs, ends.tolist(), began)


def _by_stages(
    log: EventLog, algorithm: LibraryAlgorithm, jobs: pd.DataFrame, began: float
) -> tuple[Superstep, ...]:
    """Return the supersteps of one job: each has the stages that depend on records of the previous
    one.

    Stages have higher numbers than the stages that they depend on.
    """
    made = _counted(log, algorithm)["stage"]
    sent = {int(stage): number for number, stage in enumerate(made, start=1)}
    own = log.stages[log.stages["job"].isin(jobs["job"])].drop_duplicates("stage")
    heard: dict[int, int] = {}  # the last superstep whose records a stage reads
    for stage, parents in zip(own["stage"], own["parents"], strict=True):
        heard[int(stage)] = max((sent.get(each, heard.get(each, 0)) for each in parents), default=0)
    ended = log.tasks.groupby("stage")["finished"].max()
    steps: tuple[Superstep, ...] = ()
    for number in range(len(sent)):
        last = number + 1 == len(sent)  # includes all later stages
        stages = [stage for stage, at in heard.items() if at == number or (last and at > number)]
        finished = jobs["finished"].max() if last else ended.reindex(stages).max()
        steps = with_step(steps, began, finished, jobs["job"], stages)
    return steps


def _counted(log: EventLog, algorithm: LibraryAlgorithm) -> pd.DataFrame:
    """Return the stages whose records the local replay counts, in order."""
    made = message_stages(log)[algorithm.aggregations_before :]
    if not (algorithm.separated_by == "stages" and len(made)):
        return made
    # The first messages come from edges that an earlier stage partitioned.
    dealt = log.stages["stage"].isin(made["parents"].iloc[0]) & (log.stages["attempt"] == 0)
    return pd.concat([log.stages[dealt], made])


def sent_records(log: EventLog, algorithm: LibraryAlgorithm, found: Recognised) -> IntArray:
    """Return the records that partitions sent in each superstep, as counted by Spark.

    For GraphX these are the combined messages; in loops over tables, all records.
    """
    wrote = succeeded(log.tasks).groupby("stage")["shuffle_write_records"].sum()
    if algorithm.separated_by == "sums":
        each = [wrote.reindex(step.stages, fill_value=0).sum() for step in found.supersteps]
        return np.array(each, dtype=np.int64)
    made = _counted(log, algorithm)
    sent: Any = wrote.reindex(made["stage"].to_numpy(), fill_value=0)
    if algorithm.separated_by == "messages":  # several per job belong to one superstep
        sent = sent.groupby(made["job"].to_numpy(), sort=False).sum()
    found_records: IntArray = sent.to_numpy(np.int64)
    return found_records
