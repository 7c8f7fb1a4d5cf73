"""The features of a superstep: its work on the busiest worker of a cluster."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.algorithms import check_algorithm
from predict_graph.engines import RunProfile, Workload, critical_worker
from predict_graph.engines.spark.library.running import MERGED, RECORDS
from predict_graph.engines.spark.programs import program_of
from predict_graph.errors import RequestError
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.prediction.seconds.cluster.placement import Placement, combined_share
from predict_graph.prediction.seconds.cluster.record_sizes import RecordSizes
from predict_graph.table import Table

FloatArray = npt.NDArray[np.float64]

FEATURES = ("vertices", "messages", "records", "remote_bytes", "merged")
"""Features: vertices, messages, records and received bytes of the critical worker. Records
are messages after combining those to one vertex; where they are maps, combining visits so
many entries (merged), which is known for libraries only."""


def sent_messages(graph: AnyGraph, workload: Workload) -> pd.DataFrame:
    """Return active vertices and messages of each iteration, summed over workers.

    An algorithm with equal iterations sends along every edge.
    """
    if not workload.algorithm.steady:
        counters = workload.table
        messages = counters["local_messages"] + counters["remote_messages"]
        columns = {
            "active_vertices": counters["active_vertices"].to_numpy(np.float64),
            "messages": messages.to_numpy(np.float64),
        }
        return pd.DataFrame(columns)
    count = workload.iterations
    return pd.DataFrame(
        {
            "active_vertices": np.full(count, float(graph.vertices)),
            "messages": np.full(count, float(graph.edges)),
        }
    )


def predicted_rows(
    graph: AnyGraph,
    sent: pd.DataFrame,
    placement: Placement,
    sizes: RecordSizes,
    *,
    combines: bool = True,
    looks_up: bool = True,
) -> pd.DataFrame:
    """Return the features of each iteration of the real run."""
    machines = placement.machines
    messages = sent["messages"].to_numpy(np.float64)
    combined = records_a_message(graph, messages, placement.partitions, combines=combines)
    records = messages * combined
    volume = records * sizes.at(1.0 / combined)
    return pd.DataFrame(
        {
            "vertices": np.full(len(sent), graph.vertices * placement.vertex_skew / machines),
            "partitions": np.full(
                len(sent), placement.partitions / machines if looks_up else np.nan
            ),
            "messages": messages * placement.edge_skew / machines,
            "records": records / machines,
            "remote_bytes": volume * placement.remote_share / machines,
            "active_vertices": sent["active_vertices"].to_numpy(np.float64),
            **by_place(messages, 1.0 - placement.local_share, volume, placement.remote_share),
        }
    )


def records_a_message(
    graph: AnyGraph, messages: FloatArray, partitions: int, *, combines: bool
) -> FloatArray:
    """Return the records per message of each iteration: 1 where these are not combined."""
    share = np.clip(messages / max(graph.edges, 1), 1e-12, 1.0)
    if not combines:
        return np.ones(len(share))
    different, places = np.unique(share, return_inverse=True)  # equal iterations give equal rows
    return combined_share(graph.in_degree_counts, different, partitions)[places]


def by_place(
    messages: FloatArray, remote: float, volume: FloatArray, remote_bytes: float
) -> dict[str, FloatArray]:
    """Split messages and bytes into local and remote ones."""
    return {
        "local_messages": messages * (1.0 - remote),
        "remote_messages": messages * remote,
        "local_message_bytes": volume * (1.0 - remote_bytes),
        "remote_message_bytes": volume * remote_bytes,
    }


def rows_of_run(profile: RunProfile, machines: int) -> pd.DataFrame:
    """Return the features and the seconds of each iteration of a run, as :func:`busiest_rows`.

    On a local master one process has the threads of all machines, which share its work equally.
    """
    cores = int(profile.engine.get("cores", 1))
    partitions = cores * int(profile.engine.get("partitions_per_core", 1))
    try:
        looked_up = program_of(check_algorithm(profile.algorithm)).looks_up
    except RequestError:  # library code, or a user function
        looked_up = False
    local = str(profile.engine.get("master", "")).startswith("local")
    shared = machines if local and profile.table["worker"].nunique() == 1 else 1
    rows = busiest_rows(profile.table, machines, cores * shared, partitions if looked_up else None)
    counted = [name for name in FEATURES if name in rows]
    return rows.assign(**(rows[counted] / shared))


def without_spilling(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of iterations that did not spill, as spilling is estimated separately.

    All of them, if each did.
    """
    dry = rows[rows["spilled"] == 0.0]
    return dry if len(dry) else rows


def busiest_rows(
    table: pd.DataFrame, machines: int, cores: int = 1, partitions: int | None = None
) -> pd.DataFrame:
    """Return the features and the seconds of each iteration of a finished run."""
    rows = table[table["worker"] == critical_worker(Table(table))]
    messages = rows["local_messages"] + rows["remote_messages"]
    seconds = rows["seconds"].to_numpy(np.float64)
    working = np.minimum(rows["task_seconds"].to_numpy(np.float64) / cores, seconds)
    # An imported table may lack the column
    spilled = rows.get("spilled_bytes", pd.Series(0.0, rows.index))
    counted = {}
    records = rows["shuffle_read_records"]
    if MERGED in rows and rows[MERGED].notna().all():  # exact counts of the local replay
        records = rows[RECORDS]
        counted = {"merged": rows[MERGED].to_numpy(np.float64)}
    return pd.DataFrame(
        {
            **counted,
            "vertices": rows["total_vertices"].to_numpy(np.float64),
            "messages": messages.to_numpy(np.float64),
            "records": records.to_numpy(np.float64),
            "remote_bytes": rows["remote_message_bytes"].to_numpy(np.float64),
            "partitions": np.full(len(rows), np.nan if partitions is None else float(partitions)),
            "machines": np.full(len(rows), float(machines)),
            "seconds": seconds,
            "working": working,
            "processor": rows["cpu_seconds"].to_numpy(np.float64) / cores,
            "spilled": spilled.to_numpy(np.float64),
        }
    )
