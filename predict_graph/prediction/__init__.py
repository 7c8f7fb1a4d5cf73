"""Predicting a run, and comparing the prediction with the real run."""

from predict_graph.prediction.outcome import Comparison, Interval, Prediction
from predict_graph.prediction.road import predict
from predict_graph.prediction.seconds import COST_MODELS
from predict_graph.prediction.validation import follow, run, validate
from predict_graph.prediction.work import Extrapolator

__all__ = [
    "COST_MODELS",
    "Comparison",
    "Extrapolator",
    "Interval",
    "Prediction",
    "follow",
    "predict",
    "run",
    "validate",
]
