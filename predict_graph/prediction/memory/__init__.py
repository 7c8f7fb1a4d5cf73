"""Peak memory of a run on this machine, held against what there is."""

from predict_graph.prediction.memory.peak import PeakMemory, peak_memory

__all__ = ["PeakMemory", "peak_memory"]
