"""Sample runs on a cluster that follows a known law, for tests without Spark."""

import math

import numpy as np
import pandas as pd

from predict_graph.engines import RunProfile
from predict_graph.iterations import SampleSummary
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.table import Table

START = np.array([4.0, 2.0, 1.0, 0.0, 0.0, 0.0])


def superstep_seconds(messages, machines):
    """The law that the made-up cluster follows: messages of one worker, and machines."""
    return 0.3 + 2e-6 * messages / machines + 0.05 * np.log2(machines)


def cluster_run(vertices, edges, machines, *, cold=False, iterations=6, lost=0, shrinking=False):
    messages = np.full(iterations, float(edges))
    if shrinking:
        messages *= 0.5 ** np.arange(iterations)
    seconds = superstep_seconds(messages, machines) + (START[:iterations] if cold else 0.0)
    rows = pd.DataFrame(
        {
            "iteration": np.repeat(np.arange(1, iterations + 1), machines),
            "worker": np.tile(np.arange(machines), iterations),
            "active_vertices": vertices // machines,
            "total_vertices": vertices // machines,
            "local_messages": np.repeat(messages / machines / machines, machines),
            "remote_messages": np.repeat(messages / machines * (1 - 1 / machines), machines),
            "local_message_bytes": np.repeat(10 * messages / machines / machines, machines),
            "remote_message_bytes": np.repeat(
                10 * messages / machines * (1 - 1 / machines), machines
            ),
            "shuffle_read_records": np.repeat(messages / 2 / machines, machines),
            "shuffle_write_records": np.repeat(messages / 2 / machines, machines),
            "shuffle_write_bytes": np.repeat(10 * messages / machines, machines),
            "peak_memory_bytes": 100 * edges // machines,
            "storage_bytes": 20 * edges // machines,
            "task_seconds": np.repeat(2e-6 * messages / machines, machines),
            "cpu_seconds": np.repeat(1e-6 * messages / machines, machines),
            "seconds": np.repeat(seconds, machines),
            "convergence": 0.1,
            "working_set_bytes": 0,
        }
    )
    profile = RunProfile(
        algorithm="pagerank",
        parameters={},
        graph={
            "name": "made up",
            "vertices": vertices,
            "edges": edges,
            "directed": True,
            "fingerprint": "x",
        },
        engine={"name": "spark", "machines": machines, "executors_lost": lost},
        phases={
            "setup": 1.0 + 1e-6 * edges / machines + (5.0 if cold else 0.0),
            "read": 0.5 + 3e-6 * edges / machines + (2.0 if cold else 0.0),
            "superstep": float(seconds.sum()),
            "write": 0.0,
        },
        rows=Table(rows),
        convergence=np.full(iterations, 0.1),
        converged=True,
        values=np.empty(0),
    )
    summary = SampleSummary("folded", 0.1, vertices, edges, iterations, 1.0, "cost")
    return ClusterRun(machines, 0.1, cold, 8.0 + math.log2(machines), profile, summary)


def sample_runs(**options):
    return [
        cluster_run(vertices, edges, machines, cold=cold, **options)
        for machines in (1, 2)
        for vertices, edges, cold in (
            (40_000, 800_000, True),
            (40_000, 800_000, False),
            (10_000, 200_000, False),
        )
    ]
