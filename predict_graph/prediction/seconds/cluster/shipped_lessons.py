"""Lessons that come with the package: what is known of a cluster before anything ran on it.

Made by ``python -m benchmarks.cluster_lessons``: sample runs of each algorithm, as a prediction
makes them, on two workers of one machine. Another cluster is faster or slower, by a factor that
every run there tells (:mod:`predict_graph.prediction.seconds.cluster.level`); what grows with what
is much the same.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from typing import Any

import pandas as pd

from predict_graph.algorithms import Algorithm, VertexProgram
from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm
from predict_graph.history import RunRecord
from predict_graph.prediction.seconds.cluster.lessons import cluster_run
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun

__all__ = [
    "FILE",
    "KEPT",
    "NAMES",
    "PROGRAM",
    "packed_lessons",
    "shipped_name",
    "shipped_records",
    "shipped_runs",
]

FILE = "shipped_lessons.json.gz"
"""Where the lessons are, beside this module."""

KEPT = "a state that is kept"
"""What the lessons are called that say what keeping a state takes: those of `--checkpoint`."""

PROGRAM = "a vertex program"
"""What the lessons are called that stand for all vertex programs."""
NAMES = (
    "pagerank",
    "connected-components",
    "label-propagation",
    "neighborhood",
    "topk-ranking",
    "semi-clustering",
    "shortest-paths",
    "k-core",
    "triangle-count",
    "personalised-pagerank",
    PROGRAM,
    "graphx:pageRank",
    "graphx:connectedComponents",
    "graphx:labelPropagation",
    "graphx:shortestPaths",
    "graphx:personalizedPageRank",
    "graphx:stronglyConnectedComponents",
    "graphx:triangleCount",
    "graphframes:connectedComponents",
)
"""Algorithms that have lessons."""

_DIGITS = 5  # that are kept of a measured figure; a choice
# What stands for an algorithm that has no lesson: one whose supersteps are all alike, or are not.
_STEADY, _SPREADING = "pagerank", "connected-components"
_FIELDS = (
    "algorithm",
    "parameters",
    "graph",
    "fingerprint",
    "vertices",
    "edges",
    "directed",
    "engine",
    "phases",
    "iterations",
    "converged",
    "sample",
)


def shipped_runs(name: str, *, first: bool) -> list[ClusterRun]:
    """Return the sample runs that come with the package of an algorithm that has some.

    Parameters
    ----------
    name : str
        As :func:`shipped_name` says.
    first : bool
        Whether it opens the session and reads: what runs after another does not.

    Examples
    --------
    >>> sorted({run.machines for run in shipped_runs("pagerank", first=True)})
    [1, 2]
    """
    return [cluster_run(record, first=first, elsewhere=True) for record in shipped_records(name)]


def shipped_records(name: str) -> list[RunRecord]:
    """Return the same runs as they are kept.

    Parameters
    ----------
    name : str
    """
    return _content()[name]


def shipped_name(algorithm: Algorithm) -> str:
    """Return the algorithm whose lessons stand for one: its own, or those of one that goes alike.

    GraphFrames has most of its algorithms run by GraphX.

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
    if name in NAMES:
        return name
    return _STEADY if algorithm.steady else _SPREADING


def packed_lessons(records: Sequence[RunRecord]) -> bytes:
    """Return the content of the file, from the sample runs of a history, in their order."""
    rows = []
    for record in records:
        kept: dict[str, Any] = {name: getattr(record, name) for name in _FIELDS}
        table = {
            str(name): [_rounded(value) for value in column.tolist()]
            for name, column in record.table.items()
        }
        rows.append({**kept, "time": record.time.isoformat(), "table": table})
    text = json.dumps(rows, separators=(",", ":"), sort_keys=True)
    return gzip.compress(text.encode(), mtime=0)


@lru_cache(maxsize=1)
def _content() -> dict[str, list[RunRecord]]:
    packed = files("predict_graph.prediction.seconds.cluster").joinpath(FILE).read_bytes()
    lessons: dict[str, list[RunRecord]] = {}
    for row in json.loads(gzip.decompress(packed)):
        time = datetime.fromisoformat(row.pop("time"))
        table = pd.DataFrame(row.pop("table"))
        record = RunRecord(kind="sample", table=table, time=time, machine="shipped", **row)
        lessons.setdefault(record.algorithm, []).append(record)
    return lessons


def _rounded(value: float) -> float:
    """Return a figure with as many digits as it deserves; whole numbers as they are."""
    return value if isinstance(value, int) else float(f"{value:.{_DIGITS}g}")
