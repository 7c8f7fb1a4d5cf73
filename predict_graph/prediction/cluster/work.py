"""What a superstep has to do on the busiest worker of a cluster: the features of its seconds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.engines import RunProfile, critical_worker
from predict_graph.graph import Graph
from predict_graph.iterations import IterationEstimate
from predict_graph.prediction.cluster.placement import Placement, combined_share

__all__ = ["FEATURES", "busiest_rows", "predicted_rows", "record_bytes", "sent_messages"]

_FEW_RECORDS = 0.02  # of all records of a run

FEATURES = ("vertices", "messages", "records", "remote_bytes")
"""Of a superstep: vertices, messages, records and received bytes of the critical worker. Records
are messages after those to one vertex are combined."""


def sent_messages(graph: Graph, estimate: IterationEstimate) -> pd.DataFrame:
    """Return active vertices and messages of each iteration, on all workers together.

    As the estimate says; an algorithm whose iterations are alike sends along every edge.
    """
    if estimate.counters is not None:
        counters = estimate.counters
        messages = counters["local_messages"] + counters["remote_messages"]
        columns = {
            "active_vertices": counters["active_vertices"].to_numpy(np.float64),
            "messages": messages.to_numpy(np.float64),
        }
        return pd.DataFrame(columns)
    count = estimate.iterations
    return pd.DataFrame(
        {
            "active_vertices": np.full(count, float(graph.vertices)),
            "messages": np.full(count, float(graph.edges)),
        }
    )


def predicted_rows(
    graph: Graph,
    sent: pd.DataFrame,
    placement: Placement,
    bytes_per_record: npt.NDArray[np.float64],
) -> pd.DataFrame:
    """Return the features of each iteration of the real run.

    Parameters
    ----------
    graph : Graph
    sent : DataFrame
        See :func:`sent_messages`.
    placement : Placement
    bytes_per_record : ndarray of float64, shape (iterations,)
        As Spark writes records, from sample runs.

    Returns
    -------
    DataFrame
        ``FEATURES`` of the critical worker, and messages and bytes of all workers together:
        messages as they are sent, bytes as Spark moves them.
    """
    machines = placement.machines
    messages = sent["messages"].to_numpy(np.float64)
    share = np.clip(messages / max(graph.edges, 1), 1e-12, 1.0)
    records = messages * combined_share(graph.in_degrees, share, placement.partitions)
    volume = records * bytes_per_record
    return pd.DataFrame(
        {
            "vertices": np.full(len(sent), graph.vertices * placement.vertex_skew / machines),
            "messages": messages * placement.edge_skew / machines,
            "records": records / machines,
            "remote_bytes": volume * placement.remote_share / machines,
            "active_vertices": sent["active_vertices"].to_numpy(np.float64),
            "local_messages": messages * placement.local_share,
            "remote_messages": messages * (1.0 - placement.local_share),
            "local_message_bytes": volume * (1.0 - placement.remote_share),
            "remote_message_bytes": volume * placement.remote_share,
        }
    )


def record_bytes(sample: RunProfile, iterations: int) -> npt.NDArray[np.float64]:
    """Return the bytes of a record as Spark writes it, in each iteration of the real run.

    As in the same iteration of a sample run: what messages hold goes with how far a run has come.
    Later than a sample run came, as where it still sent a fiftieth of its records: the last few
    of a run have nothing beside them that they could be compressed with.

    Parameters
    ----------
    sample : RunProfile
        Of a run on Spark.
    iterations : int
        Of the real run.
    """
    names = ["shuffle_write_bytes", "shuffle_write_records"]
    sums = sample.table.groupby("iteration")[names].sum().astype(np.float64)
    written, records = (sums.loc[sums["shuffle_write_records"] > 0, name] for name in names)
    if len(records) == 0:
        return np.zeros(iterations)
    to_come = records.to_numpy()[::-1].cumsum()[::-1] / records.sum()
    last = max(int(np.count_nonzero(to_come > _FEW_RECORDS)), 1) - 1
    sizes: npt.NDArray[np.float64] = (written / records).to_numpy(dtype=np.float64)
    return sizes[np.minimum(np.arange(iterations), last)]


def busiest_rows(table: pd.DataFrame, machines: int, cores: int = 1) -> pd.DataFrame:
    """Return the features and the seconds of each iteration of a run that happened.

    Parameters
    ----------
    table : DataFrame
        Of a run on Spark: one row an iteration and worker.
    machines : int
    cores : int, default 1
        Of each machine.

    Returns
    -------
    DataFrame
        ``FEATURES`` of the critical worker, ``machines``, ``seconds``, and of these ``working``: in
        which tasks ran on that worker. The rest is the driver's, whatever the size of the graph.
        ``processor`` is how long a processor was busy with those tasks, in Java.
    """
    rows = table[table["worker"] == critical_worker(table)]
    messages = rows["local_messages"] + rows["remote_messages"]
    seconds = rows["seconds"].to_numpy(np.float64)
    working = np.minimum(rows["task_seconds"].to_numpy(np.float64) / cores, seconds)
    return pd.DataFrame(
        {
            "vertices": rows["total_vertices"].to_numpy(np.float64),
            "messages": messages.to_numpy(np.float64),
            "records": rows["shuffle_read_records"].to_numpy(np.float64),
            "remote_bytes": rows["remote_message_bytes"].to_numpy(np.float64),
            "machines": np.full(len(rows), float(machines)),
            "seconds": seconds,
            "working": working,
            "processor": rows["cpu_seconds"].to_numpy(np.float64) / cores,
        }
    )
