"""Estimating iterations and counters from samples that keep their distances."""

from predict_graph.iterations.rooted.estimator import estimate_by_rooted_samples
from predict_graph.iterations.rooted.recipes import RECIPES

__all__ = ["RECIPES", "estimate_by_rooted_samples"]
