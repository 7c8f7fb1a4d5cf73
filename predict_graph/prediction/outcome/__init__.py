"""The outcome stage: one assembly of what the stages say, with intervals and doubts."""

from predict_graph.intervals import Interval
from predict_graph.prediction.outcome.assembly import assembled
from predict_graph.prediction.outcome.comparison import Comparison
from predict_graph.prediction.outcome.prediction import Prediction

__all__ = ["Comparison", "Interval", "Prediction", "assembled"]
