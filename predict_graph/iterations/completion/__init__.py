"""Completed samples: what a sample loses at its border is put back, like with like."""

from predict_graph.iterations.completion.estimator import estimate_by_completion

__all__ = ["estimate_by_completion"]
