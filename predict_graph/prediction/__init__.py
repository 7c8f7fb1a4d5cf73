"""Predicting a run, and comparing the prediction with the real run."""

from predict_graph.prediction.seconds.regression import COST_MODELS

__all__ = ["COST_MODELS"]
