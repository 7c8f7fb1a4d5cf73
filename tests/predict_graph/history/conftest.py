from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from predict_graph.history import History, RunRecord
from predict_graph.table import Table

ENGINE = {"name": "local", "workers": 2, "threads": 2}


def make_table(iterations: int = 4, workers: int = 2, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = iterations * workers
    return pd.DataFrame(
        {
            "iteration": np.repeat(np.arange(iterations), workers),
            "worker": np.tile(np.arange(workers), iterations),
            "active_vertices": rng.integers(0, 2**60, rows),
            "remote_messages": rng.integers(0, 10**9, rows).astype(np.int32),
            "seconds": rng.random(rows) / 3,
            "convergence": np.where(rng.random(rows) < 0.3, np.nan, rng.random(rows)),
        }
    )


def make_record(**changes: Any) -> RunRecord:
    fields: dict[str, Any] = {
        "kind": "run",
        "algorithm": "pagerank",
        "parameters": {"epsilon": 0.001, "damping": 0.85},
        "graph": "web",
        "fingerprint": "f0",
        "vertices": 1000,
        "edges": 5000,
        "directed": True,
        "engine": ENGINE,
        "phases": {"setup": 0.1, "read": 0.2, "superstep": 3.3, "write": 0.0},
        "iterations": 4,
        "converged": True,
        "machine": "A",
        "rows": Table(make_table()),
    }
    return RunRecord(**(fields | changes))


@pytest.fixture
def record() -> Callable[..., RunRecord]:
    return make_record


@pytest.fixture
def table() -> Callable[..., pd.DataFrame]:
    return make_table


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history.sqlite")
