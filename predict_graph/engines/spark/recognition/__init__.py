"""Supersteps of a job that says nothing of them, recognised in Spark's event log."""

from __future__ import annotations

from predict_graph.engines.spark.recognition.observed import (
    observed_convergence,
    observed_phases,
    observed_table,
)
from predict_graph.engines.spark.recognition.supersteps import (
    Recognised,
    Superstep,
    named_runs,
    recognise,
)

__all__ = [
    "Recognised",
    "Superstep",
    "named_runs",
    "observed_convergence",
    "observed_phases",
    "observed_table",
    "recognise",
]
