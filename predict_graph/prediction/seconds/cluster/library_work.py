"""The work and exchanged bytes of library supersteps, from the local replay.

Records, map entries and copies of changed vertices are known exactly, for sample runs and the real
run. Their bytes after compression are fitted to the bytes that sample runs read, since a library
may read exchanged data again in the next superstep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.engines.spark.library.algorithm import LibraryAlgorithm, rounds_of
from predict_graph.graph import Graph
from predict_graph.prediction.seconds.cluster.sample_runs import ClusterRun
from predict_graph.prediction.seconds.cluster.superstep_features import by_place

FloatArray = npt.NDArray[np.float64]

_CARRIED = ("records", "entries", "received", "shipped")
_AGAIN = ("records", "entries", "shipped")  # may be read again in the next superstep


def library_rows(
    read: BytesRead,
    algorithm: LibraryAlgorithm,
    graph: Graph,
    machines: int,
    partitions: int,
    executors: int,
) -> pd.DataFrame:
    """Return the features and counters of each superstep of the real run."""
    rounds = rounds_of(algorithm, graph, partitions)
    volume = read.of(rounds, partitions)
    messages = rounds["messages"].to_numpy(np.float64)
    remote = 1.0 - 1.0 / executors
    rows = pd.DataFrame(
        {
            "vertices": np.full(len(rounds), graph.vertices / machines),
            "messages": messages / machines,
            "records": rounds["records"].to_numpy(np.float64) / machines,
            "remote_bytes": volume * remote / machines,
            "merged": rounds["merged"].to_numpy(np.float64) / machines,
            "active_vertices": rounds["active_vertices"].to_numpy(np.float64),
            **by_place(messages, remote, volume, remote),
        }
    )
    return rows


@dataclass(frozen=True)
class BytesRead:
    """The bytes read per unit of exchanged data, fitted to sample runs."""

    each: FloatArray
    first: float

    def of(self, rounds: pd.DataFrame, partitions: int) -> FloatArray:
        """Return the bytes that each superstep reads."""
        volume = _carried(rounds.assign(blocks=float(partitions) ** 2)) @ self.each
        volume[0] *= self.first
        return np.asarray(volume, dtype=np.float64)


def bytes_read(runs: Sequence[ClusterRun]) -> BytesRead:
    """Fit the bytes of exchanged data in sample runs by relative error."""
    sums = [_sums(run) for run in runs]
    carried = [_carried(each) for each in sums]
    skipped = 1 if any(len(each) > 1 for each in sums) else 0
    later = np.concatenate([each[skipped:] for each in carried])
    read = np.concatenate([each["read"].to_numpy(np.float64)[skipped:] for each in sums])
    # The last supersteps consist of block headers and get a small weight.
    weight = np.sqrt(read / max(read.max(), 1.0)) / np.maximum(read, 1.0)
    from scipy.optimize import nnls  # imported here because it is slow

    each, _ = nnls(later * weight[:, None], read * weight)
    firsts = np.array([float(own["read"].iloc[0]) for own in sums])
    largest = int(np.argmax(firsts))
    first = firsts[largest] / max(float(carried[largest][0] @ each), 1.0)
    return BytesRead(each, float(first))


def _carried(rounds: pd.DataFrame) -> FloatArray:
    """Return the exchanged data of each superstep, and of the previous one.

    Entries exclude one per record.
    """
    carried = rounds[[*_CARRIED, "blocks"]].to_numpy(np.float64)
    carried[:, 1] -= carried[:, 0]
    again = carried[:-1, [_CARRIED.index(name) for name in _AGAIN]]
    before = np.vstack((np.zeros(len(_AGAIN)), again))
    return np.hstack((carried, before))


def _sums(run: ClusterRun) -> pd.DataFrame:
    """Return the bytes read and data exchanged in each superstep of a sample run."""
    names = {f"twin_{name}": name for name in _CARRIED}
    columns = ["local_message_bytes", "remote_message_bytes", *names]
    sums = run.profile.table.groupby("iteration")[columns].sum().rename(columns=names)
    engine = run.profile.engine
    partitions = run.machines * int(engine["cores"]) * int(engine["partitions_per_core"])
    read = sums["local_message_bytes"] + sums["remote_message_bytes"]
    return sums.assign(read=read, blocks=float(partitions) ** 2)
