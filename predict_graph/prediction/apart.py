"""A run in a process of its own, where nothing is warm from a prediction.

A process that has read a graph once reads it faster the second time: its memory is there already.
A prediction has to be held against what a run takes that starts from nothing.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from predict_graph.algorithms import Algorithm
from predict_graph.engines import Engine, RunProfile
from predict_graph.errors import JobError
from predict_graph.graph import check_graph

__all__ = ["run_apart"]


def run_apart(
    algorithm: Algorithm,
    engine: Engine,
    source: Any,
    *,
    directed: bool | None,
    ids: str,
    seed: int,
) -> RunProfile:
    """Read a graph and run an algorithm on it in a fresh process.

    Raises
    ------
    RequestError, JobError
        As in this process; also if the process dies, for want of memory for example.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        job = pool.submit(_run, algorithm, engine, source, directed, ids, seed)
        try:
            return job.result()
        except BrokenProcessPool as error:
            raise JobError("the process of the run died, perhaps for want of memory") from error


def _run(
    algorithm: Algorithm,
    engine: Engine,
    source: Any,
    directed: bool | None,
    ids: str,
    seed: int,
) -> RunProfile:
    return engine.run(algorithm, check_graph(source, directed=directed, ids=ids, seed=seed))
