"""Engines: they run an algorithm on a graph and record counters and times of each iteration."""

from predict_graph.engines.answering import PHASE_NAMES, phases_said
from predict_graph.engines.base import ENGINES, Engine, IterationCallback
from predict_graph.engines.costing import (
    Costing,
    FixedPurse,
    KnownSetup,
    Means,
    Prices,
    Purse,
    StagedSample,
    Witness,
    Workload,
)
from predict_graph.engines.profile import (
    COUNTERS,
    OUT_EDGES,
    PHASES,
    TABLE_COLUMNS,
    RunProfile,
    SampleSummary,
    critical_worker,
    per_iteration,
)

__all__ = [
    "COUNTERS",
    "ENGINES",
    "OUT_EDGES",
    "PHASES",
    "PHASE_NAMES",
    "TABLE_COLUMNS",
    "Costing",
    "Engine",
    "FixedPurse",
    "IterationCallback",
    "KnownSetup",
    "Means",
    "Prices",
    "Purse",
    "RunProfile",
    "SampleSummary",
    "StagedSample",
    "Witness",
    "Workload",
    "critical_worker",
    "per_iteration",
    "phases_said",
]
