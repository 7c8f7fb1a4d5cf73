"""Engines: they run an algorithm on a graph and say what each iteration did and took."""

from predict_graph.engines.base import ENGINES, Engine, IterationCallback, IterationProbe
from predict_graph.engines.profile import (
    COUNTERS,
    PHASES,
    TABLE_COLUMNS,
    RunProfile,
    critical_worker,
    per_iteration,
)

__all__ = [
    "COUNTERS",
    "ENGINES",
    "PHASES",
    "TABLE_COLUMNS",
    "Engine",
    "IterationCallback",
    "IterationProbe",
    "RunProfile",
    "critical_worker",
    "per_iteration",
]
