"""What is said of a job, an algorithm's or a function's: a prediction, and how good it was."""

from predict_graph.outcome.comparison import Comparison
from predict_graph.outcome.prediction import Prediction, SourceEstimate
from predict_graph.outcome.verdict import PeakMemory, Verdict

__all__ = ["Comparison", "PeakMemory", "Prediction", "SourceEstimate", "Verdict"]
