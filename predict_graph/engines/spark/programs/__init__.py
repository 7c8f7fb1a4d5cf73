"""Algorithms as supersteps over tables, one file each."""

from __future__ import annotations

from predict_graph.algorithms import Algorithm
from predict_graph.engines.spark.session.requirements import require_spark
from predict_graph.engines.spark.superstep import SuperstepProgram
from predict_graph.engines.spark.versions import needs_spark
from predict_graph.errors import RequestError
from predict_graph.plugins import Registry

__all__ = ["PROGRAMS", "check_program", "program_of"]

_HERE = "predict_graph.engines.spark.programs"

PROGRAMS: Registry[type[SuperstepProgram]] = Registry(
    "algorithm on Spark",
    "predict_graph.spark_programs",
    {
        "pagerank": f"{_HERE}.pagerank:PageRankProgram",
        "connected-components": f"{_HERE}.components:ComponentsProgram",
        "neighborhood": f"{_HERE}.neighborhood:NeighborhoodProgram",
        "topk-ranking": f"{_HERE}.topk_ranking:TopKRankingProgram",
        "semi-clustering": f"{_HERE}.semi_clustering:SemiClusteringProgram",
    },
)


def program_of(algorithm: Algorithm) -> type[SuperstepProgram]:
    """Return the program that runs an algorithm on Spark.

    Raises
    ------
    RequestError
        If there is none.
    """
    if algorithm.name not in PROGRAMS.names():
        raise RequestError(
            f"the spark engine has no program for {algorithm.name!r}; accepted: "
            f"{', '.join(PROGRAMS.names())}"
        )
    return PROGRAMS.get(algorithm.name)


def check_program(algorithm: Algorithm) -> None:
    """Check that there is a program for an algorithm, and that Spark is new enough for it.

    Raises
    ------
    RequestError
        If there is none.
    JobError
        If Spark is missing, or older.
    """
    program = program_of(algorithm)
    require_spark()
    needs_spark(program.oldest_spark, f"{algorithm.name} on Spark")
