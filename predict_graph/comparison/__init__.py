"""Samplers held against each other: how faithful their samples are, and what they predict."""

from predict_graph.comparison.result import SamplerComparison
from predict_graph.comparison.rows import compare_samplers
from predict_graph.comparison.sampled import GraphSample, sample

__all__ = ["GraphSample", "SamplerComparison", "compare_samplers", "sample"]
