"""Recognition of supersteps in Spark's event log, for jobs that do not declare them."""

from __future__ import annotations

from predict_graph.engines.spark.recognition.observed import (
    observed_convergence,
    observed_phases,
    observed_table,
)
from predict_graph.engines.spark.recognition.supersteps import (
    COMBINED,
    Recognised,
    Superstep,
    finished_jobs,
    named_runs,
    recognise,
    recognised_now,
    recognised_so_far,
    whole_supersteps,
)

__all__ = [
    "COMBINED",
    "Recognised",
    "Superstep",
    "finished_jobs",
    "named_runs",
    "observed_convergence",
    "observed_phases",
    "observed_table",
    "recognise",
    "recognised_now",
    "recognised_so_far",
    "whole_supersteps",
]
