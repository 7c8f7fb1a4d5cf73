"""A user's function on Spark, wrapped as an algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from predict_graph.algorithms import Algorithm
from predict_graph.engines.spark.functions.running import SparkFunction, load_spark_function


class FunctionAlgorithm(Algorithm):
    """A function that only Spark can run and whose convergence is unknown."""

    name = "function"
    summary = "a Python function on Spark"
    convergence = "absolute"
    declared = ()
    sampled_by: ClassVar[Mapping[str, Any]] = MappingProxyType({"observed": True})

    def __init__(self, job: SparkFunction, source: str) -> None:
        super().__init__()
        self.job = job
        self.source = source
        self.name = job.name  # type: ignore[misc]

    def __reduce__(self) -> Any:
        return function_algorithm, (self.source, dict(self.job.parameters))

    @property
    def max_iterations(self) -> int:
        """The limit of iterations: none."""
        return 2**31

    def threshold(self, vertices: int) -> float:
        """Return 0: the function has its own stopping rule."""
        return 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the options of the function that are set."""
        return dict(self.job.parameters)


def function_algorithm(
    source: str, parameters: Mapping[str, Any] | None = None
) -> FunctionAlgorithm:
    """Return the algorithm for ``FILE.py:FUNCTION``."""
    return FunctionAlgorithm(load_spark_function(source, parameters), source)
