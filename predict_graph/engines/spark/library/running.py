"""Running a library algorithm: load its graph, call it, and analyse its log."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.engines.base import RunFollower, supersteps_begin
from predict_graph.engines.profile import RunProfile
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm, rounds_of
from predict_graph.engines.spark.library.layout import layout_of, write_layout
from predict_graph.engines.spark.library.loading import check_partitions, loader_of
from predict_graph.engines.spark.library.supersteps import (
    ended_supersteps,
    sent_records,
    supersteps_of,
)
from predict_graph.engines.spark.log.eventlog import EventLog
from predict_graph.engines.spark.log.following import followed_call
from predict_graph.engines.spark.recognition.observed import observed_table
from predict_graph.engines.spark.recognition.supersteps import Recognised
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.checkpoints import SITE, called_ours
from predict_graph.errors import JobError
from predict_graph.graph import Graph
from predict_graph.table import Table

RECORDS, ENTRIES, MERGED = "twin_records", "twin_entries", "merged_entries"
"""Columns of a run's table: records and entries counted by the local replay."""


def run_library(
    algorithm: LibraryAlgorithm,
    session: OpenSession,
    graph: Graph,
    follower: RunFollower | None = None,
) -> RunProfile:
    """Run a library algorithm on a graph; notify a follower of supersteps as they end.

    The read phase loads the edges; the setup phase builds the library's structures before the call.
    The local replay counts what vertices send; times, bytes and records come from Spark.
    """
    partitions, algorithm = session.settings.partitions, algorithm.within(graph)
    rounds = rounds_of(algorithm, graph, partitions)
    folder = session.folder / uuid.uuid4().hex[:8]
    folder.mkdir()
    source = write_layout(layout_of(graph, partitions), folder)
    spark: Any = session.for_functions
    java, context = spark._jvm, spark.sparkContext._jsc.sc()
    loader = loader_of(algorithm, session)
    since, logged = time.time(), session.log_from_now()
    with (
        _unpersisted(session),
        called_ours(spark),
        spark_failures(f"{algorithm.name} on Spark"),
        loader.opened(folder),
    ):
        if algorithm.separated_by == "stages":
            check_partitions(algorithm, context, partitions)
        session.group("read")
        started = time.perf_counter()
        loader.read(source)
        read = time.perf_counter() - started
        session.group("setup")
        loaded = loader.graph(graph.vertices)
        setup = time.perf_counter() - started - read
        session.group(algorithm.name)
        supersteps_begin(follower, algorithm, graph, 0.0, len(rounds))
        began = time.time()
        ends = partial(ended_supersteps, algorithm=algorithm, began=began)
        with followed_call(spark, logged, follower, ends):
            result = algorithm.call(java, loaded)
            if algorithm.separated_by != "stages":  # else nothing has run yet
                session.group("write")
            loader.compute(result)
        ended = time.time()
        stored = session.storage_bytes()
        session.flush()
    log = logged.read()
    lost = log.executors_lost(since, session.settings.executors)
    found = supersteps_of(log, algorithm, began)
    if found.iterations != len(rounds):
        raise JobError(
            f"{algorithm.name} took {found.iterations} supersteps on {graph.name}, and its replay "
            f"{len(rounds)}: this version of {algorithm.library} differs; please report it"
        )
    steps = float(sum(step.seconds for step in found.supersteps))
    return RunProfile(
        algorithm=algorithm.name,
        parameters=algorithm.to_dict(),
        graph=graph.describe(),
        engine={"executors_lost": lost},
        phases={
            "setup": setup,
            "read": read,
            "superstep": steps,
            "write": max(ended - began - steps, 0.0),
        },
        rows=Table(_table(log, found, rounds, graph).assign(storage_bytes=stored)),
        convergence=np.full(found.iterations, np.nan),
        converged=bool(rounds["received"].iloc[-1] == 0),
        values=np.empty(0),
        result={"combined_records": sent_records(log, algorithm, found).tolist()},
    )


def _table(log: EventLog, found: Recognised, rounds: pd.DataFrame, graph: Graph) -> pd.DataFrame:
    """Return the table of Spark's metrics; counters of the replay are shared out by records."""
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
    for column, name in ((RECORDS, "records"), (ENTRIES, "entries"), (MERGED, "merged")):
        table[column] = np.rint(shared(name)).astype(np.int64)
    return table


@contextmanager
def _unpersisted(session: OpenSession) -> Iterator[None]:
    """Release memory that GraphX caches; in a user's session, only what this run cached."""
    context: Any = session.spark.sparkContext
    site = context.getLocalProperty(SITE)
    before = set(context._jsc.getPersistentRDDs().keys())
    try:
        yield
    finally:
        with suppress(Exception):  # a failed session has released its memory
            kept = context._jsc.getPersistentRDDs()
            for number in set(kept.keys()) - before:
                if site is None or kept[number].rdd().getCreationSite() == site:
                    kept[number].unpersist(False)
