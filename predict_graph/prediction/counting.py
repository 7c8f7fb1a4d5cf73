"""Iterations and counters of a chain of algorithms by their methods, such as completed samples."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from predict_graph import iterations
from predict_graph.engines import Engine
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.kernel import runs_here
from predict_graph.engines.runtime_model import AnyGraph
from predict_graph.errors import JobError
from predict_graph.graph import Graph, check_graph
from predict_graph.prediction.request import Request


def estimates_of(graph: Graph, chain: Sequence[Request]) -> list[iterations.IterationEstimate]:
    """Estimate the iterations of each algorithm of a chain.

    Parameters
    ----------
    graph : Graph
    chain : sequence of Request
        In the order in which the algorithms run.
    """
    return [
        iterations.estimate_iterations(
            part.method,
            iterations.SamplingCase(
                graph=graph,
                algorithm=part.algorithm,
                engine=_counting_engine(part),
                transform=part.transform,
                sampler=part.sampler,
                ratio=part.ratio,
                budget=iterations.EdgeBudget(
                    graph.edges, part.max_overhead, named="max_overhead" in part.named
                ),
                rng=np.random.default_rng(part.seed).spawn(3)[0],
                progress=part.progress,
            ),
        )
        for part in chain
    ]


def _counting_engine(request: Request) -> Engine:
    """Return the engine that counts on samples: compiled kernels here, where there are any.

    Iterations and messages are those of the algorithm, whatever runs it; seconds are not.
    """
    engine = request.engine
    own = isinstance(engine, LocalEngine) and type(engine).run is LocalEngine.run
    if own or not runs_here(request.algorithm):
        return engine
    return LocalEngine(workers=engine.workers)


_LOADED: set[tuple[str, str, bool]] = set()


def load_compiled(graph: AnyGraph, chain: Sequence[Request]) -> None:
    """Load, or at first use build, the compiled code of the methods: on a graph of no size."""
    keys = {(part.algorithm.name, part.method.name, graph.directed) for part in chain}
    local = all(runs_here(part.algorithm) for part in chain)
    if keys <= _LOADED or not local or chain[-1].method.estimate is None:
        return
    _LOADED.update(keys)
    small = check_graph("rmat:scale=7,edge_factor=4", directed=graph.directed, seed=1)
    quiet = [
        replace(part, engine=LocalEngine(), progress=lambda text, fraction: None) for part in chain
    ]
    with suppress(JobError):  # of a user's program, which may need more than this graph has
        estimates_of(small, quiet)
