"""Packing a graph on the cluster: numbered, sorted into blocks, written by the executors.

Three passes over the edges check them, find the ids that occur, and send edges to blocks. The
driver receives the ids, unless they are 0, 1, 2, …, and sees the folder of the blocks; it writes
those of executors that do not.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from predict_graph.arrays import Array, IntArray
from predict_graph.engines.spark.blocks import on_executors
from predict_graph.engines.spark.blocks.stored import PARCELS, Blocks, block_keys, opened
from predict_graph.engines.spark.session.executors import prepare_executors
from predict_graph.engines.spark.session.failures import spark_failures
from predict_graph.engines.spark.session.opening import OpenSession, temporary_folder
from predict_graph.engines.spark.tables.checkpoints import released
from predict_graph.engines.spark.tables.reading import ListedEdges, edge_source
from predict_graph.errors import RequestError
from predict_graph.graph import Graph
from predict_graph.graph.build import direction_of
from predict_graph.graph.csr import Described, edges_of
from predict_graph.limits import check_limit, limits


@dataclass(frozen=True)
class PackedGraph(Described):
    """A graph whose blocks the executors have written to a folder.

    Its vertices are the ids that occur, in ascending order. A repeated edge counts once, with the
    sum of its weights; an undirected graph has both directions, with the larger of two weights.
    """

    blocks: Blocks
    name: str
    source: str
    fingerprint: str
    directed: bool
    weighted: bool
    labels: IntArray | None = field(repr=False)
    read_seconds: float
    prepare_seconds: float
    """What the executors took to start their Python."""
    notes: tuple[str, ...] = ()

    @cached_property
    def edges(self) -> int:
        """The number of stored edges."""
        return sum(len(block.sources) for block in opened(self.blocks))

    @property
    def vertices(self) -> int:
        """The number of vertices."""
        return self.blocks.vertices

    @property
    def out_degrees(self) -> Array:
        """The out-degree of each vertex."""
        degrees = np.empty(self.vertices, np.int64)
        for block in opened(self.blocks):
            degrees[block.rows] = block.degrees
        return degrees


@contextmanager
def folder_for_blocks(session: OpenSession) -> Iterator[Path]:
    """Provide a folder for blocks; at the end, remove it."""
    with temporary_folder(session.folder) as folder:
        try:
            yield folder
        finally:
            opened.cache_clear()


def blocks_in(folder: Path, session: OpenSession, vertices: int) -> Blocks:
    """Return the blocks of a graph for the partitions of a session."""
    settings = session.settings
    return Blocks(folder, block_keys(settings.partitions), settings.machines, vertices)


@contextmanager
def packed_graph(
    session: OpenSession, graph: Any, *, directed: bool | None = None, most: int = 2**31 - 1
) -> Iterator[PackedGraph]:
    """Pack a graph on the cluster, in a folder; at the end, remove it.

    It has at most so many vertices: blocks have numbers of 32 bits.
    """
    began = time.perf_counter()
    seen = prepare_executors(session)
    started = time.perf_counter()
    source = edge_source(session.spark, graph)
    directed, notes = direction_of(source.directed, directed)
    with folder_for_blocks(session) as folder:
        with (
            spark_failures(f"reading {source.source} on Spark"),
            # Unless each pass over the edges can read them again.
            nullcontext() if source.cheap else released(source.table.persist()),
        ):
            highest, content = _check_edges(source)
            labels = _ids(source, highest)
            vertices = highest + 1 if labels is None else len(labels)
            if vertices > most:
                raise RequestError(
                    f"{source.source} has {vertices:,} vertices; accepted: up to {most:,}"
                )
            blocks = blocks_in(folder, session, vertices)
            _write(source, labels, blocks, both=not directed, seen=seen)
        yield PackedGraph(
            blocks=blocks,
            name=source.name,
            source=source.source,
            fingerprint=blake2b(f"{content} {directed}".encode(), digest_size=16).hexdigest(),
            directed=directed,
            weighted=source.weighted,
            labels=labels,
            read_seconds=time.perf_counter() - started,
            prepare_seconds=started - began,
            notes=notes + source.notes,
        )


def _check_edges(source: ListedEdges) -> tuple[int, str]:
    """Read all edges once; return the highest id, and what their order does not change."""
    columns = ", ".join(name for name in source.table.columns if name != "wrong")
    facts = source.table.selectExpr(
        "count(*) AS rows",
        "min(wrong) AS wrong",
        "max(greatest(src, dst)) AS highest",
        # Pairs of equal edges cancel out, but not in a sum; that of 32 bits each cannot overflow.
        f"bit_xor(xxhash64({columns})) AS mixed",
        f"sum(shiftright(xxhash64({columns}), 32)) AS added",
    ).first()
    if facts is None or facts["rows"] == 0:
        raise RequestError(f"{source.source} has no edges")
    if facts["wrong"] is not None:
        raise source.error(facts["wrong"])
    return int(facts["highest"]), " ".join(f"{facts[name]}" for name in ("rows", "mixed", "added"))


def _ids(source: ListedEdges, highest: int, most_bytes: int = 1 << 26) -> IntArray | None:
    """Return all ids that occur, ascending; None if they are 0, 1, 2, ….

    By bit sets, which need no shuffle, if all of them together take `most_bytes` or less.
    """
    ends = source.table.select("src", "dst")
    slots = max(ends.sparkSession.sparkContext.defaultParallelism, 1)
    if slots * (highest // 8 + 1) <= most_bytes:
        bits = np.zeros(highest // 8 + 1, np.uint8)
        task = partial(on_executors.seen_ids, highest=highest)
        for row in ends.coalesce(slots).mapInArrow(task, on_executors.VALUES).collect():
            bits |= np.frombuffer(row["values"], np.uint8)
        seen = np.unpackbits(bits)[: highest + 1]
        return None if seen.all() else np.flatnonzero(seen)
    ids = ends.selectExpr("explode(array(src, dst)) AS id").distinct()
    with released(ids.persist()):
        count = ids.count()
        if count == highest + 1:
            return None
        needed = 24 * count  # unsorted, joined and sorted
        taken = f"whose ids would take {needed:,} bytes of this process"
        check_limit("driver_bytes", needed, f"{source.source} has {count:,} vertices, {taken}")
        rows = ids.mapInArrow(on_executors.distinct_ids, on_executors.VALUES).toLocalIterator()
        return np.sort(np.concatenate([np.frombuffer(row["values"], np.int64) for row in rows]))


def _write(
    source: ListedEdges, labels: IntArray | None, blocks: Blocks, *, both: bool, seen: bool
) -> None:
    """Number the edges, and let the executors write them as blocks, if they see the folder."""
    columns = ["src", "dst", *(["weight"] if source.weighted else [])]
    ids = source.table.sparkSession.sparkContext.broadcast(labels)
    send = partial(on_executors.sent, ids=ids, blocks=blocks, both=both, weighted=source.weighted)
    edges = source.table.select(*columns).mapInArrow(send, PARCELS)
    edges = edges.repartition(len(blocks.keys), "to")
    written = edges.mapInArrow(partial(on_executors.written, blocks=blocks), PARCELS)
    try:
        with released(written.persist()):
            written.count()
            for row in [] if seen else written.toLocalIterator():
                if (content := pickle.loads(row["data"])) is not None:
                    blocks.file(row["sender"]).write_bytes(content)
    finally:
        with suppress(Exception):  # a failed session has released its memory
            ids.destroy()


def fits_here(packed: PackedGraph) -> bool:
    """Whether the whole graph fits within the limit ``driver_bytes``.

    It takes twelve bytes per edge for both directions and a temporary part, and 64 per vertex for
    most compiled kernels.
    """
    weight = 8 if packed.weighted else 0
    return (12 + weight) * packed.edges + 64 * packed.vertices <= limits().driver_bytes


def whole_graph(packed: PackedGraph) -> Graph:
    """Copy a graph to the driver, block by block."""
    indptr = np.zeros(packed.vertices + 1, np.int64)
    sources = np.empty(packed.edges, np.int32)
    weights = np.empty(packed.edges, np.float32) if packed.weighted else None
    for block in opened(packed.blocks):
        indptr[1 + block.rows] = np.diff(block.indptr)
    np.cumsum(indptr, out=indptr)
    for block in opened(packed.blocks):
        _, places = edges_of(indptr, block.rows)
        sources[places] = block.ids[block.sources]
        if weights is not None:
            weights[places] = block.weights
    reverse = Graph(indptr, sources, weights, directed=packed.directed, name=packed.name)
    graph = reverse.reverse if packed.directed else reverse
    # The fingerprint of runs in which Spark reads the graph, and how long it takes for that.
    names = ("name", "labels", "notes", "read_seconds", "fingerprint")
    about = {name: getattr(packed, name) for name in names}
    return graph.described_as(**about, packing_seconds=packed.read_seconds)
