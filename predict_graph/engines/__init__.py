"""Engines: they run an algorithm on a graph and record counters and times of each iteration."""

from predict_graph.engines.answering import PHASE_NAMES, engine_said, phases_said
from predict_graph.engines.base import ENGINES, Engine, IterationCallback
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
    "PHASE_NAMES",
    "TABLE_COLUMNS",
    "Engine",
    "Evidence",
    "IterationCallback",
    "RunProfile",
    "RuntimeEstimate",
    "RuntimeModel",
    "SampleSummary",
    "StagedSample",
    "Workload",
    "critical_worker",
    "engine_said",
    "evenly",
    "per_iteration",
    "phases_said",
    "spread_evenly",
]
