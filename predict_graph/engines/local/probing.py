"""What a superstep on the whole graph costs, measured on a few blocks of its rows.

The arrays of the whole graph are set up as for a run, and the compiled superstep runs for a few
blocks of rows: its messages come from memory where those of a sample come from a cache.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.engines.local.kernel import Work
from predict_graph.engines.local.team import Team
from predict_graph.engines.profile import per_iteration
from predict_graph.graph import Graph

__all__ = [
    "IterationProbe",
    "Sweeping",
    "counted_rows",
    "idle_seconds",
    "probe_by_sweeps",
    "probe_of",
]

_SHARE = 0.02  # of the blocks, for one measurement; a choice (errors: docs/studies/overhead.md)
_PIECE_WORK = 40_000  # edges + vertices of a call; a choice: some tens of microseconds
_REPEATS = 4  # a choice: measurements, of which one warms up
_LAUNCHES = 5  # a choice: the least of them counts


@dataclass(frozen=True)
class IterationProbe:
    """What one iteration on the whole graph takes, from a small part of it.

    Parameters
    ----------
    seconds : float
    relative_std : float
        Standard error of `seconds`, relative.
    idle_seconds : float
        Of an iteration in which nothing is sent.
    rows : DataFrame
        What was measured: counters, working set and seconds of each part, as in a profile.
    work : float, optional
        Units of work of that iteration, if it is not like the first one.
    """

    seconds: float
    relative_std: float
    rows: pd.DataFrame
    idle_seconds: float = 0.0
    work: float | None = None


def probe_of(table: pd.DataFrame) -> IterationProbe:
    """Return what an iteration takes by the first supersteps of the run itself.

    Parameters
    ----------
    table : DataFrame
        Of a profile, a row an iteration and worker.
    """
    rows = per_iteration(table).drop(columns="convergence")
    seconds = rows["seconds"].to_numpy(np.float64)
    first = seconds[rows["active_vertices"] == rows["active_vertices"].iloc[0]]
    spread = float(first.std() / max(first.mean(), 1e-300)) / math.sqrt(len(first))
    return IterationProbe(float(first.mean()), spread, rows)


@runtime_checkable
class Sweeping(Protocol):
    """A kernel that can do the work of a superstep for some blocks of rows.

    Of the first one, or of another one whose work on the whole graph it says in ``swept``.
    """

    message_bytes: int
    working_set_bytes: int

    @property
    def blocks(self) -> npt.NDArray[np.int64]:
        """First row of each block, and the number of rows."""

    def sweep(self, first: int, last: int) -> None:
        """Do the work for some blocks."""


def probe_by_sweeps(
    kernel: Any, graph: Graph, workers: int, team: Team, rng: np.random.Generator
) -> IterationProbe | None:
    """Measure a superstep on blocks that are drawn at random, each time others.

    Parameters
    ----------
    kernel : Kernel
        Freshly built; its state is of no use afterwards.
    graph : Graph
    workers : int
        Of the run; a hash leaves one message in so many where it is.
    team : Team
    rng : Generator

    Returns
    -------
    IterationProbe or None
        None if the kernel cannot, the graph has too few rows to take a part of them, or they take
        no longer than calling the kernel.
    """
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
    """Return what a superstep takes in which no vertex sends; 0 for a kernel where all always do.

    The state of the kernel is of no use afterwards.
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
) -> pd.DataFrame:
    """Return what was measured as rows of a profile.

    A hash spreads the ends of edges evenly, so one message in `workers` stays where it is.
    """
    local = np.asarray(messages) // workers
    remote = messages - local
    return pd.DataFrame(
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
    """Return how many blocks to sweep at a time: calling compiled code must cost nothing beside."""
    blocks = len(work) - 1
    share = int(_SHARE * blocks) // pieces
    enough = int(np.ceil(_PIECE_WORK / max(float(work[-1]) / max(blocks, 1), 1.0)))
    return max(share, enough, 1)


def _spread_pieces(
    places: int, pieces: int, rng: np.random.Generator
) -> list[npt.NDArray[np.integer]]:
    """Return so many places for each measurement, all different, at even distances from a start."""
    even = np.arange(pieces * (_REPEATS + 1)) * places // (pieces * (_REPEATS + 1))
    shifted = (even + rng.integers(places)) % places
    return [np.sort(shifted[number :: _REPEATS + 1]) for number in range(_REPEATS + 1)]


def _timed(kernel: Sweeping, starts: npt.NDArray[np.integer], length: int, team: Team) -> float:
    """Return what sweeping some pieces takes all threads together, divided by their number.

    Not what passes until the last thread is done: a run has so many more blocks than these few
    pieces that its threads finish together.
    """
    busy: list[float] = []

    def sweep(first: int, last: int) -> None:
        for start in starts[first:last].tolist():
            started = time.perf_counter()
            kernel.sweep(start, start + length)
            busy.append(time.perf_counter() - started)

    team.share(sweep, len(starts))
    return sum(busy) / team.threads
