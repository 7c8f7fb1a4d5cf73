"""Samplers held against each other: how faithful their samples are, and what they predict."""

from predict_graph.comparison.result import SamplerComparison
from predict_graph.comparison.sampled import GraphSample, compare_samplers, sample

__all__ = ["GraphSample", "SamplerComparison", "compare_samplers", "sample"]
