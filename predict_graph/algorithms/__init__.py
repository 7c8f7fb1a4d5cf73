"""Iterative graph algorithms: what they compute, their parameters, how they converge."""

from __future__ import annotations

from typing import Any

from predict_graph.algorithms.base import Algorithm
from predict_graph.algorithms.parameters import MAX_ITERATIONS, Parameter
from predict_graph.algorithms.registry import (
    ALGORITHMS,
    BUILT_IN,
    SPARK_LIBRARIES,
    check_algorithm,
)
from predict_graph.algorithms.vertex_program import VertexProgram

__all__ = [
    "ALGORITHMS",
    "MAX_ITERATIONS",
    "SPARK_LIBRARIES",
    "Algorithm",
    "Parameter",
    "VertexProgram",
    "check_algorithm",
]

# The built-in algorithms, loaded on first use, like in the registry.
_NAMES = {target.partition(":")[2]: name for name, target in BUILT_IN.items()}
__all__ += list(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return ALGORITHMS.get(_NAMES[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
