"""The embedded engine: compiled kernels on one machine, messages counted for virtual workers."""

from predict_graph.engines.local.engine import KERNELS, Kernel, LocalEngine

__all__ = ["KERNELS", "Kernel", "LocalEngine"]
