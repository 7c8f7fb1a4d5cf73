"""Samplers held against each other: how faithful their samples are, and what they predict."""

from predict_graph.comparison.result import SamplerComparison
from predict_graph.comparison.rows import compare, sample_report

__all__ = ["SamplerComparison", "compare", "sample_report"]
