"""Bundled reference runs: the runtime model of a cluster without any runs.

Created by ``python -m benchmarks.cluster_training``: sample runs of each algorithm, as in a
prediction, on two workers of one machine. Another cluster differs by a factor that is estimated
from its runs (:mod:`predict_graph.prediction.seconds.cluster.costs`); the growth of costs
is assumed to be the same.
"""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from functools import lru_cache
from importlib.resources import files

from predict_graph.algorithms import Algorithm, VertexProgram
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm
from predict_graph.history import RunRecord
from predict_graph.prediction.seconds.cluster.runs import ClusterRun, cluster_run
from predict_graph.table import Table

FILE = "reference_runs.json.gz"
"""The file of reference runs in this folder."""

KEPT = "a state that is kept"
"""The name of the reference runs with checkpoints (`--checkpoint`)."""

PROGRAM = "a vertex program"
"""The name of the reference runs that represent all vertex programs."""

# Substitutes for an algorithm without reference runs: one with equal supersteps, one without.
_STEADY, _SPREADING = "pagerank", "connected-components"


def shipped_runs(name: str) -> list[ClusterRun]:
    """Return the bundled sample runs of an algorithm.

    Examples
    --------
    >>> sorted({run.machines for run in shipped_runs("pagerank")})
    [1, 2]
    """
    return [cluster_run(record) for record in shipped_records()[name]]


def shipped_names() -> list[str]:
    """Return the algorithms with reference runs."""
    return [name for name in shipped_records() if name != KEPT]


def shipped_name(algorithm: Algorithm) -> str:
    """Return the algorithm whose reference runs apply: its own, or those of a similar one.

    GraphFrames runs most of its algorithms by GraphX.

    Examples
    --------
    >>> from predict_graph.algorithms import check_algorithm
    >>> shipped_name(check_algorithm("semi-clustering"))
    'semi-clustering'
    >>> from predict_graph.builtin.libraries import library_algorithm
    >>> shipped_name(library_algorithm("graphframes:pageRank"))
    'graphx:pageRank'
    """
    if isinstance(algorithm, VertexProgram):
        return PROGRAM
    name = algorithm.runs if isinstance(algorithm, LibraryAlgorithm) else algorithm.name
    if name in shipped_names():
        return name
    return _STEADY if algorithm.steady else _SPREADING


@lru_cache(maxsize=1)
def shipped_records() -> dict[str, list[RunRecord]]:
    """Return the runs of each name as history records."""
    packed = files("predict_graph.prediction.seconds.cluster").joinpath(FILE).read_bytes()
    by_algorithm: dict[str, list[RunRecord]] = {}
    for row in json.loads(gzip.decompress(packed)):
        time = datetime.fromisoformat(row.pop("time"))
        rows = Table(row.pop("table"))
        record = RunRecord(kind="sample", rows=rows, time=time, machine="shipped", **row)
        by_algorithm.setdefault(record.algorithm, []).append(record)
    return by_algorithm
