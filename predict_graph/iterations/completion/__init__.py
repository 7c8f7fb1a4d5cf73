"""Completed samples: cut edges of a sample are rejoined among similar vertices."""

from predict_graph.iterations.completion.estimator import estimate_by_completion

__all__ = ["estimate_by_completion"]
