"""The seconds stage: what an engine charges for the work of a run, by weighed witnesses."""

from predict_graph.prediction.seconds.charging import costing_of
from predict_graph.prediction.seconds.regression import COST_MODELS
from predict_graph.prediction.seconds.sample_runs import DEFAULT_TRAIN_RATIOS

__all__ = ["COST_MODELS", "DEFAULT_TRAIN_RATIOS", "costing_of"]
