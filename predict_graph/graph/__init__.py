"""Graphs: the immutable CSR form, reading, generating, storing, named datasets."""

from predict_graph.graph.csr import Graph

__all__ = ["Graph"]
