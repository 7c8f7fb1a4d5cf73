"""Peak memory of a run on this machine, held against what there is."""

from predict_graph.prediction.memory.available import available_memory
from predict_graph.prediction.memory.peak import peak_memory

__all__ = ["available_memory", "peak_memory"]
