"""The runtime stage: the time of a run's work on an engine, combined from weighted sources."""

from predict_graph.prediction.seconds.learned import runtime_model_of
from predict_graph.prediction.seconds.regression import COST_MODELS

__all__ = ["COST_MODELS", "runtime_model_of"]
