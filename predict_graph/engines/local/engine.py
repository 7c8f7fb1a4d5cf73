"""The engine that runs algorithms in this process, and writes their results.

A result has one line per vertex, with its original id and its values.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.arrays import Array, FloatArray
from predict_graph.cores import cores_allowed
from predict_graph.deadline import StopRun, deadline, time_left
from predict_graph.engines import base
from predict_graph.engines.local import observed
from predict_graph.engines.local.kernel import Kernel, kernel_of, supersteps
from predict_graph.engines.local.program import ProgramKernel, warm_up
from predict_graph.engines.local.tally import Tally
from predict_graph.engines.local.team import Team, available_threads
from predict_graph.engines.profile import PHASES, RunProfile, per_iteration
from predict_graph.errors import RequestError
from predict_graph.graph.csr import Graph, plain_labels
from predict_graph.graph.storage import check_table_file, write_table
from predict_graph.stopwatch import Stopwatch

if TYPE_CHECKING:
    import pyarrow as pa


class LocalEngine:
    """Runs algorithms with compiled kernels on the cores of this machine.

    Messages are counted as if the vertices were spread over `workers` machines by a hash
    (:func:`~predict_graph.engines.local.tally.worker_of`).

    Parameters
    ----------
    workers : int
        Virtual workers for which messages are counted; 4 by default.
    threads : int, optional
        Threads of a kernel; all cores by default. Results do not depend on it.

    Raises
    ------
    RequestError
        If `workers` or `threads` is out of range.
    """

    name = "local"
    virtual_workers = True
    runtime_model = "predict_graph.prediction.seconds.local:LocalRuntimeModel"

    def __init__(self, workers: int = 4, threads: int | None = None) -> None:
        if not isinstance(workers, Integral) or not 1 <= workers <= 65_536:
            raise RequestError(f"workers is {workers}; accepted: 1 to 65536")
        if threads is not None and not (isinstance(threads, Integral) and 1 <= threads <= 1024):
            raise RequestError(f"threads is {threads}; accepted: 1 to 1024")
        self.workers: int = int(workers)
        self.threads: int = available_threads() if threads is None else int(threads)

    def describe(self) -> dict[str, Any]:
        """Return name, settings, and the cores that the threads may keep busy under a quota."""
        settings = {"name": self.name, "workers": self.workers, "threads": self.threads}
        return {**settings, "cores": min(float(self.threads), cores_allowed())}

    def run(
        self,
        algorithm: Algorithm,
        graph: Graph,
        *,
        threshold: float | None = None,
        max_iterations: int | None = None,
        progress: base.IterationCallback | None = None,
        write_to: Path | None = None,
    ) -> RunProfile:
        """Run an algorithm on a graph; see :class:`~predict_graph.engines.Engine`.

        A run stops before the current deadline, if any; its profile then covers the completed
        supersteps and is marked ``stopped``.

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
        algorithm = algorithm.resolved(graph)
        rule = base.stopping_rule(algorithm, graph.vertices, threshold, max_iterations)
        if write_to is not None:
            check_table_file(write_to)
        build = self.load(algorithm)
        prior = None
        if algorithm.prior is not None:
            prior = self.run(algorithm.prior, graph, progress=base.follower_of(progress))
            if prior.stopped:
                return prior
        tally = Tally(graph, self.workers)
        with Team(self.threads) as team:
            watch = Stopwatch()
            kernel = build(algorithm, graph, team, *(() if prior is None else (prior.values,)))
            setup = watch.seconds
            if (follower := base.follower_of(progress)) is not None:
                follower.begins(algorithm, graph, *rule)
            aggregates, seconds, late = _iterate(kernel, team, tally, rule, progress)
        started = time.perf_counter()
        if write_to is not None:
            are_vertices = getattr(kernel, "values_are_vertices", False)
            write_values(write_to, graph, kernel.values, are_vertices=are_vertices)
        write = time.perf_counter() - started if write_to is not None else 0.0
        first = dict.fromkeys(PHASES, 0.0) | {"read": graph.read_seconds}
        took = {"setup": setup, "superstep": float(seconds.sum()), "write": write}
        return RunProfile(
            algorithm=algorithm.name,
            parameters=algorithm.to_dict(),
            named=dict(algorithm.named),
            graph=graph.describe(),
            engine=self.describe(),
            phases=first if prior is None else prior.phases,
            rows=tally.table(aggregates, seconds),
            convergence=aggregates,
            converged=bool(len(aggregates) and aggregates[-1] < rule[0]),
            values=kernel.values,
            result=dict(kernel.summary()),
            prior=prior,
            stopped=late is not None,
            unfinished=late or 0.0,
        ).with_seconds(**took)

    def survey(
        self, algorithm: Algorithm, graph: Graph, *, seconds: float = math.inf, probe: bool = True
    ) -> tuple[float, observed.IterationProbe | None]:
        """Set an algorithm up on a graph as a run would, and run its first supersteps.

        Arbitrary values replace the result of a preceding algorithm, which is not known yet; those
        of its first iteration for a user's program, which may use them as numbers of vertices.

        Parameters
        ----------
        algorithm : Algorithm
        graph : Graph
        seconds : float
            Limit of the supersteps.
        probe : bool
            Whether to run supersteps at all.

        Returns
        -------
        setup_seconds : float
        probe : IterationProbe or None
            None if not requested, or if almost nothing of a superstep ended in time.

        Raises
        ------
        StopRun
            If the current deadline has passed.
        """
        build = self.load(algorithm)
        prior = algorithm.prior
        standing_in: tuple[Any, ...] = () if prior is None else (np.arange(float(graph.vertices)),)
        if prior is not None and build is ProgramKernel:
            standing_in = (self.run(prior, graph, max_iterations=1).values,)
        with Team(self.threads) as team:
            watch = Stopwatch()
            kernel = build(algorithm, graph, team, *standing_in)
            setup = watch.seconds
            if not probe:
                return setup, None
            tally = Tally(graph, self.workers)
            team.limit(seconds, in_order=not algorithm.uneven)
            rule = (algorithm.threshold(graph.vertices), observed.PROBED_SUPERSTEPS)
            aggregates, took, late = _iterate(kernel, team, tally, rule)
            if late is not None and time_left() <= 0.0:
                raise StopRun
            found = observed.IterationProbe(took, per_iteration(tally.table(aggregates, took)))
            if late is None:
                with suppress(StopRun):
                    found = replace(found, idle_seconds=observed.idle_seconds(kernel))
            elif late and team.shared and len(took) < 2:  # by the part of a superstep that ended
                ended = time.perf_counter() - team.started
                whole = late - ended + ended / team.shared
                found = replace(found, seconds=np.append(took, whole))
            return setup, found if len(found.seconds) else None

    def load(self, algorithm: Algorithm) -> Callable[..., Kernel]:
        """Return a kernel, compiled by a run on two vertices: no phase includes compilation.

        Those of the algorithms before it are compiled, too.
        """
        if algorithm.prior is not None:
            self.load(algorithm.prior)
        build, key = kernel_of(algorithm), (type(algorithm), os.getpid())
        if build is ProgramKernel:  # a user's program may not run on two vertices
            warm_up()
        if build is ProgramKernel or key in _COMPILED:
            return build
        pair = Graph(np.array([0, 1, 2]), np.array([1, 0], dtype=np.int32))
        results = () if algorithm.prior is None else (np.array([0.6, 0.4]),)
        with deadline(None), suppress(*([] if algorithm.built_in else [Exception])):
            # The kernel of a user may need more than two vertices.
            for graph in (pair, Graph(pair.indptr, pair.indices, directed=False)):
                kernel = build(algorithm, graph, Team(), *results)
                tally = Tally(graph, self.workers)
                for _ in range(3):  # another compiled function may follow the first superstep
                    tally.add(kernel.step())
        _COMPILED.add(key)
        return build


_COMPILED: set[tuple[type[Algorithm], int]] = set()


def _iterate(
    kernel: Kernel, team: Team, tally: Tally, rule: tuple[float, int], progress: Any = None
) -> tuple[FloatArray, FloatArray, float | None]:
    """Run the supersteps; return aggregates, seconds, and those of one that a deadline stopped.

    The rule is a threshold, and the most supersteps.
    """
    target, limit = rule
    aggregates: list[float] = []
    seconds: list[float] = []
    late = None
    try:
        for superstep, took in supersteps(kernel, team, limit):
            seconds.append(took)
            aggregates.append(superstep.convergence)
            tally.add(superstep)
            if progress is not None:
                progress(len(aggregates), aggregates[-1])
            if aggregates[-1] < target:
                break
    except StopRun as stop:
        late = sum(stop.args, 0.0)
    return np.array(aggregates), np.array(seconds), late


def write_values(path: Path, graph: Graph, values: Array, *, are_vertices: bool = False) -> None:
    """Write the value of each vertex as CSV, TSV or Parquet, chosen by the suffix of `path`.

    Columns are ``vertex, value``, or ``vertex, value_1, value_2, …`` for several values per vertex.
    """
    import pyarrow as pa

    labels = graph.labels
    ids = pa.array(np.arange(graph.vertices) if labels is None else plain_labels(labels))
    named = {"value": values}
    if values.ndim > 1:
        named = {f"value_{number}": column for number, column in enumerate(values.T, start=1)}
    columns = {name: _column(each, ids if are_vertices else None) for name, each in named.items()}
    write_table(path, {"vertex": ids, **columns})


def _column(values: Array, ids: pa.Array | None) -> pa.Array:
    """Return a column of the file; vertices are replaced by their `ids`, negative ones by null."""
    import pyarrow as pa

    if ids is None:
        return pa.array(np.ascontiguousarray(values))
    return ids.take(pa.array(np.ascontiguousarray(values), mask=values < 0))
