"""Predicting a run on a cluster: iterations by samples here, seconds by sample runs there."""

from predict_graph.prediction.cluster.learning import Learned, learn_on_cluster
from predict_graph.prediction.cluster.predictor import predict_from, predict_on_cluster

__all__ = ["Learned", "learn_on_cluster", "predict_from", "predict_on_cluster"]
