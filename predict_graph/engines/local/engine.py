"""The engine that runs on this machine, in this process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from numbers import Integral
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import Algorithm, PageRank
from predict_graph.engines.base import IterationCallback, IterationProbe
from predict_graph.engines.local.output import check_output, write_values
from predict_graph.engines.local.pagerank import PageRankKernel
from predict_graph.engines.local.partition import MessageCounts, count_messages
from predict_graph.engines.local.probe import probe_cost
from predict_graph.engines.local.team import Team, available_threads
from predict_graph.engines.profile import TABLE_COLUMNS, RunProfile
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.plugins import Registry
from predict_graph.stopwatch import stopwatch

__all__ = ["KERNELS", "Kernel", "LocalEngine"]


class Kernel(Protocol):
    """One algorithm on one graph: built by ``Kernel(algorithm, graph, team)``, then stepped."""

    message_bytes: int
    working_set_bytes: int

    @property
    def values(self) -> npt.NDArray[Any]:
        """Result of each vertex."""

    def step(self) -> float:
        """Run one superstep and return the convergence aggregate."""


KERNELS: Registry[Callable[[Any, Graph, Team], Kernel]] = Registry(
    "local kernel",
    "predict_graph.local_kernels",
    {"pagerank": "predict_graph.engines.local.pagerank:PageRankKernel"},
)


class LocalEngine:
    """Runs algorithms with compiled kernels on the cores of this machine.

    Messages are counted as if the vertices were spread over `workers` machines by a hash
    (:func:`~predict_graph.engines.local.partition.worker_of`).

    Parameters
    ----------
    workers : int
        Virtual workers that messages are counted for; 4 by default.
    threads : int, optional
        Threads of a kernel; all cores by default. Results do not depend on it.

    Raises
    ------
    RequestError
        If `workers` or `threads` is out of range.
    """

    name = "local"
    virtual_workers = True

    def __init__(self, workers: int = 4, threads: int | None = None) -> None:
        if not isinstance(workers, Integral) or not 1 <= workers <= 65_536:
            raise RequestError(f"workers is {workers}; accepted: 1 to 65536")
        if threads is not None and not (isinstance(threads, Integral) and 1 <= threads <= 1024):
            raise RequestError(f"threads is {threads}; accepted: 1 to 1024")
        self.workers: int = int(workers)
        self.threads: int = available_threads() if threads is None else int(threads)

    def describe(self) -> dict[str, Any]:
        """Return name and settings."""
        return {"name": self.name, "workers": self.workers, "threads": self.threads}

    def run(
        self,
        algorithm: Algorithm,
        graph: Graph,
        *,
        threshold: float | None = None,
        max_iterations: int | None = None,
        progress: IterationCallback | None = None,
        write_to: Path | None = None,
    ) -> RunProfile:
        """Run an algorithm on a graph; see :class:`~predict_graph.engines.Engine`.

        Raises
        ------
        RequestError
            If the graph has no vertices, `threshold` or `max_iterations` is out of range, or the
            result could not be written.
        JobError
            If writing the result fails.
        """
        if graph.vertices == 0:
            raise RequestError(f"the graph {graph.name!r} has no vertices")
        target = algorithm.threshold(graph.vertices) if threshold is None else threshold
        limit = algorithm.max_iterations if max_iterations is None else max_iterations
        if not target >= 0.0:
            raise RequestError(f"threshold is {target}; accepted: a number of at least 0")
        if limit < 1:
            raise RequestError(f"max_iterations is {limit}; accepted: at least 1")
        if write_to is not None:
            check_output(write_to)
        build = KERNELS.get(algorithm.name)
        self._compile(algorithm, build)
        with Team(self.threads) as team:
            with stopwatch() as watch:
                kernel = build(algorithm, graph, team)
                setup = watch.seconds
            aggregates, seconds = _iterate(kernel, target, limit, progress)
        started = time.perf_counter()
        if write_to is not None:
            write_values(write_to, graph, kernel.values)
        write = time.perf_counter() - started if write_to is not None else 0.0
        counts = count_messages(graph, self.workers)
        return RunProfile(
            algorithm=algorithm.name,
            parameters=algorithm.to_dict(),
            graph=graph.describe(),
            engine=self.describe(),
            phases={
                "setup": setup,
                "read": graph.read_seconds,
                "superstep": float(seconds.sum()),
                "write": write,
            },
            table=_table(kernel, counts, aggregates, seconds),
            convergence=aggregates,
            converged=bool(len(aggregates) and aggregates[-1] < target),
            values=kernel.values,
        )

    def prepare(self, algorithm: Algorithm, graph: Graph) -> float:
        """Set an algorithm up on a graph as a run would, and return the seconds that it took."""
        build = KERNELS.get(algorithm.name)
        self._compile(algorithm, build)
        with Team(self.threads) as team, stopwatch() as watch:
            build(algorithm, graph, team)
            return watch.seconds

    def probe(
        self, algorithm: Algorithm, graph: Graph, rng: np.random.Generator
    ) -> IterationProbe | None:
        """Measure an iteration on a few rows, with the arrays of the whole graph."""
        if not isinstance(algorithm, PageRank):
            return None
        probe = probe_cost(graph, random_state=rng, algorithm=algorithm, threads=self.threads)
        table = probe.table[probe.table["active_vertices"] > 0]
        rates = table["seconds"] / (table["messages"] + table["active_vertices"])
        error = float(rates.std(ddof=0) / rates.mean()) / max(len(rates) - 1, 1) ** 0.5
        # A hash spreads the ends of edges evenly, so one message in `workers` stays where it is.
        local, size = table["messages"] // self.workers, PageRankKernel.message_bytes
        remote = table["messages"] - local
        rows = table[["active_vertices", "working_set_bytes", "seconds"]].assign(
            local_messages=local,
            remote_messages=remote,
            local_message_bytes=local * size,
            remote_message_bytes=remote * size,
        )
        return IterationProbe(probe.iteration_seconds(graph.vertices, graph.edges), error, rows)

    def _compile(self, algorithm: Algorithm, build: Callable[..., Kernel]) -> None:
        """Load the compiled kernel by running it on two vertices, so that no phase contains it."""
        key = (type(algorithm), os.getpid())
        if key in _COMPILED:
            return
        pair = Graph(np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32))
        for graph in (pair, Graph(pair.indptr, pair.indices, directed=False)):
            build(algorithm, graph, Team()).step()
            count_messages(graph, self.workers)
        _COMPILED.add(key)


_COMPILED: set[tuple[type[Algorithm], int]] = set()


def _iterate(
    kernel: Kernel, target: float, limit: int, progress: IterationCallback | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    aggregates: list[float] = []
    seconds: list[float] = []
    while len(aggregates) < limit:
        started = time.perf_counter()
        aggregates.append(kernel.step())
        seconds.append(time.perf_counter() - started)
        if progress is not None:
            progress(len(aggregates), aggregates[-1])
        if aggregates[-1] < target:
            break
    return np.array(aggregates), np.array(seconds)


def _table(
    kernel: Kernel,
    counts: MessageCounts,
    aggregates: npt.NDArray[np.float64],
    seconds: npt.NDArray[np.float64],
) -> pd.DataFrame:
    """One row per iteration and worker: every vertex sends along every edge, each time."""
    workers, iterations = len(counts.vertices), len(aggregates)
    size = kernel.message_bytes
    columns = {
        "iteration": np.repeat(np.arange(1, iterations + 1), workers),
        "worker": np.tile(np.arange(workers), iterations),
        "active_vertices": np.tile(counts.vertices, iterations),
        "total_vertices": np.tile(counts.vertices, iterations),
        "local_messages": np.tile(counts.local, iterations),
        "remote_messages": np.tile(counts.remote, iterations),
        "local_message_bytes": np.tile(counts.local * size, iterations),
        "remote_message_bytes": np.tile(counts.remote * size, iterations),
        "average_message_bytes": np.full(iterations * workers, float(size)),
        "seconds": np.repeat(seconds, workers),
        "convergence": np.repeat(aggregates, workers),
        "working_set_bytes": np.full(iterations * workers, kernel.working_set_bytes),
    }
    return pd.DataFrame(columns, columns=list(TABLE_COLUMNS))
