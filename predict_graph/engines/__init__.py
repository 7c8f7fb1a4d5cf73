"""Engines: they run an algorithm on a graph and record counters and times of each iteration."""

from predict_graph.engines.base import ENGINES, Engine
from predict_graph.engines.profile import (
    COUNTERS,
    OUT_EDGES,
    PHASES,
    TABLE_COLUMNS,
    RunProfile,
    SampleSummary,
    critical_worker,
    evenly,
    per_iteration,
    spread_evenly,
)
from predict_graph.engines.runtime_model import (
    Evidence,
    RuntimeEstimate,
    RuntimeModel,
    StagedSample,
    Workload,
)

__all__ = [
    "COUNTERS",
    "ENGINES",
    "OUT_EDGES",
    "PHASES",
    "TABLE_COLUMNS",
    "Engine",
    "Evidence",
    "RunProfile",
    "RuntimeEstimate",
    "RuntimeModel",
    "SampleSummary",
    "StagedSample",
    "Workload",
    "critical_worker",
    "evenly",
    "per_iteration",
    "spread_evenly",
]
