"""Runs on clusters that follow a known law, for tests without Spark."""

import math
import uuid
from dataclasses import replace

import numpy as np
import pandas as pd

from predict_graph.engines.spark import SparkEngine
from predict_graph.history import machine_identity
from predict_graph.prediction.seconds.cluster import runs
from predict_graph.table import Table
from tests.predict_graph.history import records

WARMING = 1.5
TASKS, DRIVER, PHASES = 4.0, 1.5, 2.5
ENGINE = SparkEngine("spark://nowhere:7077", 2, memory="1g")


def superstep_seconds(messages, machines):
    """The law that the made-up cluster follows: messages of one worker, and machines."""
    return 0.3 + 2e-6 * messages / machines + 0.05 * np.log2(machines)


def cluster_run(vertices, edges, machines, *, cold=False, iterations=6):
    """A run on a cluster that follows the law."""
    messages = np.full(iterations, float(edges))
    seconds = superstep_seconds(messages, machines)
    if cold:
        seconds += WARMING * runs.warming(iterations)
    worker = {
        "active_vertices": vertices // machines,
        "total_vertices": vertices // machines,
        "local_messages": messages / machines / machines,
        "remote_messages": messages / machines * (1 - 1 / machines),
        "local_message_bytes": 10 * messages / machines / machines,
        "remote_message_bytes": 10 * messages / machines * (1 - 1 / machines),
        "shuffle_read_records": messages / 2 / machines,
        "shuffle_write_records": messages / 2 / machines,
        "shuffle_write_bytes": 10 * messages / machines,
        "peak_memory_bytes": 100 * edges // machines,
        "storage_bytes": 20 * edges // machines,
        "task_seconds": 2e-6 * messages / machines,
        "seconds": seconds,
        "convergence": 0.1,
    }
    rows = pd.DataFrame({"iteration": np.arange(1, iterations + 1), **worker})
    rows = pd.concat([rows.assign(worker=number) for number in range(machines)])
    sample = {"sampler": "brj", "ratio": 0.1, "purpose": "cost", "machines": machines}
    sample |= {"cold": cold, "opening_seconds": 8.0 + math.log2(machines)}
    run = records.record(
        kind="sample",
        parameters={},
        fingerprint="x",
        vertices=vertices,
        edges=edges,
        engine={"name": "spark", "machines": machines, "executors_lost": 0},
        phases={
            "setup": 1.0 + 1e-6 * edges / machines + (5.0 if cold else 0.0),
            "read": 0.5 + 1e-6 * edges * (1 + 1 / machines) / 2 + (2.0 if cold else 0.0),
            "superstep": float(seconds.sum()),
            "write": 0.0,
        },
        iterations=iterations,
        rows=Table(rows.sort_values(["iteration", "worker"])),
        sample=sample,
    )
    return replace(runs.cluster_run(run, again=False), elsewhere=False)


def sample_runs():
    """The sample runs of two sessions."""
    sizes = [(40_000, 800_000, True), (40_000, 800_000, False), (10_000, 200_000, False)]
    return [
        cluster_run(vertices, edges, machines, cold=cold)
        for machines in (1, 2)
        for vertices, edges, cold in sizes
    ]


def changed(run, columns=(), engine=(), **fields):
    """The same run with other columns of its table, settings of the engine, or fields."""
    record = run.record
    rows = Table(record.table.assign(**dict(columns)))
    described = {**record.engine, **dict(engine)}
    return replace(run, record=replace(record, rows=rows, engine=described, **fields))


def slower(run):
    """A reference run on a cluster that is slower, by a factor for each part."""
    table = run.record.table
    working = table.groupby("iteration")["task_seconds"].transform("max").clip(upper=table.seconds)
    seconds = TASKS * working + DRIVER * (table["seconds"] - working)
    phases = {name: PHASES * each for name, each in run.record.phases.items()}
    phases["superstep"] = float(seconds.groupby(table["iteration"]).max().sum())
    columns = {"seconds": seconds, "task_seconds": TASKS * table["task_seconds"]}
    opening = PHASES * run.session_seconds
    sample = {**run.record.sample, "opening_seconds": opening}
    return replace(changed(run, columns, phases=phases, sample=sample), session_seconds=opening)


def slower_runs(name="pagerank"):
    """The reference runs of an algorithm on a slower cluster."""
    return [*map(slower, runs.shipped_runs(name))]


def keep(history, found, graph, *, engine=ENGINE, job=None):
    """Keep sample runs on samples of a graph as a prediction does."""
    for run in found:
        described = engine.settings.on(run.machines).describe()
        own = {} if job is None else {"algorithm": job.name, "parameters": job.to_dict()}
        own |= {"machine": machine_identity(), "uid": uuid.uuid4().hex}
        history.add(changed(run, (), described, sample_of=graph.fingerprint, **own).record)


def real_record(run, *, job, engine=ENGINE, log=False, **graph):
    """A real run as the history keeps it: run by us, or known from its event log alone."""
    counts = {"machines": run.machines, "workers": run.machines}
    opened = {"setup": run.record.phases["setup"] + run.session_seconds}
    read = {"local_messages": run.record.table["shuffle_read_records"], "remote_messages": 0.0}
    columns = {**read, "total_vertices": 0} if log else {}
    record = changed(
        run,
        columns,
        {**runs.cluster_settings(engine), **counts},
        kind="run",
        parameters=job.to_dict(),
        phases={**run.record.phases, **opened},
        sample=None,
        sample_of=None,
        machine=machine_identity(),
        uid=uuid.uuid4().hex,
        **graph,
    ).record
    if log:
        rows = record.rows.without("storage_bytes")
        record = replace(record, parameters={}, rows=rows, machine="executors on 2 hosts")
    return record
