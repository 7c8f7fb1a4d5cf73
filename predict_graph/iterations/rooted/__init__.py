"""Estimating iterations and counters from samples that keep their distances."""

from predict_graph.iterations.rooted.estimator import estimate_by_rooted_samples

__all__ = ["estimate_by_rooted_samples"]
