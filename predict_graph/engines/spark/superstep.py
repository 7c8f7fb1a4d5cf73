"""Runs as supersteps on Spark, each a job of its own."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.arrays import Array
from predict_graph.deadline import time_left
from predict_graph.engines.base import IterationCallback
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.errors import RequestError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def superstep_group(run: str, iteration: int) -> str:
    """Return the job group name of a superstep; 0 for the first state."""
    return f"{run}/superstep/{iteration}"


@dataclass
class SuperstepJob(ABC):
    """A run of supersteps until the aggregate is below the threshold, or the deadline is near.

    Parameters
    ----------
    session : OpenSession
    algorithm : Algorithm
    stored : StoredGraph
    graph : Graph or PackedGraph
    prior : ndarray, optional
        The result of the algorithm that runs before.
    run : str
        The name of the run, with which its job groups start.
    rule : tuple
        The threshold, and the most supersteps.
    progress : callable, optional

    Attributes
    ----------
    aggregates, seconds : list of float
        Of each superstep.
    counts : list of DataFrame
        Of senders by iteration and partition: vertices, messages, and the values (``records``) and
        bytes that carry these between blocks, or to and from the driver.
    redone : int
        The supersteps that ran again after the loss of an executor.
    stopped : bool
        Whether the deadline ended the run.
    collected : ndarray, optional
        The result, if it is in this process.
    """

    session: OpenSession
    algorithm: Any
    stored: Any
    graph: Any
    prior: Array | None
    run: str
    rule: tuple[float, int]
    progress: IterationCallback | None = None
    aggregates: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    counts: list[pd.DataFrame] = field(default_factory=list)
    setup_seconds: float = 0.0
    checkpoint_seconds: float = 0.0
    redone: int = 0
    stopped: bool = False
    collected: Array | None = None
    _began: float = 0.0

    def set_up(self) -> None:
        """Create the first state, and measure how long that takes."""
        started = time.perf_counter()
        with spark_failures("setting up on Spark"):
            self.session.group(superstep_group(self.run, 0))
            self.begin()
        self.setup_seconds = time.perf_counter() - started

    @abstractmethod
    def begin(self) -> None:
        """Create the first state."""

    @abstractmethod
    def advance(self) -> float:
        """Run a superstep, and return its aggregate."""

    @abstractmethod
    def values(self) -> DataFrame:
        """Return ``id`` and the result of each vertex: ``value``, or ``value_1``, ``value_2``."""

    def summary(self) -> dict[str, Any]:
        """Return a summary of the result, from the last state and the sums of all states."""
        return {}

    def go_on(self) -> None:
        """Run supersteps to the end."""
        self._began = time.perf_counter()
        while not self._over:
            self._superstep()

    @property
    def converged(self) -> bool:
        """Whether the last aggregate is below the threshold."""
        return bool(self.aggregates) and self.aggregates[-1] < self.rule[0]

    @property
    def _over(self) -> bool:
        return self.converged or self.stopped or len(self.aggregates) >= self.rule[1]

    def _superstep(self) -> None:
        iteration, started = len(self.aggregates) + 1, time.perf_counter()
        with spark_failures(f"superstep {iteration} on Spark"):
            self.session.group(superstep_group(self.run, iteration))
            aggregate = self.advance()
        ended = time.perf_counter()
        # With what was lost since the superstep before, which says nothing of the next one.
        self.seconds.append(ended - self._began - self.checkpoint_seconds - sum(self.seconds))
        self.aggregates.append(aggregate)
        if self.progress is not None:
            self.progress(iteration, aggregate)
            self._began += time.perf_counter() - ended
        self.stopped = not self._over and time_left() < ended - started


def program_of(algorithm: Algorithm) -> Any:
    """Return what runs an algorithm on Spark: a block program, or a job of its own."""
    found = algorithm.part_for("spark")
    if found is None:
        raise RequestError(
            f"{algorithm.name} declares no program for the spark engine; accepted: an algorithm "
            "with runs_on = {'spark': a BlockProgram}"
        )
    return found
