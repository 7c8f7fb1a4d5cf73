"""The local engine: compiled kernels on one machine, with messages counted for virtual workers."""

from predict_graph.engines.local.engine import LocalEngine
from predict_graph.engines.local.kernel import Kernel, Superstep

__all__ = ["Kernel", "LocalEngine", "Superstep"]
