"""Runs as a history keeps them."""

import numpy as np
import pandas as pd

from predict_graph.history import RunRecord
from predict_graph.table import Table


def table(iterations=4, workers=2, seed=0):
    rng = np.random.default_rng(seed)
    rows = iterations * workers
    columns = {
        "iteration": np.repeat(np.arange(iterations), workers),
        "worker": np.tile(np.arange(workers), iterations),
        "active_vertices": rng.integers(0, 2**60, rows),
        "remote_messages": rng.integers(0, 10**9, rows).astype(np.int32),
        "seconds": rng.random(rows) / 3,
        "convergence": np.where(rng.random(rows) < 0.3, np.nan, rng.random(rows)),
    }
    return pd.DataFrame(columns)


def record(**changes):
    fields = {
        "kind": "run",
        "algorithm": "pagerank",
        "parameters": {"epsilon": 0.001, "damping": 0.85},
        "graph": "web",
        "fingerprint": "f0",
        "vertices": 1000,
        "edges": 5000,
        "directed": True,
        "engine": {"name": "local", "workers": 2, "threads": 2},
        "phases": {"setup": 0.1, "read": 0.2, "superstep": 3.3, "write": 0.0},
        "iterations": 4,
        "converged": True,
        "machine": "A",
        "rows": Table(table()),
    }
    return RunRecord(**(fields | changes))
