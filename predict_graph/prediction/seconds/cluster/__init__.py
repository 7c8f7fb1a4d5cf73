"""What a Spark cluster charges: sample runs there, or lessons of earlier ones."""

from predict_graph.prediction.seconds.cluster.costing import ClusterCosting, priced
from predict_graph.prediction.seconds.cluster.learning import (
    Learned,
    expected_lesson_seconds,
    learn_on_cluster,
)

__all__ = [
    "ClusterCosting",
    "Learned",
    "expected_lesson_seconds",
    "learn_on_cluster",
    "priced",
]
