"""Algorithms over blocks: what a Python worker does in a superstep.

A task holds one block. It gets the state of its vertices and one message per other block, runs the
compiled kernel of the local engine, and returns the new state, the next messages, and what the
driver adds up. Between supersteps these rows are in the memory of the executors; the edges stay
mapped in the workers (:mod:`~predict_graph.engines.spark.blocks.stored`).
"""

from __future__ import annotations

import gc
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from zipimport import zipimporter

import numpy as np

from predict_graph.arrays import Array
from predict_graph.engines.spark.blocks import stored
from samplers.csr import frozen

if TYPE_CHECKING:
    import pyarrow as pa

DRIVER = -1  # by definition: no block has this key
"""Where rows for the driver go; others go to the key of a block."""


class BlockProgram(ABC):
    """How Spark runs an algorithm: one object per block, which has a vertex's number as index.

    Parameters
    ----------
    algorithm : Algorithm
    block : StoredBlock
    prior : ndarray, optional
        What :meth:`prepared` returned.

    Attributes
    ----------
    merges_by : str
        What a record is one of, for each block: ``sender``, whose message a block gets once.
    all_known : bool
        Whether receivers read the values of all neighbours, senders or not.
    state : ndarray, or named tuple of them
        What the own vertices hold, by vertex; by default they send it, and it is the result.
    kept : tuple of str
        The attributes that change, in addition to ``senders``: arrays of the own vertices.
    senders : ndarray of bool or None
        The vertices that send in the next superstep; all if None.
    kind : str
        The type of a result in SQL.
    """

    merges_by: ClassVar[str] = "sender"
    all_known: ClassVar[bool] = False
    kept: ClassVar[tuple[str, ...]] = ("state",)
    kind: ClassVar[str] = "long"

    state: Any
    senders: Array | None = None

    def __init__(
        self, algorithm: Any, block: stored.StoredBlock, prior: Array | None = None
    ) -> None:
        self.algorithm, self.block = algorithm, block
        self.rows = frozen(block.indptr), frozen(block.sources)
        self.first(prior)

    @staticmethod
    def prepared(algorithm: Any, values: Array) -> Array:
        """Return what programs get of the result of the algorithm that runs before."""
        return values

    @staticmethod
    def width(algorithm: Any) -> int:
        """Return the number of values of a vertex."""
        return 1

    @abstractmethod
    def first(self, prior: Array | None) -> None:
        """Set the state before the first superstep."""

    def offered(self) -> Any:
        """Return what the own vertices send: an array, or a named tuple of arrays, by vertex."""
        return self.state

    def taken(self, places: Array) -> Any:
        """Return what some vertices send, to be pickled."""
        return _with_arrays(self.offered(), lambda each: each[places])

    def gathered(self, messages: Mapping[int, Any]) -> tuple[Any, Array]:
        """Return what the vertices that the block reads sent, and which of them did."""
        block, own = self.block, self.offered()
        others = stored.opened(block.graph)
        offers = _extended(own, block.columns)
        senders = np.zeros(block.columns, np.uint8)
        senders[: block.count] = 1 if self.senders is None else self.senders
        for other, (places, values) in messages.items():
            there = block.received_from(others[other])
            chosen: Any = slice(None) if places is None else places
            senders[there][chosen] = 1
            for into, found in zip(_arrays(offers), _arrays(values), strict=True):
                into[there][chosen] = found
        return offers, senders

    @abstractmethod
    def receive(self, offers: Any, senders: Array, sums: Mapping[str, Any]) -> None:
        """Update the state.

        Parameters
        ----------
        offers : ndarray, shape (columns, …), or named tuple of them
            What the vertices that the block reads sent.
        senders : ndarray of uint8, shape (columns,)
            Which did; offers of others have no meaning.
        sums : mapping
            The sums of all blocks after the previous superstep.
        """

    def sums(self) -> dict[str, Any]:
        """Return what is added up over all blocks; of tuples the largest is taken."""
        sending = self.block.count if self.senders is None else np.count_nonzero(self.senders)
        return {"changed": float(sending)}

    @classmethod
    def convergence(cls, sums: Mapping[str, Any], vertices: int) -> float:
        """Return the aggregate from the sums: the share of changed vertices by default."""
        return float(sums["changed"]) / vertices

    def values(self) -> Any:
        """Return the result of each own vertex."""
        return self.state

    @classmethod
    def summary(cls, values: Any, sums: list[Mapping[str, Any]]) -> dict[str, Any]:
        """Return a summary from the table of results, and the sums of all states."""
        return {}


@dataclass(frozen=True)
class Run:
    """What workers know of a run: it is sent with every superstep."""

    name: str
    program: type[BlockProgram]
    algorithm: Any
    blocks: stored.Blocks
    prior: Any = None


def run_of(
    name: str, program: Any, algorithm: Any, blocks: stored.Blocks, graph: Any, values: Any = None
) -> Run:
    """Return what workers know of a run, and save what it gets of the `values` of its prior."""
    place, algorithm = None, algorithm.within(graph)
    if values is not None:
        place = blocks.folder / f"{name}.npy"
        np.save(place, program.prepared(algorithm, values))
    return Run(name, program, algorithm, blocks, place)


_PROGRAMS: dict[tuple[str, int], BlockProgram] = {}


def _program(run: Run, number: int) -> BlockProgram:
    """Return the program of a block, which a worker keeps for the next superstep."""
    if (run.name, number) not in _PROGRAMS:
        for other in [key for key in _PROGRAMS if key[0] != run.name]:
            del _PROGRAMS[other]
        prior = None if run.prior is None else np.load(stored.path_of(run.prior), mmap_mode="r")
        block = stored.opened(run.blocks)[number]
        _PROGRAMS[run.name, number] = run.program(run.algorithm, block, prior)
    return _PROGRAMS[run.name, number]


def begun(batches: stored.Batches, run: Run) -> stored.Batches:
    """Return the first states of blocks, given by their keys."""
    for batch in batches:
        for key in batch.column(0).to_pylist():
            # A run that begins again, as an executor was lost, finds what it has left here.
            number = run.blocks.numbers[key]
            _PROGRAMS.pop((run.name, number), None)
            program = _program(run, number)
            start = deepcopy(_state(program))
            program.receive(*program.gathered({}), program.sums())  # loads compiled functions
            vars(program).update(start)
            yield from _parcels(run, program)
    keep_loaded()


def advanced(batches: stored.Batches, run: Run, sums: Mapping[str, Any]) -> stored.Batches:
    """Run a superstep on the block whose state and messages are given."""
    for program, messages in _received(batches, run):
        program.receive(*program.gathered(messages), sums)
        yield from _parcels(run, program)
    keep_loaded()


def results(batches: stored.Batches, run: Run) -> stored.Batches:
    """Return the results of vertices as rows."""
    import pyarrow as pa

    for program, _ in _received(batches, run):
        columns = [program.block.rows, *np.atleast_2d(program.values().T)]
        yield pa.record_batch([pa.array(each) for each in columns], result_names(len(columns) - 1))


def result_names(width: int) -> list[str]:
    """Return the columns of a table of results."""
    return ["id", *(["value"] if width == 1 else [f"value_{k + 1}" for k in range(width)])]


def _received(batches: stored.Batches, run: Run) -> Iterator[tuple[BlockProgram, Any]]:
    """Return the program of each block of a task, with its state, and messages by sender."""
    found: dict[int, dict[int, Any]] = {}
    for key, sender, content in stored.unpacked(batches):
        found.setdefault(run.blocks.numbers[key], {})[sender] = content
    for number, arrived in found.items():
        program = _program(run, number)
        vars(program).update(arrived.pop(number))
        yield program, arrived


def _arrays(value: Any) -> tuple[Array, ...]:
    """Return an array, or those of a tuple, as a tuple."""
    return value if isinstance(value, tuple) else (value,)


def _with_arrays(value: Any, change: Callable[[Array], Array]) -> Any:
    """Return an array, or a named tuple of arrays, with each array changed."""
    return type(value)(*map(change, value)) if isinstance(value, tuple) else change(value)


def _extended(value: Any, columns: int) -> Any:
    """Return arrays with room for the rows of the boundary."""

    def longer(own: Array) -> Array:
        found = np.zeros((columns, *own.shape[1:]), own.dtype)
        found[: len(own)] = own
        return found

    return _with_arrays(value, longer)


def _state(program: BlockProgram) -> dict[str, Any]:
    """Return the attributes that change."""
    return {name: getattr(program, name) for name in (*program.kept, "senders")}


def _parcels(run: Run, program: BlockProgram) -> Iterator[pa.RecordBatch]:
    """Return the rows that a block sends: its state, messages, and what the driver adds up.

    Values that the block reads itself count as sent to its own machine, though they stay.
    """
    number, records, moved = program.block.number, 0, [0, 0]
    keys, machines = run.blocks.keys, run.blocks.machines
    for other, places in enumerate(program.block.sent_to):
        chosen, places = _chosen(program, places)
        if len(places) == 0:
            continue
        values = program.taken(places)
        size = sum(each.nbytes for each in _arrays(values))
        if other != number:
            size += 0 if chosen is None else chosen.nbytes
            yield stored.parcel(keys[other], number, (chosen, values))
        remote = other % machines != number % machines
        records += len(places)
        moved[remote] += size
    yield stored.parcel(keys[number], number, _state(program))
    facts = sender_counts(program.block, program.senders)
    facts.update(records=records, local_bytes=moved[0], remote_bytes=moved[1])
    yield stored.parcel(DRIVER, number, (facts, program.sums()))


def _chosen(program: BlockProgram, places: Array) -> tuple[Array | None, Array]:
    """Return which of some vertices send, None if all do, and those."""
    if program.senders is None or program.all_known:
        return None, places
    sending = program.senders[places]
    if sending.all():
        return None, places
    chosen = np.flatnonzero(sending).astype(np.int32)
    return chosen, places[chosen]


def sender_counts(block: stored.StoredBlock, senders: Array | None) -> dict[str, int]:
    """Count the vertices of a block, those that send, and their messages.

    With the number of the task that runs, by which the event log knows its executor.
    """
    from pyspark import TaskContext

    context = TaskContext.get()
    chosen: Any = slice(None) if senders is None else senders
    sent, stay = block.degrees[chosen], block.inside[chosen]
    return {
        "partition": block.number,
        "task": -1 if context is None else context.taskAttemptId(),
        "total_vertices": block.count,
        "active_vertices": len(sent),
        "local_messages": int(stay.sum()),
        "remote_messages": int(sent.sum() - stay.sum()),
        "out_edges": int(block.degrees.sum()),
    }


def keep_loaded() -> None:
    """Disable per-task work of Spark's Python workers that exceeds a small superstep.

    Before a task Spark clears Python's import caches, and Python then rereads the directories of
    Spark's zip files, once per package. After a task it collects garbage among all loaded objects.
    Zip importers are recreated when needed.
    """
    if "pyspark.worker" not in sys.modules:
        return
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimporter):
            del sys.path_importer_cache[path]
    gc.freeze()
