"""Estimators of the number of iterations of a run, from samples of its graph."""

from predict_graph.iterations.budget import EdgeBudget, check_max_overhead
from predict_graph.iterations.estimate import IterationEstimate, Progress
from predict_graph.iterations.method import (
    METHODS,
    Method,
    SamplingCase,
    check_method,
    estimate_iterations,
    methods_for,
)
from predict_graph.iterations.samples import (
    SAMPLERS,
    SampleRun,
    WalkSample,
    check_ratio,
    draw_sample,
    run_sample,
)

__all__ = [
    "METHODS",
    "SAMPLERS",
    "EdgeBudget",
    "IterationEstimate",
    "Method",
    "Progress",
    "SampleRun",
    "SamplingCase",
    "WalkSample",
    "check_max_overhead",
    "check_method",
    "check_ratio",
    "draw_sample",
    "estimate_iterations",
    "methods_for",
    "run_sample",
]
