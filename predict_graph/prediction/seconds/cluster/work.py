"""The work of each iteration of the real run on the busiest worker, for any machine count.

Messages and records are known: from the iteration estimate, from the local replay of a library, or,
for a user function, by the records of its largest sample, which grow as those of messages that
Spark combines by vertex and partition. The bytes of a record are those of that sample, as the
content of messages determines compression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.arrays import FloatArray, IndexArray
from predict_graph.engines import Workload
from predict_graph.engines.spark import SparkEngine, SparkSettings
from predict_graph.engines.spark.blocks.running import program_of
from predict_graph.engines.spark.functions.running import FunctionAlgorithm
from predict_graph.engines.spark.library import algorithm as library
from predict_graph.engines.spark.tables.hashing import partition_of
from predict_graph.graph import Graph
from predict_graph.prediction.seconds.cluster.runs import ClusterRun, shipped_name, shipped_runs

INDEX = 4.0  # bytes of a vertex's number in a message, by definition (engines.spark.blocks.program)
_UNITS = {"records": ("shuffle_write_records",), "messages": ("local_messages", "remote_messages")}
Sent = tuple[FloatArray, FloatArray]
"""The active vertices of each iteration, and its messages, summed over workers."""


def work_by_machines(
    graph: Graph, engine: SparkEngine, workload: Workload, runs: Sequence[ClusterRun]
) -> Callable[[int], pd.DataFrame]:
    """Return a function from a machine count to the features and counters of each iteration."""
    algorithm, on = workload.algorithm, engine.settings.on
    if isinstance(algorithm, library.LibraryAlgorithm):  # logs of others lack what a replay counts
        counted = [run for run in runs if library.RECORDS in run.record.rows]
        runs = counted or shipped_runs(shipped_name(algorithm))
    if not isinstance(algorithm, FunctionAlgorithm):  # whose records are after combining
        runs = [run for run in runs if not run.seen_by_log] or shipped_runs(shipped_name(algorithm))
    run = max(runs, key=lambda run: (run.machines > 1, run.summary.sampler != "folded", run.edges))
    if isinstance(algorithm, FunctionAlgorithm):
        return lambda machines: _of_function(graph, on(machines), workload.iterations, run)
    if isinstance(algorithm, library.LibraryAlgorithm):
        return lambda machines: _of_library(graph, engine, machines, algorithm, run)
    rows, alike = workload.rows, np.ones(workload.iterations)
    sent = graph.vertices * alike, graph.edges * alike  # along every edge
    if not algorithm.steady:
        sent = rows.floats("active_vertices"), rows.floats("local_messages", "remote_messages")
    unit = _unit(shipped_name(algorithm))
    program = program_of(algorithm)
    size = bytes_per_unit(run, unit)
    if unit == "records" and program.merges_by == "sender" and not program.all_known:
        # Records say which vertex sent them where not all send.
        ran, blocks = run.record.rows, run.machines * int(run.record.engine.get("cores", 1))
        partly = ran.floats("active_vertices") < ran.floats("total_vertices")
        records = ran.floats("shuffle_write_records")
        indexed = float((records * partly).sum() / max(records.sum(), 1.0))
        size -= INDEX * (1.0 - 1.0 / blocks) * indexed
    return lambda machines: _of_program(graph, on(machines), sent, (unit, size), program)


def _of_program(
    graph: Graph, settings: SparkSettings, sent: Sent, sizes: tuple[str, Any], program: Any
) -> pd.DataFrame:
    """Return the work of one of our programs, whose vertices are placed by a hash.

    `sizes` are to what bytes are proportional, and bytes per unit of that.
    """
    (unit, size), machines, partitions = sizes, settings.machines, settings.partitions
    (vertices, edges), (active, messages) = largest_shares(graph, machines, partitions), sent
    if program.merges_by == "sender":
        all_sent = graph.edges * combined_share(graph.out_degree_counts, 1.0, partitions)
        records = np.repeat(all_sent, len(messages))
        if not program.all_known:  # those that send may have more edges than others, or fewer
            of_all = _joined(graph.edges / max(graph.vertices, 1), partitions)
            own = _joined(messages / np.maximum(active, 1.0), partitions)
            records = records * messages / max(graph.edges, 1) * own / of_all
            size = size + INDEX * ((active < graph.vertices) & (unit == "records"))
    else:
        share = np.clip(messages / max(graph.edges, 1), 1e-12, 1.0)
        different, places = np.unique(share, return_inverse=True)  # equal iterations: equal rows
        records = messages * combined_share(graph.in_degree_counts, different, partitions)[places]
    busiest = (graph.vertices * vertices, messages * edges)
    volume = size * (records if unit == "records" else messages)
    return _rows(settings, busiest, sent, volume, 1.0 - 1.0 / machines)


def _of_library(
    graph: Graph, engine: SparkEngine, machines: int, algorithm: Any, run: ClusterRun
) -> pd.DataFrame:
    """Return the work of a library, whose records and map entries its local replay counts.

    It counts for the partitions of the engine; for others, by how combining joins messages.
    """
    settings, counted = engine.settings.on(machines), engine.settings.partitions
    rounds, degrees = library.rounds_of(algorithm, graph, counted), graph.in_degree_counts
    active, messages = rounds[["active_vertices", "messages"]].to_numpy(np.float64).T
    share = np.clip(messages / max(graph.edges, 1), 1e-12, 1.0)
    more = combined_share(degrees, share, settings.partitions)
    more /= combined_share(degrees, share, counted)
    seen = run.record.table[[library.RECORDS, library.ENTRIES]].to_numpy(np.float64).sum()
    read = run.record.table[["local_message_bytes", "remote_message_bytes"]].to_numpy().sum()
    moved = rounds["records"] + rounds["entries"]
    volume = more * moved.to_numpy(np.float64) * float(read) / max(float(seen), 1.0)
    remote = 1.0 - 1.0 / settings.executors
    busiest = (graph.vertices / machines, messages / machines)
    return _rows(settings, busiest, (active, messages), volume, remote)


def _of_function(
    graph: Graph, settings: SparkSettings, iterations: int, run: ClusterRun
) -> pd.DataFrame:
    """Return the work of a user function: the records of a sample, scaled as combined messages.

    Those of a real run are scaled by edges. The last iteration stands for all later ones.
    """
    names = ["active_vertices", "shuffle_read_records", "shuffle_write_bytes"]
    names.append("shuffle_write_records")
    sums = run.record.table.groupby("iteration")[names].sum().astype(np.float64)
    sums = sums.iloc[np.minimum(np.arange(iterations), len(sums) - 1)]
    growth = graph.edges / max(run.edges, 1)
    if combined := (run.record.sample or {}).get("combined_records"):
        growth = combined_records(graph, settings) / combined
    records = growth * sums["shuffle_read_records"].to_numpy()
    written = np.maximum(sums["shuffle_write_records"].to_numpy(), 1.0)
    volume = records * sums["shuffle_write_bytes"].to_numpy() / written
    active = sums["active_vertices"].to_numpy() * (graph.vertices / max(run.record.vertices, 1))
    busiest = (graph.vertices / settings.machines, records / settings.machines)
    return _rows(settings, busiest, (active, records), volume, 1.0 - 1.0 / settings.executors)


@lru_cache(maxsize=64)
def _unit(reference: str) -> str:
    """Return to what bytes are proportional: records, or messages if combining joins them.

    It is the one that explains the reference runs better, whose samples differ in density.
    """
    runs = [run for run in shipped_runs(reference) if run.machines > 1]
    return min(_UNITS, key=lambda unit: np.std([np.log(bytes_per_unit(run, unit)) for run in runs]))


def bytes_per_unit(run: ClusterRun, unit: str) -> float:
    """Return the bytes of a record, or message, of a run; 0 if it exchanged none."""
    sent, rows = _UNITS[unit], run.record.rows
    return float(rows.floats("shuffle_write_bytes").sum() / max(rows.floats(*sent).sum(), 1.0))


def _rows(
    settings: SparkSettings,
    busiest: tuple[float, FloatArray],
    sent: Sent,
    volume: FloatArray,
    remote: float,
) -> pd.DataFrame:
    """Return features of the busiest worker, and counters summed over all: local and remote."""
    (vertices, share), (active, messages) = busiest, sent
    moved = 1.0 - 1.0 / settings.executors
    return pd.DataFrame(
        {
            "vertices": np.full(len(messages), vertices),
            "messages": share,
            "remote_bytes": volume * moved / settings.machines,
            "active_vertices": active,
            "local_messages": messages * (1.0 - remote),
            "remote_messages": messages * remote,
            "local_message_bytes": volume * (1.0 - moved),
            "remote_message_bytes": volume * moved,
        }
    )


def largest_shares(graph: Graph, machines: int, partitions: int) -> tuple[float, float]:
    """Return the most vertices and the most edges of a machine, relative to all of the graph.

    Spark assigns rows to partitions by a Murmur3 hash of their key, and partitions to executors in
    turn. The hash is public.
    """
    workers = partition_of(np.arange(graph.vertices), partitions) % machines
    vertices, edges = np.bincount(workers), np.bincount(workers, graph.out_degrees)
    return vertices.max() / max(graph.vertices, 1), edges.max() / max(graph.edges, 1)


def _joined(degree: Any, partitions: int) -> Any:
    """Return the records of a vertex with so many edges relative to its messages."""
    return partitions * (1.0 - (1.0 - 1.0 / partitions) ** degree) / np.maximum(degree, 1e-300)


def combined_records(graph: Graph, settings: SparkSettings) -> float:
    """Return the records that reach the vertices if each edge carries a message."""
    share = combined_share(graph.in_degree_counts, 1.0, settings.partitions)
    return graph.edges * float(share[0])


def combined_share(
    degrees_counted: tuple[IndexArray, IndexArray], active: npt.ArrayLike, partitions: int
) -> FloatArray:
    """Return records relative to messages, one record for each vertex and partition.

    If a share a of the edges carries a message, a vertex with d edges gets ``P (1 - (1 - a/P)^d)``
    records from P partitions, with edges spread by a hash; a vertex that sends along all its edges
    sends as many with a = 1. `degrees_counted` are degrees, and how many vertices have each.

    Examples
    --------
    >>> combined_share(([1], [2]), [1.0], 4).round(3).tolist()
    [1.0]
    >>> combined_share(([8], [1]), [1.0], 2).tolist()
    [0.2490234375]
    """
    degrees, counts = (np.asarray(each) for each in degrees_counted)
    shares = np.atleast_1d(np.asarray(active, dtype=np.float64))
    edges = float((degrees * counts).sum())
    missed = (1.0 - shares[:, None] / partitions) ** degrees[None, :]
    records = partitions * ((1.0 - missed) * counts).sum(axis=1)
    return np.asarray(records / np.maximum(shares * edges, 1e-300))
