"""Runs on clusters that follow a known law, for tests without Spark."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from predict_graph.engines import RunProfile
from predict_graph.engines.spark import SparkEngine
from predict_graph.iterations import SampleSummary
from predict_graph.prediction.run_records import record_of
from predict_graph.prediction.seconds.cluster.reference_runs import shipped_runs
from predict_graph.prediction.seconds.cluster.runs import (
    ClusterRun,
    cluster_settings,
    sample_records,
)
from predict_graph.table import Table

START = np.array([4.0, 2.0, 1.0, 0.0, 0.0, 0.0])
TASKS, DRIVER, PHASES = 4.0, 1.5, 2.5
ENGINE = SparkEngine("spark://nowhere:7077", 2, memory="1g")


def superstep_seconds(messages, machines):
    """The law that the made-up cluster follows: messages of one worker, and machines."""
    return 0.3 + 2e-6 * messages / machines + 0.05 * np.log2(machines)


def cluster_run(vertices, edges, machines, *, cold=False, iterations=6):
    """A run on a cluster that follows the law."""
    messages = np.full(iterations, float(edges))
    seconds = superstep_seconds(messages, machines) + (START[:iterations] if cold else 0.0)
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
        "cpu_seconds": 1e-6 * messages / machines,
        "seconds": seconds,
        "convergence": 0.1,
        "working_set_bytes": 0,
    }
    rows = pd.DataFrame({"iteration": np.arange(1, iterations + 1), **worker})
    rows = pd.concat([rows.assign(worker=number) for number in range(machines)])
    graph = {"name": "made up", "vertices": vertices, "edges": edges, "directed": True}
    profile = RunProfile(
        algorithm="pagerank",
        parameters={},
        graph={**graph, "fingerprint": "x"},
        engine={"name": "spark", "machines": machines, "executors_lost": 0},
        phases={
            "setup": 1.0 + 1e-6 * edges / machines + (5.0 if cold else 0.0),
            "read": 0.5 + 3e-6 * edges / machines + (2.0 if cold else 0.0),
            "superstep": float(seconds.sum()),
            "write": 0.0,
        },
        rows=Table(rows.sort_values(["iteration", "worker"])),
        convergence=np.full(iterations, 0.1),
        converged=True,
        values=np.empty(0),
    )
    summary = SampleSummary("brj", 0.1, vertices, edges, iterations, 1.0, "cost")
    return ClusterRun(machines, cold, 8.0 + math.log2(machines), profile, summary)


def sample_runs():
    """The sample runs of two sessions."""
    return [
        cluster_run(vertices, edges, machines, cold=cold)
        for machines in (1, 2)
        for vertices, edges, cold in (
            (40_000, 800_000, True),
            (40_000, 800_000, False),
            (10_000, 200_000, False),
        )
    ]


def changed(run, columns=(), engine=(), **fields):
    """The same run with other columns of its table, settings of the engine, or fields."""
    profile = run.profile
    rows = Table(profile.table.assign(**dict(columns)))
    return replace(
        run,
        profile=replace(profile, rows=rows, engine={**profile.engine, **dict(engine)}, **fields),
    )


def slower(run, tasks=TASKS, driver=DRIVER, phases=PHASES):
    """A reference run on a cluster that is slower, by a factor for each part."""
    table = run.profile.table
    working = table.groupby("iteration")["task_seconds"].transform("max").clip(upper=table.seconds)
    seconds = tasks * working + driver * (table["seconds"] - working)
    by_phase = {name: phases * each for name, each in run.profile.phases.items()}
    by_phase["superstep"] = float(seconds.groupby(table["iteration"]).max().sum())
    columns = {"seconds": seconds, "task_seconds": tasks * table["task_seconds"]}
    slow = changed(run, columns, phases=by_phase)
    return replace(slow, session_seconds=phases * run.session_seconds)


def slower_runs(name="pagerank", **factors):
    """The reference runs of an algorithm on a slower cluster."""
    return [slower(run, **factors) for run in shipped_runs(name)]


def keep(history, runs, graph, *, engine=ENGINE, job=None):
    """Keep sample runs on samples of a graph as a prediction does."""
    for run in runs:
        described = engine.on(run.machines).describe()
        own = {} if job is None else {"algorithm": job.name, "parameters": job.to_dict()}
        history.add_all(sample_records(changed(run, (), described, **own), graph, seed=7))


def real_record(run, *, engine=ENGINE, job=None, log=False, **graph):
    """A real run as the history keeps it: run by us, or known from its event log alone."""
    described = {**cluster_settings(engine), "machines": run.machines, "workers": run.machines}
    opened = {"setup": run.profile.phases["setup"] + run.session_seconds}
    table = run.profile.table
    columns = {}
    if log:
        columns = {
            "local_messages": table["shuffle_read_records"],
            "remote_messages": 0.0,
            "total_vertices": 0,
        }
    record = record_of(
        changed(
            run,
            columns,
            described,
            parameters=run.profile.parameters if job is None else job.to_dict(),
            graph={**run.profile.graph, **graph},
            phases={**run.profile.phases, **opened},
        ).profile
    )
    if log:
        record = replace(record, parameters={}, converged=None, machine="executors on 2 hosts")
    return record
