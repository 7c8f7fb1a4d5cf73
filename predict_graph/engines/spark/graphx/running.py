"""A run of GraphX: the graph loaded from files of ours, the algorithm called, its log taken apart.

Supersteps are told by the stages in which messages are made and combined, which GraphX gives a name
of its own: a job with any is a superstep. Where GraphX does all in one job, its stages are.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.engines.profile import RunProfile
from predict_graph.engines.spark.graphx.algorithm import GraphXAlgorithm, rounds_of
from predict_graph.engines.spark.graphx.layout import layout_of, write_layout
from predict_graph.engines.spark.log.eventlog import EventLog, wait_for_listeners
from predict_graph.engines.spark.recognition import Recognised, Superstep, observed_table
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.checkpoints import SITE, called_ours
from predict_graph.errors import JobError, RequestError
from predict_graph.graph import Graph

__all__ = ["MERGED", "RECORDS", "run_graphx", "supersteps_of"]

RECORDS, MERGED = "twin_records", "merged_entries"
"""Columns of the table of a run: records and entries that the twin counted."""

_COMBINED = "GraphImpl.aggregateMessages - preAgg"


def run_graphx(algorithm: GraphXAlgorithm, session: OpenSession, graph: Graph) -> RunProfile:
    """Run an algorithm of GraphX on a graph.

    Reading is the edges' way into memory; setting up, that of vertices and of where their edges
    are. What vertices send is counted by the twin, superstep by superstep; seconds, bytes and
    records are Spark's.

    Raises
    ------
    JobError
        If Spark fails, or the twin has another number of supersteps than GraphX.
    RequestError
        If GraphX would deal edges to another number of partitions than the twin.
    """
    partitions = session.settings.partitions
    rounds = rounds_of(algorithm, graph, partitions)
    folder = session.folder / uuid.uuid4().hex[:8]
    folder.mkdir()
    source = write_layout(layout_of(graph, partitions), folder)
    spark: Any = session.for_functions
    java, context = spark._jvm, spark.sparkContext._jsc.sc()
    with (
        _unpersisted(session),
        called_ours(spark),
        spark_failures(f"{algorithm.name} on Spark"),
    ):
        if algorithm.deals_edges:
            _check_dealing(algorithm, context, partitions)
        level = java.org.apache.spark.storage.StorageLevel.MEMORY_ONLY()
        session.group("read")
        started = time.perf_counter()
        loaded = java.org.apache.spark.graphx.GraphLoader.edgeListFile(
            context, source.as_uri(), False, partitions, level, level
        )
        read = time.perf_counter() - started
        session.group("setup")
        loaded.vertices().count()
        setup = time.perf_counter() - started - read
        logged = session.log_from_now()
        session.group(algorithm.name)
        began = time.time()
        result = algorithm.call(java, loaded)
        if not algorithm.deals_edges:  # else nothing is done yet
            session.group("write")
        result.vertices().count()
        ended = time.time()
        stored = session.storage_bytes()
        wait_for_listeners(context)
    log = logged()
    found = supersteps_of(log, algorithm, began)
    if found.iterations != len(rounds):
        raise JobError(
            f"{algorithm.name} took {found.iterations} supersteps on {graph.name}, and its twin "
            f"{len(rounds)}: this GraphX has another rule; please report it"
        )
    steps = float(sum(step.seconds for step in found.supersteps))
    return RunProfile(
        algorithm=algorithm.name,
        parameters=algorithm.to_dict(),
        graph=graph.describe(),
        engine={**session.settings.describe(), "workers": session.settings.machines},
        phases={
            "setup": setup,
            "read": read,
            "superstep": steps,
            "write": max(ended - began - steps, 0.0),
        },
        table=_table(log, found, rounds, graph).assign(storage_bytes=stored),
        convergence=np.full(found.iterations, np.nan),
        converged=bool(rounds["messages"].iloc[-1] == 0),
        values=np.empty(0),
        result={"combined_records": _combined_records(log, algorithm).tolist()},
    )


def _check_dealing(algorithm: GraphXAlgorithm, context: Any, partitions: int) -> None:
    """Refuse a session that deals edges to another number of partitions than they came from."""
    name = "spark.default.parallelism"
    there = int(context.defaultParallelism()) if context.getConf().contains(name) else partitions
    if there != partitions:
        raise RequestError(
            f"{name} is {there} in this session, and {algorithm.name} deals edges to so many "
            f"partitions; accepted: {partitions}, or none"
        )


def supersteps_of(log: EventLog, algorithm: GraphXAlgorithm, began: float) -> Recognised:
    """Return the supersteps in a log that begins with the call of an algorithm.

    A superstep ends with the last job before the one in which the next messages are made: it has
    all that the driver does in between. The first begins with the call.
    """
    made = _counted(log, algorithm)
    if not len(made):
        raise JobError(f"{algorithm.name} made no messages that its log shows")
    if algorithm.deals_edges:
        return _by_stages(log, algorithm, made, began)
    firsts = list(dict.fromkeys(int(job) for job in made["job"]))
    jobs = log.jobs.sort_values("job")
    jobs = jobs[jobs["group"] == algorithm.name]
    steps, before = [], began
    for number, first in enumerate(firsts):
        until = firsts[number + 1] if number + 1 < len(firsts) else np.inf
        since = first if number else -1
        own = jobs[(jobs["job"] >= since) & (jobs["job"] < until)]
        if number + 1 == len(firsts):
            own = own[own["job"] <= _last_asked(log, own, first)]
        finished = max(float(own["finished"].max()), before)
        stages = log.stages.loc[log.stages["job"].isin(own["job"]), "stage"]
        steps.append(
            Superstep(
                started=before,
                finished=finished,
                seconds=finished - before,
                jobs=tuple(own["job"]),
                stages=tuple(dict.fromkeys(stages)),
            )
        )
        before = finished
    reason = "each makes messages once"
    return Recognised(tuple(steps), "names", algorithm.name, "certain", reason)


def _by_stages(
    log: EventLog, algorithm: GraphXAlgorithm, made: pd.DataFrame, began: float
) -> Recognised:
    """Return the supersteps of one job: each has the stages that wait for records of the last.

    The numbers of stages are higher than those of the stages that they wait for.
    """
    jobs = log.jobs[log.jobs["group"] == algorithm.name]
    sent = {int(stage): number for number, stage in enumerate(made["stage"], start=1)}
    own = log.stages[log.stages["job"].isin(jobs["job"])].drop_duplicates("stage")
    heard: dict[int, int] = {}  # the last superstep whose records a stage waits for
    for stage, parents in zip(own["stage"], own["parents"], strict=True):
        heard[int(stage)] = max((sent.get(each, heard.get(each, 0)) for each in parents), default=0)
    ended = log.tasks.groupby("stage")["finished"].max()
    steps, before = [], began
    for number in range(len(sent)):
        last = number + 1 == len(sent)  # with what comes after
        stages = tuple(
            stage for stage, at in heard.items() if at == number or (last and at > number)
        )
        finished = jobs["finished"].max() if last else ended.reindex(stages).max()
        finished = max(float(finished), before)
        steps.append(
            Superstep(
                started=before,
                finished=finished,
                seconds=finished - before,
                jobs=tuple(jobs["job"]),
                stages=stages,
            )
        )
        before = finished
    reason = "each waits for the records of the one before"
    return Recognised(tuple(steps), "stages", algorithm.name, "certain", reason)


def _counted(log: EventLog, algorithm: GraphXAlgorithm) -> pd.DataFrame:
    """Return the stages whose records the twin counts, in their order."""
    made = _combining(log)[algorithm.aggregations_before :]
    if not (algorithm.deals_edges and len(made)):
        return made
    # The first messages are made of edges that an earlier stage has dealt to their partitions.
    dealt = log.stages["stage"].isin(made["parents"].iloc[0]) & (log.stages["attempt"] == 0)
    return pd.concat([log.stages[dealt], made])


def _last_asked(log: EventLog, own: pd.DataFrame, first: int) -> int:
    """Return the last job of the last superstep: those from the same place as its first."""
    names = log.stages.drop_duplicates("job", keep="last").set_index("job")["name"]
    site = names.get(first)
    return max(int(job) for job in own["job"] if names.get(job) == site)


def _combining(log: EventLog) -> pd.DataFrame:
    """Return the stages in which messages are made and combined, in their order."""
    made = log.stages[[_COMBINED in datasets for datasets in log.stages["datasets"]]]
    return made[made["attempt"] == 0].sort_values("stage")


def _combined_records(log: EventLog, algorithm: GraphXAlgorithm) -> Any:
    """Return the records that partitions sent in each superstep, as Spark counted them."""
    made = _counted(log, algorithm)
    done = log.tasks[~(log.tasks["failed"] | log.tasks["redone"]).astype(bool)]
    wrote = done.groupby("stage")["shuffle_write_records"].sum()
    sent = wrote.reindex(made["stage"].to_numpy(), fill_value=0)
    if not algorithm.deals_edges:  # several of a job are one superstep
        sent = sent.groupby(made["job"].to_numpy(), sort=False).sum()
    return sent.to_numpy(np.int64)


def _table(log: EventLog, found: Recognised, rounds: pd.DataFrame, graph: Graph) -> pd.DataFrame:
    """Return the table of Spark's metrics, with what the twin counted shared as records are."""
    table = observed_table(log, found, graph.vertices)
    wrote = table.groupby("worker")["shuffle_write_records"].sum()
    share = table["worker"].map(wrote / max(wrote.sum(), 1)).to_numpy()
    at = table["iteration"].to_numpy() - 1
    size = table["local_message_bytes"] + table["remote_message_bytes"]
    remote: Any = (table["remote_message_bytes"] / np.maximum(size, 1)).to_numpy()

    def shared(name: str) -> Any:
        return rounds[name].to_numpy(np.float64)[at] * share

    messages = shared("messages")
    table["active_vertices"] = np.rint(shared("active_vertices")).astype(np.int64)
    table["remote_messages"] = np.rint(messages * remote).astype(np.int64)
    table["local_messages"] = np.rint(messages).astype(np.int64) - table["remote_messages"]
    table["average_message_bytes"] = size / np.maximum(messages, 1.0)
    for column, name in ((RECORDS, "records"), (MERGED, "merged")):
        table[column] = np.rint(shared(name)).astype(np.int64)
    for name in ("entries", "received", "shipped"):
        table[f"twin_{name}"] = np.rint(shared(name)).astype(np.int64)
    return table


@contextmanager
def _unpersisted(session: OpenSession) -> Iterator[None]:
    """Give back what GraphX keeps in memory; of a person's session, only what we made."""
    context: Any = session.spark.sparkContext
    site = context.getLocalProperty(SITE)
    before = set(context._jsc.getPersistentRDDs().keys())
    try:
        yield
    finally:
        with suppress(Exception):  # a session that failed has nothing left to give back
            kept = context._jsc.getPersistentRDDs()
            for number in set(kept.keys()) - before:
                if site is None or kept[number].rdd().getCreationSite() == site:
                    kept[number].unpersist(False)
