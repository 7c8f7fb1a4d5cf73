"""Iterative graph algorithms: what they compute, their parameters, how they converge."""

from predict_graph.algorithms.base import Algorithm
from predict_graph.algorithms.connected_components import ConnectedComponents
from predict_graph.algorithms.neighborhood import Neighborhood
from predict_graph.algorithms.pagerank import PageRank
from predict_graph.algorithms.parameters import MAX_ITERATIONS, Parameter
from predict_graph.algorithms.registry import ALGORITHMS, check_algorithm
from predict_graph.algorithms.semi_clustering import SemiClustering
from predict_graph.algorithms.topk_ranking import TopKRanking
from predict_graph.algorithms.vertex_program import VertexProgram

__all__ = [
    "ALGORITHMS",
    "MAX_ITERATIONS",
    "Algorithm",
    "ConnectedComponents",
    "Neighborhood",
    "PageRank",
    "Parameter",
    "SemiClustering",
    "TopKRanking",
    "VertexProgram",
    "check_algorithm",
]
