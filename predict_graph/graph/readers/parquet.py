"""Edges in columns of Arrow: of Parquet files and folders of them, of tables, of lists.

The columns are found by their names; see :mod:`predict_graph.graph.columns`. Text columns stay
dictionaries: a text that comes a million times is in memory once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from predict_graph.arrays import IntArray
from predict_graph.errors import RequestError, explained, explained_by_system
from predict_graph.graph.build import weights_of
from predict_graph.graph.columns import find_columns
from predict_graph.graph.edge_list import EdgeBlock, EdgeList, EdgeSource
from predict_graph.graph.readers.streams import Content
from predict_graph.limits import check_size, check_unpacked
from predict_graph.stopwatch import imported

NO_TABLES = "is a folder; accepted: a file, or a folder of Parquet files, or of text in part-*"


def open_parquet(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open a Parquet file.

    Raises
    ------
    RequestError
        If it is no Parquet file, or its columns are not those of an edge list.
    """
    content.close()
    return open_tables([content.path], content.path, wanted)


def is_data(name: str) -> bool:
    """Return whether a file below a folder holds Parquet, or a part of a text; none is hidden."""
    parts = name.split("/")
    hidden = any(part.startswith(("_", ".")) for part in parts)
    return not hidden and (is_parquet(name) or parts[-1].startswith("part-"))


def is_parquet(name: str) -> bool:
    """Return whether a file is Parquet by its name."""
    return name.lower().endswith((".parquet", ".pq"))


def data_files(folder: Path) -> list[Path]:
    """Return the files in a folder and those below it that hold data; empty texts do not."""

    def stop(error: OSError) -> None:
        raise error

    found: list[Path] = []
    with explained_by_system(f"{folder} cannot be searched for files"):
        for at, below, files in os.walk(folder, onerror=stop):
            below[:] = [name for name in below if not name.startswith(("_", "."))]
            found += [Path(at, name) for name in files if is_data(name)]
        return sorted(each for each in found if is_parquet(each.name) or each.stat().st_size)


def open_tables(files: list[Path], path: Path, wanted: EdgeList) -> EdgeSource:
    """Open Parquet files that are the graph at a path together, as Spark and others write them.

    Raises
    ------
    RequestError
        If there is none, or one is not an edge list like the others.
    """
    if not files:
        raise RequestError(f"{path} {NO_TABLES}")
    imported("pyarrow"), imported("pyarrow.parquet")
    footers = {}
    for file in files:
        with _table(file) as table:
            metadata, footers[file] = table.metadata, (table.metadata, table.schema_arrow)
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        unpacked = sum(group.total_byte_size for group in groups)
        check_unpacked(str(file), unpacked, file.stat().st_size)
    rows = sum(metadata.num_rows for metadata, _ in footers.values())
    check_size(f"{path}: the table", edges=rows)
    first = footers[files[0]][1]
    names, kinds = first.names, list(map(value_type, first.types))
    usable = [is_text(kind) or is_number(kind) for kind in kinds]
    found = find_columns(names, str(path), wanted, usable)
    chosen, types = ([each[at] for at in found.places] for each in (names, kinds))
    for name in chosen:
        if names.count(name) > 1:
            raise RequestError(f"{path} has more than one column {name!r}; accepted: one")
    texts = ids_are_text(str(path), chosen, types, wanted)
    for file, (_, schema) in footers.items():
        own = {each.name: value_type(each.type) for each in schema}
        if [own.get(name) for name in chosen] != types:
            raise RequestError(f"{file} has other columns than {files[0].name}")
    blocks = (block for file in files for block in _blocks(file, footers[file][0], chosen, texts))
    notes = found.notes(names, wanted)
    if found.kind is not None and names[found.kind].lower() == "directed":
        notes += (f"the column {names[found.kind]!r} of a Parquet file is not read",)
    return EdgeSource(blocks, bipartite=found.bipartite, notes=notes)


def _table(file: Path, texts: Sequence[str] = ()) -> Any:
    import pyarrow.parquet as pq

    with explained(f"{file} is not a Parquet file that can be read"):
        table = pq.ParquetFile(file, read_dictionary=list(texts))
        _ = table.schema_arrow.names, [chunk.path_in_schema for chunk in _chunks(table.metadata)]
    return table


def _blocks(file: Path, facts: Any, chosen: list[str], as_text: bool) -> Iterator[EdgeBlock]:
    done, unpacked, packed = 0, 0, file.stat().st_size
    rows, texts = 1 << 19, chosen[:2] if as_text else []
    chunks = (chunk for chunk in _chunks(facts) if chunk.path_in_schema in texts)
    if any("DELTA_BYTE_ARRAY" in chunk.encodings for chunk in chunks):
        # Texts that are stored as what differs from the one before can be unpacked to as many times
        # their size as there are rows. pyarrow reads no dictionaries of them.
        rows, texts = 256, []
    table = _table(file, texts)
    with explained(f"{file} is damaged"):
        for batch in table.iter_batches(batch_size=rows, columns=chosen):
            batch.validate(full=True)
            unpacked += batch.nbytes
            check_unpacked(str(file), unpacked, packed)
            columns = [batch.column(name) for name in chosen]
            yield edge_block(str(file), chosen, columns, texts=as_text, row=done)
            done += len(batch)


def _chunks(facts: Any) -> Iterator[Any]:
    """Return what the metadata of a file say of each column of each group of rows."""
    places = product(range(facts.num_row_groups), range(facts.num_columns))
    return (facts.row_group(group).column(column) for group, column in places)


def value_type(kind: Any) -> Any:
    """Return the type of the values of a column, also of a dictionary."""
    return kind.value_type if imported("pyarrow").types.is_dictionary(kind) else kind


def is_text(kind: Any) -> bool:
    """Return whether values are text."""
    pa = imported("pyarrow")
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(each(kind) for each in kinds)


def is_number(kind: Any) -> bool:
    """Return whether values are integers, floating-point or decimal numbers."""
    kinds = imported("pyarrow").types
    return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind))


def ids_are_text(where: str, names: Sequence[str], kinds: Sequence[Any], wanted: EdgeList) -> bool:
    """Return whether the ids of two columns are to be read as text.

    Raises
    ------
    RequestError
        If a column holds no ids, or numbers that are no text next to text; if a header is named,
        which text files alone have.
    """
    if wanted.header is not None:
        raise RequestError(f"{where}: header is of text files; accepted: a table without it")
    for name, kind in zip(names[:2], kinds[:2], strict=True):
        if not is_number(kind) and (not is_text(kind) or wanted.ids == "integer"):
            raise RequestError(
                f"{where}: the column {name!r} holds {kind}, not ids; accepted: integers, or text"
                + (" without --ids integer" if is_text(kind) else "")
            )
    texts = wanted.ids == "string" or any(map(is_text, kinds[:2]))
    if texts and any(imported("pyarrow").types.is_floating(kind) for kind in kinds[:2]):
        raise RequestError(f"{where}: ids of a column are floating-point numbers, others are text")
    return texts


def edge_block(
    where: str, names: Sequence[str], columns: Sequence[Any], *, texts: bool, row: int = 0
) -> EdgeBlock:
    """Return the edges of two columns of ids and perhaps one of weights, from this row on.

    Raises
    ------
    RequestError
        If a value is missing, or is no id or weight.
    """
    for name, column in zip(names, columns, strict=True):
        if column.null_count:
            empty = row + int(np.flatnonzero(column.is_null())[0]) + 1
            raise RequestError(f"{where}: {name!r} is empty in row {empty}")
    weights = None
    if len(columns) > 2:
        column = _decoded(columns[2])
        if not is_number(column.type):
            raise RequestError(f"{where}: the column {names[2]!r} holds {column.type}, not numbers")
        values = column.cast("float64", safe=False).to_numpy(zero_copy_only=False)
        weights = weights_of(values, where).astype(np.float32)
    ends: list[Any] = [
        _texts(column) if texts else _integers(where, column, name, row)
        for name, column in zip(names[:2], columns[:2], strict=True)
    ]
    return EdgeBlock(ends[0], ends[1], weights)


def _decoded(column: Any) -> Any:
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def _integers(where: str, column: Any, name: str, row: int) -> IntArray:
    column = _decoded(column)
    if imported("pyarrow").types.is_decimal(column.type):
        with explained(f"{where}: {name!r} holds no integers from 0 to {2**63 - 1}"):
            column = column.cast("int64")
    values = column.to_numpy(zero_copy_only=False)
    most = 2.0**63 if values.dtype.kind == "f" else np.uint64(2**63)
    good = (values >= 0) & (values < most) & (values == np.floor(values))
    if not good.all():
        wrong = int(np.argmin(good))
        raise RequestError(
            f"{where}: {name!r} is {values[wrong]} in row {row + wrong + 1}; "
            f"accepted: integers from 0 to {2**63 - 1}, or any text with --ids string"
        )
    ids: IntArray = values.astype(np.int64)
    return ids


def _texts(column: Any) -> Any:
    """Return a column as a dictionary array of the texts that occur in it."""
    pa = imported("pyarrow")
    coded = column if hasattr(column, "indices") else column.dictionary_encode()
    used, places = np.unique(coded.indices.to_numpy(zero_copy_only=False), return_inverse=True)
    texts = coded.dictionary.take(pa.array(used)).cast(pa.large_string())
    return pa.DictionaryArray.from_arrays(places.astype(np.int32), texts)
