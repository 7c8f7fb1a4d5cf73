"""The engine that runs on this machine, in this process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numba
import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import Algorithm
from predict_graph.engines.base import IterationCallback
from predict_graph.engines.local.output import write_values
from predict_graph.engines.local.partition import MessageCounts, count_messages
from predict_graph.engines.profile import TABLE_COLUMNS, RunProfile
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.plugins import Registry

__all__ = ["KERNELS", "Kernel", "LocalEngine"]


class Kernel(Protocol):
    """One algorithm on one graph: built by ``Kernel(algorithm, graph)``, then stepped."""

    message_bytes: int
    working_set_bytes: int

    @property
    def values(self) -> npt.NDArray[Any]:
        """Result of each vertex."""

    def step(self) -> float:
        """Run one superstep and return the convergence aggregate."""


KERNELS: Registry[Callable[[Any, Graph], Kernel]] = Registry(
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

    def __init__(self, workers: int = 4, threads: int | None = None) -> None:
        if not 1 <= workers <= 65_536:
            raise RequestError(f"workers is {workers}; accepted: 1 to 65536")
        most = numba.config.NUMBA_NUM_THREADS
        if threads is not None and not 1 <= threads <= most:
            raise RequestError(f"threads is {threads}; accepted: 1 to {most}")
        self.workers = workers
        self.threads = threads or most

    def describe(self) -> dict[str, Any]:
        """Return name and settings."""
        return {"name": self.name, "workers": self.workers, "threads": self.threads}

    def kernel(self, algorithm: Algorithm, graph: Graph) -> Kernel:
        """Return the kernel of an algorithm, ready for its first superstep."""
        return KERNELS.get(algorithm.name)(algorithm, graph)

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
            If the graph has no vertices.
        JobError
            If the result cannot be written.
        """
        if graph.vertices == 0:
            raise RequestError(f"the graph {graph.name!r} has no vertices")
        target = algorithm.threshold(graph.vertices) if threshold is None else threshold
        limit = algorithm.max_iterations if max_iterations is None else max_iterations
        previous = numba.get_num_threads()
        numba.set_num_threads(self.threads)
        try:
            self._compile(algorithm)
            started = time.perf_counter()
            kernel = self.kernel(algorithm, graph)
            setup = time.perf_counter() - started
            aggregates, seconds = _iterate(kernel, target, limit, progress)
        finally:
            numba.set_num_threads(previous)
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

    def _compile(self, algorithm: Algorithm) -> None:
        """Load the compiled kernel by running it on two vertices, so that no phase contains it."""
        key = (type(algorithm), os.getpid())
        if key in _COMPILED:
            return
        pair = Graph(np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32))
        for graph in (pair, Graph(pair.indptr, pair.indices, directed=False)):
            self.kernel(algorithm, graph).step()
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
