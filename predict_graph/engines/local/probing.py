"""The time of a superstep on the whole graph, measured on a few blocks of its rows.

The arrays of the whole graph are set up as for a run, and the compiled superstep runs on a few
blocks of rows. Its messages then come from memory, whereas those of a sample come from a cache.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from predict_graph.engines.local.kernel import Work
from predict_graph.engines.local.team import Team
from predict_graph.engines.profile import per_iteration
from predict_graph.graph import Graph
from predict_graph.table import Table

# Of the blocks, per measurement; trades off overhead for error (docs/studies/overhead.md)
_SHARE = 0.02
# Edges + vertices of a call (tens of microseconds): limits the overhead of calls
_PIECE_WORK = 40_000
_REPEATS = 4  # limits overhead; the first measurement is a warm-up
_LAUNCHES = 5  # bounds the measurement; the minimum is used


@dataclass(frozen=True)
class IterationProbe:
    """The time of one iteration on the whole graph, measured on a small part of it."""

    seconds: float
    relative_std: float
    rows: Table
    idle_seconds: float = 0.0
    work: float | None = None


def probe_of(run: Table) -> IterationProbe:
    """Return the time of an iteration from the first supersteps of the run itself."""
    rows = per_iteration(run).without("convergence")
    first = rows.floats("seconds")[rows["active_vertices"] == rows["active_vertices"][0]]
    spread = float(first.std() / max(first.mean(), 1e-300)) / math.sqrt(len(first))
    return IterationProbe(float(first.mean()), spread, rows)


@runtime_checkable
class Sweeping(Protocol):
    """A kernel that can execute a superstep on some blocks of rows.

    This is the first superstep, or another one whose work on the whole graph is in ``swept``.
    """

    message_bytes: int
    working_set_bytes: int

    @property
    def blocks(self) -> npt.NDArray[np.int64]:
        """The first row of each block, and the number of rows."""

    def sweep(self, first: int, last: int) -> None:
        """Execute the superstep on some blocks."""


def probe_by_sweeps(
    kernel: Any, graph: Graph, workers: int, team: Team, rng: np.random.Generator
) -> IterationProbe | None:
    """Time a superstep on randomly drawn blocks, different ones for each measurement."""
    if not isinstance(kernel, Sweeping):
        return None
    edges = graph.reverse.indptr[kernel.blocks]
    work = edges + kernel.blocks
    pieces = 2 * team.threads
    length = _piece_length(work, pieces)
    count = len(work) - 1
    if count < (_REPEATS + 1) * pieces * length:
        return None
    measured = []
    nothing = np.zeros(pieces, np.int64)
    launch = min(_timed(kernel, nothing, 0, team) for _ in range(_LAUNCHES))
    for chosen in _spread_pieces(count // length, pieces, rng):
        chosen = chosen * length
        seconds = max(_timed(kernel, chosen, length, team) - launch, 0.0)
        rows = int((kernel.blocks[chosen + length] - kernel.blocks[chosen]).sum())
        measured.append((rows, int((edges[chosen + length] - edges[chosen]).sum()), seconds))
    vertices, messages, seconds_taken = np.array(measured[1:]).T
    if not seconds_taken.any():
        return None
    rates = seconds_taken / (messages + vertices)
    whole = float(rates.mean()) * (graph.edges + graph.vertices)
    error = float(rates.std() / rates.mean()) / max(len(rates) - 1, 1) ** 0.5
    rows_measured = counted_rows(
        vertices, messages, kernel.message_bytes, kernel.working_set_bytes, seconds_taken, workers
    )
    swept: Work | None = getattr(kernel, "swept", None)
    units = None
    if swept is not None:
        units = swept.amount(np.ones(graph.vertices), graph.edges, graph.edges)
    return IterationProbe(whole, error, rows_measured, idle_seconds(kernel), units)


def idle_seconds(kernel: Any, repeats: int = 3) -> float:
    """Return the time of a superstep without senders; 0 for kernels in which all vertices send.

    The state of the kernel is invalid afterwards.
    """
    if not hasattr(kernel, "rest"):
        return 0.0
    seconds = []
    for _ in range(repeats):
        kernel.rest()
        started = time.perf_counter()
        kernel.step()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def counted_rows(
    vertices: Any,
    messages: Any,
    message_bytes: int,
    working_set_bytes: int,
    seconds: Any,
    workers: int,
) -> Table:
    """Return the measurements as rows of a profile.

    A hash spreads the ends of edges evenly, so one message in `workers` is local.
    """
    local = np.asarray(messages) // workers
    remote = messages - local
    return Table(
        {
            "active_vertices": vertices,
            "total_vertices": vertices,
            "local_messages": local,
            "remote_messages": remote,
            "local_message_bytes": local * message_bytes,
            "remote_message_bytes": remote * message_bytes,
            "working_set_bytes": working_set_bytes,
            "seconds": seconds,
        }
    )


def _piece_length(work: npt.NDArray[np.integer], pieces: int) -> int:
    """Return how many blocks to process per call, so that the overhead of calls is negligible."""
    blocks = len(work) - 1
    share = int(_SHARE * blocks) // pieces
    enough = int(np.ceil(_PIECE_WORK / max(float(work[-1]) / max(blocks, 1), 1.0)))
    return max(share, enough, 1)


def _spread_pieces(
    places: int, pieces: int, rng: np.random.Generator
) -> list[npt.NDArray[np.integer]]:
    """Return disjoint, evenly spaced places for each measurement."""
    even = np.arange(pieces * (_REPEATS + 1)) * places // (pieces * (_REPEATS + 1))
    shifted = (even + rng.integers(places)) % places
    return [np.sort(shifted[number :: _REPEATS + 1]) for number in range(_REPEATS + 1)]


def _timed(kernel: Sweeping, starts: npt.NDArray[np.integer], length: int, team: Team) -> float:
    """Return the total time of all threads on some pieces, divided by the number of threads.

    The wait for the last thread is excluded: a run has so many blocks that its threads finish
    almost together.
    """
    busy: list[float] = []

    def sweep(first: int, last: int) -> None:
        for start in starts[first:last].tolist():
            started = time.perf_counter()
            kernel.sweep(start, start + length)
            busy.append(time.perf_counter() - started)

    team.share(sweep, len(starts))
    return sum(busy) / team.threads
