"""The runtime model of a Spark cluster, from sample runs or stored training runs."""

from predict_graph.prediction.seconds.cluster.cluster_speed import level_of_cluster
from predict_graph.prediction.seconds.cluster.learning import Learned, learn_on_cluster
from predict_graph.prediction.seconds.cluster.quote import Quote
from predict_graph.prediction.seconds.cluster.runtime_model import ClusterRuntimeModel, runtimes_on
from predict_graph.prediction.seconds.cluster.sample_runs import (
    WARM_UP,
    ClusterRun,
    ran_sample,
    settled,
)
from predict_graph.prediction.seconds.cluster.training_runs import (
    new_training_run,
    training_records,
)

__all__ = [
    "WARM_UP",
    "ClusterRun",
    "ClusterRuntimeModel",
    "Learned",
    "Quote",
    "learn_on_cluster",
    "level_of_cluster",
    "new_training_run",
    "ran_sample",
    "runtimes_on",
    "settled",
    "training_records",
]
