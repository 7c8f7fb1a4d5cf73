"""Iterative graph algorithms: what they compute, their parameters, how they converge."""

from predict_graph.algorithms.base import Algorithm
from predict_graph.algorithms.pagerank import PageRank
from predict_graph.algorithms.parameters import Parameter
from predict_graph.algorithms.registry import ALGORITHMS, check_algorithm

__all__ = ["ALGORITHMS", "Algorithm", "PageRank", "Parameter", "check_algorithm"]
