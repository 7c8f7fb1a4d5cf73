"""Runs as supersteps on Spark, each a job of its own."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.deadline import time_left
from predict_graph.engines.base import IterationCallback
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.errors import RequestError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class SuperstepLog:
    """Counters and times of the supersteps of a run.

    Counters are those of senders by iteration and partition: vertices, messages, and the values
    (``records``) and bytes that carry these between blocks, or to and from the driver.
    """

    state: DataFrame
    sums: list[Mapping[str, Any]]
    convergence: list[float]
    seconds: list[float]
    counts: pd.DataFrame
    setup_seconds: float
    checkpoint_seconds: float = 0.0
    redone: int = 0
    stopped: bool = False
    values: npt.NDArray[Any] | None = None


def superstep_group(run: str, iteration: int) -> str:
    """Return the job group name of a superstep; 0 for the first state."""
    return f"{run}/superstep/{iteration}"


class SuperstepJob(ABC):
    """A run of supersteps until the aggregate is below the threshold, or the deadline is near.

    Parameters
    ----------
    session : OpenSession
    run : str
        The name of the run, with which its job groups start.
    rule : tuple
        The threshold, and the most supersteps.
    progress : callable, optional
    """

    def __init__(
        self,
        session: OpenSession,
        *,
        run: str,
        rule: tuple[float, int],
        progress: IterationCallback | None = None,
    ) -> None:
        self._session, self._run = session, run
        (self._threshold, self._limit), self._progress = rule, progress
        self._aggregates: list[float] = []
        self._seconds: list[float] = []
        self._counts: list[pd.DataFrame] = []
        self._stopped = False

    def execute(self, ready: Callable[[], None]) -> SuperstepLog:
        """Set up, call `ready`, run the supersteps, and return what was measured."""
        started = time.perf_counter()
        with spark_failures("setting up on Spark"):
            self._session.group(superstep_group(self._run, 0))
            self.begin()
        setup_seconds = time.perf_counter() - started
        ready()
        self.go_on()
        return self.log(
            convergence=self._aggregates,
            seconds=self._seconds,
            counts=pd.concat(self._counts, ignore_index=True),
            setup_seconds=setup_seconds,
            stopped=self._stopped,
        )

    @abstractmethod
    def begin(self) -> None:
        """Create the first state."""

    @abstractmethod
    def advance(self) -> float:
        """Run a superstep, and return its aggregate."""

    @abstractmethod
    def log(self, **measured: Any) -> SuperstepLog:
        """Return the last state with what was measured."""

    @abstractmethod
    def values(self, state: DataFrame) -> DataFrame:
        """Return ``id`` and the result of each vertex: ``value``, or ``value_1``, ``value_2``."""

    def summary(self, state: DataFrame, sums: list[Mapping[str, Any]]) -> dict[str, Any]:
        """Return a summary of the result, from the last state and the sums of all states."""
        return {}

    def go_on(self) -> None:
        """Run supersteps to the end."""
        while not self._over:
            self._superstep()

    @property
    def _over(self) -> bool:
        converged = bool(self._aggregates) and self._aggregates[-1] < self._threshold
        return converged or self._stopped or len(self._aggregates) >= self._limit

    def _superstep(self) -> None:
        iteration = len(self._aggregates) + 1
        started = time.perf_counter()
        with spark_failures(f"superstep {iteration} on Spark"):
            self._session.group(superstep_group(self._run, iteration))
            aggregate = self.advance()
        self._seconds.append(time.perf_counter() - started)
        self._aggregates.append(aggregate)
        if self._progress is not None:
            self._progress(iteration, aggregate)
        self._stopped = not self._over and time_left() < self._seconds[-1]


def program_of(algorithm: Algorithm) -> Any:
    """Return what runs an algorithm on Spark: a block program, or a job of its own."""
    found = algorithm.part_for("spark")
    if found is None:
        raise RequestError(
            f"{algorithm.name} declares no program for the spark engine; accepted: an algorithm "
            "with runs_on = {'spark': a BlockProgram}"
        )
    return found
