"""What a superstep on the whole graph costs, measured on a few blocks of its rows.

The arrays of the whole graph are set up as for a run, and the compiled superstep runs for a few
blocks of rows: its messages come from memory where those of a sample come from a cache.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.engines.base import IterationProbe
from predict_graph.engines.local.team import Team
from predict_graph.graph import Graph

__all__ = ["Sweeping", "counted_rows", "probe_by_sweeps"]

_SHARE = 0.02  # of the blocks, for one measurement
_FEWEST_BLOCKS = 8
_REPEATS = 4


@runtime_checkable
class Sweeping(Protocol):
    """A kernel that can do the work of a superstep for some blocks of rows."""

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
    """Measure the first superstep on blocks that are drawn at random, each time others.

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
        None if the kernel cannot, or the graph has too few rows to take a part of them.
    """
    if not isinstance(kernel, Sweeping):
        return None
    count = len(kernel.blocks) - 1
    size = max(int(_SHARE * count), _FEWEST_BLOCKS)
    if count < (_REPEATS + 1) * size:
        return None
    order = rng.permutation(count)
    edges = np.diff(graph.reverse.indptr[kernel.blocks])
    rows = np.diff(kernel.blocks)
    measured = []
    for repeat in range(_REPEATS + 1):
        chosen = np.sort(order[repeat * size : (repeat + 1) * size])
        started = time.perf_counter()
        team.share(partial(_sweep, kernel, chosen), len(chosen))
        seconds = time.perf_counter() - started
        measured.append((rows[chosen].sum(), edges[chosen].sum(), seconds))
    vertices, messages, seconds_taken = np.array(measured[1:]).T
    rates = seconds_taken / (messages + vertices)
    whole = float(rates.mean()) * (graph.edges + graph.vertices)
    error = float(rates.std() / rates.mean()) / max(len(rates) - 1, 1) ** 0.5
    rows_measured = counted_rows(
        vertices, messages, kernel.message_bytes, kernel.working_set_bytes, seconds_taken, workers
    )
    return IterationProbe(whole, error, rows_measured)


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


def _sweep(kernel: Sweeping, chosen: npt.NDArray[np.integer], first: int, last: int) -> None:
    for block in chosen[first:last]:
        kernel.sweep(int(block), int(block) + 1)
