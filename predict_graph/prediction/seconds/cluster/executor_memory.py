"""Whether the real run fits into the memory of its executors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.answers import readable_bytes
from predict_graph.engines.spark import SparkSettings
from predict_graph.graph import Graph
from predict_graph.prediction.seconds.cluster.runs import ClusterRun
from predict_graph.prediction.seconds.straight_line import fitted_line

FloatArray = npt.NDArray[np.float64]

_RESERVED = 300 << 20  # bytes of the heap reserved by Spark, by definition
# Default of Spark (spark.memory.fraction), of the rest: execution and storage; by definition
_UNIFIED = 0.6
# Measured (docs/studies/spark.md): core seconds per spilled byte, and spilled bytes relative to
# those of a hash table, since records are sorted, written, read and merged.
_A_BYTE_SPILLED, _SPILLED_OF_NEEDED = 5e-9, 1.2
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}  # by definition


@dataclass(frozen=True)
class ExecutorMemory:
    """The peak memory of an executor in the real run."""

    execution_bytes: float
    storage_bytes: float
    shuffle_bytes: float
    available_bytes: float
    spilled_bytes: FloatArray
    warnings: list[str] = field(default_factory=list)

    def spilling_seconds(self, slower: float) -> FloatArray:
        """Return the seconds of spilling in each iteration."""
        return _A_BYTE_SPILLED * slower * self.spilled_bytes

    def to_dict(self) -> dict[str, Any]:
        """Return the values for JSON."""
        return {
            "execution_bytes": int(self.execution_bytes),
            "storage_bytes": int(self.storage_bytes),
            "shuffle_bytes": int(self.shuffle_bytes),
            "available_bytes": int(self.available_bytes),
            "spilled_bytes": int(self.spilled_bytes.sum()),
        }


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
) -> ExecutorMemory | None:
    """Return the memory of an executor: a fixed part, and one that grows with its share.

    Spark allocates hash tables in pages of up to 64 MiB on large heaps, which dominate small runs
    and do not grow with the graph: the maximum of each size is used. Earlier runs of a session
    leave data in memory, so of storage it is the minimum.

    None without suitable runs: a log contains neither cached data nor the size of the graph.
    """
    telling = [run for run in runs if not run.seen_by_log and run.edges]
    if not telling:
        return None
    if len({_share_of(run) for run in telling}) == 1:
        telling = [*telling, *usual]
    share = (graph.vertices + graph.edges) / settings.machines
    execution = _at(share, telling, "peak_memory_bytes", max) * settings.cores
    storage = _at(share, telling, "storage_bytes", min)
    moved = float(rows[["local_message_bytes", "remote_message_bytes"]].to_numpy().sum())
    shuffle = moved / settings.machines
    available = max(heap_bytes(settings.memory) - _RESERVED, 0) * _UNIFIED
    needed = execution * _course(max(telling, key=_share_of), len(rows))
    spilled = np.where(needed + storage > available, _SPILLED_OF_NEEDED * needed, 0.0)
    warnings = []
    if execution + storage > available:
        needs, has = readable_bytes(execution + storage), readable_bytes(available)
        warnings.append(
            f"an executor needs about {needs} for tables and hash tables, but has {has} of its "
            f"{settings.memory}: it will spill to disk or fail; take more machines or more memory"
        )
    return ExecutorMemory(execution, storage, shuffle, available, spilled, warnings)


def _course(run: ClusterRun, iterations: int) -> FloatArray:
    """Return the memory of each iteration relative to the peak; constant after the last one."""
    held = run.record.table.groupby("iteration")["peak_memory_bytes"].max().to_numpy(np.float64)
    at = np.minimum(np.arange(iterations), len(held) - 1)
    course: FloatArray = held[at] / max(float(held.max()), 1.0)
    return course


def _share_of(run: ClusterRun) -> float:
    """Return the vertices and edges per machine."""
    return (run.record.vertices + run.edges) / run.machines


def _at(
    share: float,
    runs: Sequence[ClusterRun],
    column: str,
    kept: Callable[[list[float]], float],
) -> float:
    """Return the bytes for a share, on a line through those kept of the runs of each share."""
    seen: dict[float, list[float]] = defaultdict(list)
    for run in runs:
        seen[_share_of(run)].append(float(run.record.rows.floats(column).max()))
    return fitted_line(np.array([*seen]), np.array([kept(each) for each in seen.values()])).at(
        share
    )
