"""Algorithms as supersteps over tables: lookup of programs and shared parts."""

from __future__ import annotations

from predict_graph.algorithms import Algorithm
from predict_graph.engines.spark.session.requirements import require_spark_line
from predict_graph.engines.spark.superstep import SuperstepProgram
from predict_graph.errors import RequestError


def program_of(algorithm: Algorithm) -> type[SuperstepProgram]:
    """Return the program that runs an algorithm on Spark."""
    found: type[SuperstepProgram] | None = algorithm.part_for("spark")
    if found is None:
        raise RequestError(
            f"{algorithm.name} declares no program for the spark engine; accepted: an algorithm "
            "with runs_on = {'spark': a SuperstepProgram}"
        )
    return found


def check_program(algorithm: Algorithm) -> None:
    """Check that an algorithm has a program, and that Spark is new enough for it."""
    require_spark_line(program_of(algorithm).oldest_spark, f"{algorithm.name} on Spark")
