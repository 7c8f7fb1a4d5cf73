"""Converting a file to the stored form without ever holding all its edges in memory.

The edges are written to a scratch file as they are read; then the rows are made range by range,
each range small enough for the memory that may be used. Beside that, the vertices take some bytes
each: their original ids, their numbers, their row pointers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.build import as_asked, direction_of
from predict_graph.graph.counting_sort import Rows, sorted_by_target, transposed
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.edges import EdgeBlock
from predict_graph.graph.generators import generated_source, is_generator
from predict_graph.graph.relabel import IdMap
from predict_graph.graph.row_kernels import merge_duplicates, union_of_rows
from predict_graph.graph.sides_apart import labels_apart, shifted
from predict_graph.graph.storage import (
    folder_beside,
    save_graph,
    write_header,
    write_labels,
)
from predict_graph.limits import check_size

# Bytes that making one edge's row takes at its peak.
_BYTES_AN_EDGE = 32  # judgement


def convert_graph(
    source: str | PathLike[str],
    folder: str | Path,
    *,
    directed: bool | None = None,
    ids: str | None = None,
    name: str | None = None,
    memory: int = 1 << 30,
) -> Path:
    r"""Convert a graph file to a folder that :func:`open_graph` maps into memory.

    The result is the same as that of reading the file and saving the graph.

    Parameters
    ----------
    source : str, Path or EdgeList
        A graph file, or a generator such as ``rmat:scale=26``, whose edges are written as they are
        drawn.
    folder : str or Path
        Where the stored graph goes; its file system needs room for the edges three times.
    directed, ids, name
        See :func:`check_graph`.
    memory : int
        Bytes that the edges may take at once.

    Raises
    ------
    RequestError
        If the file cannot be read or the folder not be written, or it has more vertices than the
        limits say (of edges there may be as many as the disk holds).
    JobError
        If writing fails, say because the disk is full.

    Examples
    --------
    >>> import tempfile
    >>> from predict_graph.graph import open_graph
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = Path(place) / "tiny.txt"
    ...     _ = file.write_text("7 9\n9 12\n9 7\n")
    ...     open_graph(convert_graph(file, Path(place) / "tiny.pgraph"))
    Graph('tiny', 3 vertices, 3 directed edges)
    """
    from predict_graph.graph.readers import name_of, open_source

    wanted = EdgeList.of(source, ids)
    path, folder = Path(wanted), Path(folder)
    made = not path.exists() and is_generator(str(wanted))
    name = name or (str(wanted) if made else name_of(path))
    opened = generated_source(str(wanted), directed) if made else open_source(wanted)
    if opened.graph is not None:
        return save_graph(as_asked(opened.graph, directed, name), folder)
    directed, notes = direction_of(opened.directed, directed)
    with folder_beside(folder) as beside:
        spill = _Spill(beside / "edges.part")
        n, labels = spill.fill(opened)
        check_size(str(path), vertices=n)
        if not spill.lengths:
            raise RequestError(f"{path} has no edges")
        if n >= 2**31:
            raise RequestError(f"{path} has {n} vertices; accepted: up to {2**31 - 1}")
        edges = _write_rows(beside, spill, n, not directed, max(memory // _BYTES_AN_EDGE, 1))
        spill.path.unlink()
        facts = {
            "name": name,
            "vertices": n,
            "edges": edges,
            "directed": directed,
            "notes": [*notes, *opened.notes],
            "weighted": spill.weighted,
            "labels": write_labels(beside, labels),
        }
        stored = _stored(beside, spill.weighted, not directed)
        write_header(beside, **facts, fingerprint=stored.fingerprint, labels_array=labels)
    return folder


def _stored(folder: Path, weighted: bool, both: bool) -> Graph:
    """Map what was written, which checks it."""
    indptr, indices, weights = (
        np.load(folder / f"{name}.npy", mmap_mode="r").view(np.ndarray) if there else None
        for name, there in (("indptr", True), ("indices", True), ("weights", weighted))
    )
    return Graph(indptr, indices, weights, directed=not both)  # type: ignore[arg-type]


@dataclass
class _Spill:
    """The edges in a scratch file, block by block; only vertices are held in memory."""

    path: Path
    lengths: list[tuple[int, np.dtype[Any], np.dtype[Any]]] = field(default_factory=list)
    weighted: bool = False
    _rank: Any = None
    _shift: int = 0
    _vertices: Any = None

    def fill(self, source: EdgeSource) -> tuple[int, npt.NDArray[np.generic] | None]:
        """Write all blocks; return the number of vertices and their original ids."""
        ids, highest = IdMap(), -1
        unnumbered = source.vertices is None and source.text_ids is None and not source.bipartite
        with self.path.open("wb") as file:
            for block in source.blocks:
                self.lengths.append((len(block.sources), block.sources.dtype, block.targets.dtype))
                block.sources.tofile(file)
                block.targets.tofile(file)
                if block.weights is not None:
                    self.weighted = True
                    block.weights.tofile(file)
                if source.bipartite:
                    highest = max(highest, int(block.sources.max()))
                if unnumbered:
                    ids.add(block.sources)
                    ids.add(block.targets)
        if source.vertices is not None:
            return source.vertices, None
        labels = None
        if source.text_ids is not None:
            rank, labels = source.text_ids.order()
            self._rank = rank.__getitem__
            highest = len(rank) - 1
        if source.bipartite and self.lengths:
            self._shift = highest + 1
            for block in self.blocks():
                ids.add(block.sources)
                ids.add(block.targets)
            numbers = ids.finish()
            self._vertices = ids.vertices_of
            return len(numbers), labels_apart(numbers, self._shift, labels)
        if source.text_ids is not None:
            return highest + 1, labels
        numbers = ids.finish()
        if not ids.identity:
            self._rank = ids.vertices_of
        return len(numbers), None if ids.identity else numbers

    def blocks(self) -> Iterator[EdgeBlock]:
        """Yield the blocks again, between vertices 0 … n - 1."""
        with self.path.open("rb") as file:
            for length, source_type, target_type in self.lengths:
                sources = np.fromfile(file, source_type, length)
                targets = np.fromfile(file, target_type, length)
                weights = np.fromfile(file, np.float32, length) if self.weighted else None
                if self._rank is not None:
                    sources, targets = self._rank(sources), self._rank(targets)
                block = EdgeBlock(sources, targets, weights)
                block = shifted(block, self._shift) if self._shift else block
                if self._vertices is not None:
                    block = EdgeBlock(
                        self._vertices(block.sources), self._vertices(block.targets), weights
                    )
                yield block


def _write_rows(beside: Path, spill: _Spill, n: int, both: bool, most: int) -> int:
    """Write indptr, indices and weights; return the number of stored edges."""
    degrees = np.zeros(n, np.int64)
    for block in spill.blocks():
        degrees += np.bincount(block.sources, minlength=n)
        if both:
            degrees += np.bincount(block.targets, minlength=n)
    listed = np.concatenate([[0], np.cumsum(degrees)])
    del degrees
    indptr = np.zeros(n + 1, np.int64)
    with ExitStack() as files:
        indices = files.enter_context((beside / "indices.npy").open("wb"))
        _array_header(indices, "<i4", int(listed[-1]))
        weights = None
        if spill.weighted:
            weights = files.enter_context((beside / "weights.npy").open("wb"))
            _array_header(weights, "<f4", int(listed[-1]))
        first = edges = 0
        while first < n:
            last = int(np.searchsorted(listed, listed[first] + most, side="right")) - 1
            last = min(max(last, first + 1), n)
            pointers, targets, values = _rows(spill, n, first, last, both)
            indptr[first + 1 : last + 1] = edges + pointers[1:]
            targets.astype(np.int32, copy=False).tofile(indices)
            if weights is not None:
                values.tofile(weights)
            edges += len(targets)
            first = last
        for file, kind in ((indices, "<i4"), (weights, "<f4")):
            if file is not None:
                file.seek(0)
                _array_header(file, kind, edges)
    np.save(beside / "indptr.npy", indptr)
    return edges


def _rows(spill: _Spill, n: int, first: int, last: int, both: bool) -> Rows:
    """Make the rows `first` to `last` - 1."""
    forward, backward = [], []
    for block in spill.blocks():
        forward.append(_part(block.sources, block.targets, block.weights, first, last))
        if both:
            backward.append(_part(block.targets, block.sources, block.weights, first, last))
    rows: Rows = merge_duplicates(*transposed(*sorted_by_target(forward, n), last - first))
    if both:
        others = merge_duplicates(*transposed(*sorted_by_target(backward, n), last - first))
        rows = union_of_rows(*rows, *others)
    return rows


def _part(
    rows: npt.NDArray[np.integer],
    columns: npt.NDArray[np.integer],
    weights: npt.NDArray[np.float32] | None,
    first: int,
    last: int,
) -> EdgeBlock:
    inside = (rows >= first) & (rows < last)
    return EdgeBlock(
        rows[inside] - first, columns[inside], None if weights is None else weights[inside]
    )


def _array_header(file: IO[bytes], kind: str, length: int) -> None:
    """Write the header of a ``.npy`` file; its size does not depend on the length."""
    header = {"descr": kind, "fortran_order": False, "shape": (length,)}
    np.lib.format.write_array_header_1_0(file, header)
