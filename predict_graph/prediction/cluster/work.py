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

_LEAST_SHARE = 2.0**-20  # of the edges that carry a message

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


def record_bytes(sample: RunProfile, sent: pd.DataFrame, edges: int) -> npt.NDArray[np.float64]:
    """Return the bytes of a record as Spark writes it, in each iteration of the real run.

    As in a sample run where as large a part of the edges carried a message: how long a message is
    goes with how far a run has come, and how far it has come with who still sends.

    Parameters
    ----------
    sample : RunProfile
        Of a run on Spark.
    sent : DataFrame
        See :func:`sent_messages`.
    edges : int
        Of the real graph.
    """
    names = ["local_messages", "remote_messages", "shuffle_write_bytes", "shuffle_write_records"]
    sums = sample.table.groupby("iteration")[names].sum().astype(np.float64)
    sums = sums[sums["shuffle_write_records"] > 0]
    if len(sums) == 0:
        return np.zeros(len(sent))
    share = (sums["local_messages"] + sums["remote_messages"]) / sample.graph["edges"]
    # Iterations of about the same share together: a few records of the last ones say little.
    steps = np.round(np.log2(np.maximum(share, _LEAST_SHARE)) * 2.0) / 2.0
    together = sums.groupby(steps)[names[2:]].sum()
    sizes = (together[names[2]] / together[names[3]]).to_numpy(dtype=np.float64)
    wanted = np.log2(np.maximum(sent["messages"].to_numpy() / max(edges, 1), _LEAST_SHARE))
    found: npt.NDArray[np.float64] = np.interp(wanted, together.index.to_numpy(np.float64), sizes)
    return found


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
