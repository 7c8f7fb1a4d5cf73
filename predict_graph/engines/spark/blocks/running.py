"""Runs as supersteps on Spark, each a job of its own.

Over blocks it has one Python stage, and a row per pair of blocks.
"""

from __future__ import annotations

import pickle
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.arrays import Array
from predict_graph.deadline import time_left
from predict_graph.engines.base import IterationCallback
from predict_graph.engines.runtime_model import AnyGraph
from predict_graph.engines.spark.blocks import program
from predict_graph.engines.spark.blocks import stored as storage
from predict_graph.engines.spark.blocks.packing import PackedGraph, blocks_in, folder_for_blocks
from predict_graph.engines.spark.session.executors import prepare_executors, sent_file
from predict_graph.engines.spark.session.failures import ExecutorLostError, spark_failures
from predict_graph.engines.spark.session.opening import OpenSession
from predict_graph.engines.spark.tables.checkpoints import Checkpoints, forget, released
from predict_graph.errors import JobError, RequestError
from predict_graph.graph import Graph

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class StoredGraph:
    """The blocks of a graph in a folder, in a session, and a table that ties each to an executor.

    ``homes`` has the keys of the blocks as ``id``, cached in their partitions: what is joined with
    it runs where its partitions are. ``phases`` are those of a run so far; ``held`` is released
    with the graph.
    """

    session: OpenSession
    graph: AnyGraph
    blocks: storage.Blocks
    homes: DataFrame
    phases: Mapping[str, float]
    held: ExitStack

    def table(self, **columns: Any) -> DataFrame:
        """Return a table of arrays, in a file that is deleted with the graph."""
        file = self.held.enter_context(self.session.written(**columns))
        return self.session.spark.read.parquet(file)


@contextmanager
def stored_on(session: OpenSession, graph: AnyGraph) -> Iterator[StoredGraph]:
    """Write the blocks of a graph to a folder; at the end, remove it.

    Executors that do not see it get copies. Blocks of a packed graph are written already. Python
    starts on the executors meanwhile.
    """
    with folder_for_blocks(session) as folder, ThreadPoolExecutor(2) as pool, ExitStack() as held:
        if isinstance(graph, PackedGraph):
            blocks, before = graph.blocks, graph.prepare_seconds
        else:
            blocks, before = blocks_in(folder, session, graph.vertices), 0.0
        prepared = pool.submit(prepare_executors, session)
        placed = pool.submit(_homes, session, blocks.keys)
        started = time.perf_counter()
        if isinstance(graph, Graph):
            with spark_failures("writing the graph for Spark"):
                storage.write_blocks(graph, blocks)
        written = time.perf_counter()
        read = graph.read_seconds if isinstance(graph, PackedGraph) else written - started
        if not prepared.result():
            with spark_failures("sending the graph to the executors"):
                copies = [sent_file(session, blocks.file(n)) for n in range(len(blocks.keys))]
            for each in copies:
                held.callback(each.destroy)
            blocks = replace(blocks, sent=tuple(copies))
        homes = held.enter_context(released(placed.result()))
        setup = session.seconds + before + time.perf_counter() - written
        phases = {"setup": setup, "read": read, "superstep": 0.0, "write": 0.0}
        yield StoredGraph(session, graph, blocks, homes, phases, held)


def _homes(session: OpenSession, keys: tuple[int, ...]) -> DataFrame:
    """Return a table of keys, each in its partition on an executor."""
    with spark_failures("placing the graph on Spark"):
        session.group("setup")
        chosen = ", ".join(map(str, keys))
        homes = session.spark.range(max(keys) + 1).where(f"id IN ({chosen})")
        homes = homes.repartition(len(keys), "id").persist()
        homes.count()
    return homes


def superstep_group(run: str, iteration: int) -> str:
    """Return the job group name of a superstep; 0 for the first state."""
    return f"{run}/superstep/{iteration}"


@dataclass
class SuperstepJob(ABC):
    """A run of supersteps until the aggregate is below the threshold, or the deadline is near.

    Parameters
    ----------
    algorithm : Algorithm
    stored : StoredGraph
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
        Of senders by partition, of each superstep: vertices, messages, and the values (``records``)
        and bytes that carry these between blocks, or to and from the driver.
    redone : int
        The supersteps that ran again after the loss of an executor.
    stopped : bool
        Whether the deadline ended the run.
    """

    algorithm: Any
    stored: StoredGraph
    prior: Array | None
    run: str
    rule: tuple[float, int]
    progress: IterationCallback | None = None
    aggregates: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    counts: list[pd.DataFrame] = field(default_factory=list)
    checkpoint_seconds: float = 0.0
    redone: int = 0
    stopped: bool = False
    _began: float = 0.0

    def set_up(self, doing: str = "setting up on Spark") -> None:
        """Create the first state; errors say what was `doing`."""
        with spark_failures(doing):
            self.stored.session.group(superstep_group(self.run, 0))
            self.begin()

    @abstractmethod
    def begin(self) -> None:
        """Create the first state."""

    @abstractmethod
    def advance(self) -> float:
        """Run a superstep, and return its aggregate."""

    @abstractmethod
    def values(self) -> DataFrame:
        """Return ``id`` and the result of each vertex: ``value``, or ``value_1``, ``value_2``."""

    def collected(self) -> Array:
        """Return the result of all vertices, ordered by vertex."""
        vertices = self.stored.graph.vertices
        with spark_failures("collecting the result from Spark"):
            found = self.values().toPandas().sort_values("id").drop(columns="id")
        if len(found) != vertices:
            raise JobError(f"Spark gave {len(found)} results for {vertices} vertices")
        results: Array = found.to_numpy()
        return results[:, 0] if list(found) == ["value"] else results

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
            self.stored.session.group(superstep_group(self.run, iteration))
            aggregate = self.advance()
        ended = time.perf_counter()
        # With what was lost since the superstep before, which says nothing of the next one.
        self.seconds.append(ended - self._began - self.checkpoint_seconds - sum(self.seconds))
        self.aggregates.append(aggregate)
        if self.progress is not None:
            self.progress(iteration, aggregate)
            self._began += time.perf_counter() - ended
        self.stopped = not self._over and time_left() < ended - started


@dataclass
class BlockJob(SuperstepJob):
    """A run of a block program.

    A state is a table of :data:`PARCELS`: one row per block, one per pair of blocks with messages
    in between, and one per block for the driver. Its lineage is truncated (``localCheckpoint``) in
    the action that collects the last; otherwise a plan grows with every superstep. It is then in
    the memory of the executors. With checkpoints, every few states and the last one are also stored
    in files, and a run that loses an executor resumes from the newest one.
    """

    _state: DataFrame = field(init=False)

    def __post_init__(self) -> None:
        found, stored = program_of(self.algorithm), self.stored
        given = (self.run, found, self.algorithm, stored.blocks, stored.graph, self.prior)
        self._known = program.run_of(*given)
        if stored.blocks.sent and self.prior is not None:
            prior = sent_file(stored.session, self._known.prior)
            stored.held.callback(prior.destroy)
            self._known = replace(self._known, prior=prior)
        self._sums: list[Mapping[str, Any]] = []
        self._saved: tuple[int, DataFrame | None] = (0, None)
        self._losses: list[int] = []  # number of supersteps completed before each loss

    def begin(self) -> None:
        """Create the first state."""
        task = partial(program.begun, run=self._known)
        self._settle(self.stored.homes.mapInArrow(task, storage.PARCELS))

    def advance(self) -> float:
        """Run a superstep, and return its aggregate."""
        task = partial(program.advanced, run=self._known, sums=self._sums[-1])
        self._settle(self._delivered(self._state).mapInArrow(task, storage.PARCELS))
        return float(self._known.program.convergence(self._sums[-1], self.stored.graph.vertices))

    def _delivered(self, state: DataFrame) -> DataFrame:
        """Send the rows of a state to their blocks, and keep these where they are."""
        from pyspark.sql import functions as F

        blocks, homes = len(self._known.blocks.keys), self.stored.homes.hint("shuffle_hash")
        sent = state.where(f"to != {program.DRIVER}").repartition(blocks, "to")
        return sent.join(homes, F.expr("to = id")).select("to", "sender", "data")

    def _superstep(self) -> None:
        """Run a superstep, and save its state at intervals.

        Work that is lost with an executor counts towards the first superstep after it.
        """
        checkpoints, before = self.stored.session.checkpoints, self._state
        try:
            super()._superstep()
            iteration = len(self.aggregates)
            if self._saved[1] is not before:
                with spark_failures(f"superstep {iteration} on Spark"):
                    forget(before)
            if checkpoints and (self._over or iteration % checkpoints.interval == 0):
                self._save(checkpoints)
        except ExecutorLostError as error:
            self._go_back(error)

    def _go_back(self, error: ExecutorLostError, most: int = 3) -> None:
        """Go back to the newest checkpoint, or to the start; raise the error if that is useless:
        without checkpoints, or after `most` losses without a completed superstep in between.
        """
        done = len(self.aggregates)
        self._losses.append(done)
        if self.stored.session.checkpoints is None or self._losses.count(done) >= most:
            raise error
        forget(self._state)
        kept, state = self._saved
        states = 0 if state is None else kept + 1
        self.redone += done - kept
        del self.aggregates[kept:], self.seconds[kept:], self.counts[states:], self._sums[states:]
        if state is None:
            self.set_up("setting up on Spark again")
        else:
            self._state = state

    def _settle(self, state: DataFrame) -> None:
        """Truncate the lineage of a state and compute it; add its senders and sums."""
        self._state = state.localCheckpoint(eager=False)  # computed by the next action
        rows = self._state.where(f"to = {program.DRIVER}").select("data").collect()
        counts, sums = zip(*(pickle.loads(row["data"]) for row in rows), strict=True)
        # The senders of a state send in the superstep after it.
        self.counts.append(pd.DataFrame(counts))
        self._sums.append(together(sums))

    def _save(self, checkpoints: Checkpoints) -> None:
        iteration = len(self.aggregates)
        started = time.perf_counter()
        with spark_failures(f"the checkpoint after superstep {iteration} on Spark"):
            self.stored.session.group(f"{self.run}/checkpoint/{iteration}")
            saved = checkpoints.save(self._state)
        self._saved = iteration, saved
        if self._over:  # the result is read from there
            forget(self._state)
            self._state = saved
        self.checkpoint_seconds += time.perf_counter() - started

    def values(self) -> DataFrame:
        """Return ``id`` and the result of each vertex: ``value``, or ``value_1``, ``value_2``."""
        run = self._known
        first, *others = program.result_names(run.program.width(run.algorithm))
        kinds = ", ".join([f"{first} long", *(f"{name} {run.program.kind}" for name in others)])
        pairs = (f"({key}L, {number})" for number, key in enumerate(run.blocks.keys))
        states = self._state.where(f"(to, sender) IN ({', '.join(pairs)})")
        return states.mapInArrow(partial(program.results, run=run), kinds)

    def summary(self) -> dict[str, Any]:
        """Return a summary of the result, from the last state and the sums of all states."""
        found: dict[str, Any] = self._known.program.summary(self.values(), self._sums)
        return found


def together(sums: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up the sums of blocks; of tuples, take the largest.

    Examples
    --------
    >>> together([{"changed": 1.0, "best": (2, 7)}, {"changed": 2.0, "best": (3, 1)}])
    {'changed': 3.0, 'best': (3, 1)}
    """
    found = {name: [each[name] for each in sums] for name in sums[0]}
    return {
        name: max(values) if isinstance(values[0], tuple) else sum(values)
        for name, values in found.items()
    }


def program_of(algorithm: Algorithm) -> Any:
    """Return what runs an algorithm on Spark: a block program, or a job of its own."""
    found = algorithm.part_for("spark")
    if found is None:
        raise RequestError(
            f"{algorithm.name} declares no program for the spark engine; accepted: an algorithm "
            "with runs_on = {'spark': a BlockProgram}"
        )
    return found
