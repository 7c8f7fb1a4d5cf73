"""Predicting a run on a cluster: iterations by samples here, seconds by sample runs there."""

from predict_graph.prediction.cluster.predictor import predict_on_cluster

__all__ = ["predict_on_cluster"]
