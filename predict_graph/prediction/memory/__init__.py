"""Peak memory of a run on this machine, held against what there is."""

from predict_graph.prediction.memory.peak import peak_memory

__all__ = ["peak_memory"]
