"""The runtime model of a Spark cluster, from sample runs or stored training runs."""

from predict_graph.prediction.seconds.cluster.costing import ClusterCosting, priced
from predict_graph.prediction.seconds.cluster.learning import Learned, learn_on_cluster
from predict_graph.prediction.seconds.cluster.lessons import lesson_records, new_lesson
from predict_graph.prediction.seconds.cluster.level import level_of_cluster
from predict_graph.prediction.seconds.cluster.quote import Quote
from predict_graph.prediction.seconds.cluster.sample_runs import (
    WARM_UP,
    ClusterRun,
    ran_sample,
    settled,
)

__all__ = [
    "WARM_UP",
    "ClusterCosting",
    "ClusterRun",
    "Learned",
    "Quote",
    "learn_on_cluster",
    "lesson_records",
    "level_of_cluster",
    "new_lesson",
    "priced",
    "ran_sample",
    "settled",
]
