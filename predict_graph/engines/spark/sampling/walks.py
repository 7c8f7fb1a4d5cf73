"""Thousands of walks at once, one step of all of them in a superstep.

A walk begins somewhere and ends at the first restart, or at a vertex without edges. The compiled
samplers make one walk after the other until enough vertices are visited. Each walk is independent
of the others, so here many are made side by side, and the sample is what the one-after-the-other
sampler takes: the first vertices in the order of (walk, step). It therefore has the same
distribution, and depends neither on how many walks are side by side nor on the partitions.

A visit is two numbers: the vertex, and its place in that order, which packs the round of starts (8
bits), the number of the walk (38 bits) and the step (16 bits). All random numbers of a step are
hashes of the place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING

from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.tables.checkpoints import cut_off, forget

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["STEP_BITS", "WALK_BITS", "Visits", "place_of", "walk_until"]

STEP_BITS = 16  # a choice: with those of walks and rounds, 63
WALK_BITS = 38  # as above
_STEPS = 8  # of one job; a choice: docs/spark-sampling.md, cost
_FEWEST = 64  # walks of a launch; a choice


def place_of(round_: int, walk: Column) -> Column:
    """Return the place of the first visit of a walk."""
    from pyspark.sql import functions as F

    return F.shiftleft(walk, STEP_BITS) + F.lit(round_ << (WALK_BITS + STEP_BITS))


@dataclass
class Visits:
    """What the walks have visited so far.

    Parameters
    ----------
    first : DataFrame, optional
        ``vertex``, ``place`` of its first visit, ``visits`` (how many there were); None at first.
    state : DataFrame, optional
        ``vertex`` and ``place`` of the walks that go on, or end here.
    found : int
        Distinct vertices.
    made : int
        Visits, repeated ones included.
    alive : int
        Rows of `state`.
    walks, supersteps, jobs : int
        How many there were.
    """

    first: DataFrame | None = None
    state: DataFrame | None = None
    found: int = 0
    made: int = 0
    alive: int = 0
    walks: int = 0
    supersteps: int = 0
    jobs: int = 0
    _tables: list[DataFrame] = field(default_factory=list)

    @property
    def table(self) -> DataFrame:
        """``first``, once there is one."""
        if self.first is None:
            raise ValueError("there are no visits yet")
        return self.first

    def advance(
        self, step: Callable[[DataFrame], DataFrame], steps: int, starts: DataFrame | None
    ) -> None:
        """Make some steps, of the walks that are on their way and of new ones, in one job."""
        from pyspark.sql import functions as F

        states = [] if starts is None else [cut_off(starts)]
        state = self.state
        if states:
            state = states[0] if state is None else state.union(states[0])
        if state is None:
            raise ValueError("there is no walk on its way")
        for _ in range(steps):
            state = cut_off(step(state))
            states.append(state)
        visits = [
            table.select("vertex", "place", F.lit(1).alias("visits"), F.lit(last).alias("last"))
            for table, last in zip(states, [0] * (len(states) - 1) + [1], strict=True)
        ]
        if self.first is not None:
            visits.append(self.first.select("vertex", "place", "visits", F.lit(0).alias("last")))
        partitions = int(state.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
        first = cut_off(
            reduce(lambda one, other: one.union(other), visits)
            .coalesce(partitions)
            .groupBy("vertex")
            .agg(
                F.min("place").alias("place"),
                F.sum("visits").alias("visits"),
                F.sum("last").alias("last"),
            )
        )
        totals = first.agg(F.count("*"), F.sum("visits"), F.sum("last")).collect()[0]
        old = [*self._tables, *([] if self.first is None else [self.first])]
        self.first, self.state = first, state
        self.found, self.made, self.alive = (int(total or 0) for total in totals)
        self.supersteps += steps
        self.jobs += 1
        self._tables = states
        for table in old:
            forget(table)

    def abandon(self) -> None:
        """Give up the walks on their way, as a compiled sampler does with its walk in a stall."""
        self.state, self.alive = None, 0

    def forget(self) -> None:
        """Give the memory back."""
        for table in [*self._tables, *([] if self.first is None else [self.first])]:
            forget(table)


def walk_until(
    target: int,
    step: Callable[[DataFrame], DataFrame],
    starts: Callable[[int, int], DataFrame],
    refill: Callable[[int, DataFrame, int], DataFrame],
    *,
    restart: float,
    patience: int,
) -> Visits:
    """Walk until enough vertices are visited and every walk has ended.

    How many walks are launched, and when, follows from the counts so far and from nothing else.
    When walks visit a new vertex less often than once in `patience` visits, new ones begin at
    vertices that are not visited yet, as in the compiled samplers.

    Parameters
    ----------
    target : int
        Vertices to visit; at most those that `refill` can give.
    step : callable
        From walks on their way to where they are one step later, without those that ended.
    starts : callable
        First visits of the walks of some numbers: from, to (excluded).
    refill : callable
        First visits of walks from about so many unvisited vertices: round, visits so far, number.
    restart : float
        Probability that a walk ends, at each step.
    patience : int

    Raises
    ------
    JobError
        If Spark fails.
    """
    visits = Visits()
    stalled = False
    rounds = 0
    # A choice, as all here: only time depends on it.
    launch = max(_FEWEST, math.ceil(1.2 * target * restart))
    while launch or visits.alive or visits.found < target:
        made, found = visits.made, visits.found
        beginning: DataFrame | None = None
        if launch:
            beginning = starts(visits.walks, visits.walks + launch)
            visits.walks += launch
        elif not visits.alive:
            rounds += 1
            beginning = refill(rounds, visits.table, target - found)
            launch = target - found
        with spark_failures(f"sampling on Spark, superstep {visits.supersteps + 1}"):
            visits.advance(step, _steps_of_a_job(visits.alive + launch, restart), beginning)
        recent = visits.made - made
        rate = (visits.found - found) / max(recent, 1)
        if not stalled and recent >= patience and rate * patience < 1:
            stalled = True
            visits.abandon()
        launch = 0 if stalled else _walks_to_launch(visits, target, rate, restart)
    return visits


def _steps_of_a_job(walks: int, restart: float) -> int:
    """Return after how many steps these walks will have ended, and no more than a job may have."""
    if restart == 1:
        return 1
    expected = math.log(max(walks, 2)) / -math.log1p(-restart)
    return max(1, min(_STEPS, math.ceil(expected)))


def _walks_to_launch(visits: Visits, target: int, rate: float, restart: float) -> int:
    """Return how many more walks it takes, if walks go on to find new vertices at this rate."""
    if visits.found >= target:
        return 0
    coming = rate * visits.alive * (1 - restart) / restart
    missing = 1.05 * target - visits.found - coming  # a choice, as above
    if missing <= 0:
        return 0
    most = max(_FEWEST, 2 * visits.walks)
    return min(most, max(_FEWEST, math.ceil(restart * missing / max(rate, 1e-6))))
