"""Whether the real run fits into the memory of its executors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from predict_graph.answers import readable_bytes
from predict_graph.engines.spark import SparkSettings
from predict_graph.graph import Graph
from predict_graph.prediction.seconds.cluster.runs import ClusterRun
from predict_graph.prediction.seconds.regression import fitted_line

_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}  # by definition


def heap_bytes(memory: str) -> int:
    """Return the bytes of a size in Spark's notation, as its settings accept it.

    Examples
    --------
    >>> heap_bytes("2g"), heap_bytes("900M")
    (2147483648, 943718400)
    """
    return int(memory[:-1]) * _UNITS[memory[-1].lower()]


def memory_of(
    runs: list[ClusterRun],
    graph: Graph,
    rows: pd.DataFrame,
    settings: SparkSettings,
    usual: Sequence[ClusterRun],
) -> dict[str, int]:
    """Return the peak memory of an executor: a fixed part, and one that grows with its share.

    Spark allocates hash tables in pages of up to 64 MiB on large heaps, which dominate small runs
    and do not grow with the graph: the maximum of each size is used. Earlier runs of a session
    leave data in memory, so of storage it is the minimum.

    Empty without suitable runs: a log contains neither cached data nor the size of the graph.
    """
    telling = [run for run in runs if not run.seen_by_log and run.edges]
    if not telling:
        return {}
    if len({_share_of(run) for run in telling}) == 1:
        telling = [*telling, *usual]
    columns = ["peak_memory_bytes", "storage_bytes"]
    peaks = pd.DataFrame([run.record.table[columns].max() for run in telling]).astype(np.float64)
    by_share = peaks.groupby([_share_of(run) for run in telling])
    execution, storage = (
        fitted_line(each.index.to_numpy(np.float64), each.to_numpy(np.float64)).at(
            (graph.vertices + graph.edges) / settings.machines
        )
        for each in (by_share[columns[0]].max(), by_share[columns[1]].min())
    )
    moved = float(rows[["local_message_bytes", "remote_message_bytes"]].to_numpy().sum())
    heap = heap_bytes(settings.memory) - (300 << 20)  # which Spark reserves, by definition
    return {
        "execution_bytes": int(execution * settings.cores),
        "storage_bytes": int(storage),
        "shuffle_bytes": int(moved / settings.machines),
        "available_bytes": int(0.6 * max(heap, 0)),  # spark.memory.fraction, by default
    }


def memory_doubts(held: Mapping[str, int], memory: str) -> list[str]:
    """Say so when an executor needs more than it has of its memory."""
    if not held or held["execution_bytes"] + held["storage_bytes"] <= held["available_bytes"]:
        return []
    needs = readable_bytes(held["execution_bytes"] + held["storage_bytes"])
    return [
        f"an executor needs about {needs} for tables and hash tables, but has "
        f"{readable_bytes(held['available_bytes'])} of its {memory}: it will spill to disk or "
        "fail; take more machines or more memory"
    ]


def _share_of(run: ClusterRun) -> float:
    """Return the vertices and edges per machine."""
    return (run.record.vertices + run.edges) / run.machines
