"""Iterative graph algorithms: what they compute, their parameters, how they converge."""

from __future__ import annotations

from typing import Any

from predict_graph.algorithms.base import Algorithm as Algorithm
from predict_graph.algorithms.parameters import MAX_ITERATIONS as MAX_ITERATIONS
from predict_graph.algorithms.parameters import Parameter as Parameter
from predict_graph.algorithms.registry import ALGORITHMS as ALGORITHMS
from predict_graph.algorithms.registry import BUILT_IN
from predict_graph.algorithms.registry import SPARK_LIBRARIES as SPARK_LIBRARIES
from predict_graph.algorithms.registry import check_algorithm as check_algorithm
from predict_graph.algorithms.vertex_program import VertexProgram as VertexProgram

# The built-in algorithms, loaded on first use, like in the registry.
_NAMES = {target.partition(":")[2]: name for name, target in BUILT_IN.items()}


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return ALGORITHMS.get(_NAMES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
