"""Predicting a run, and comparing the prediction with the real run."""

from predict_graph.prediction.costs import COST_MODELS
from predict_graph.prediction.extrapolation import Extrapolator
from predict_graph.prediction.prediction import Comparison, Interval, Prediction
from predict_graph.prediction.predictor import predict
from predict_graph.prediction.validation import run, validate

__all__ = [
    "COST_MODELS",
    "Comparison",
    "Extrapolator",
    "Interval",
    "Prediction",
    "predict",
    "run",
    "validate",
]
