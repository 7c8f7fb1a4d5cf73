"""Edge lists in Parquet files and folders of them: two columns of ids, perhaps one of weights.

The columns are found by their names; see :mod:`predict_graph.graph.columns`. Text columns are read
as dictionaries: a text that comes a million times is stored once in a file, and in memory too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.columns import find_columns
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.edges import EdgeBlock
from predict_graph.graph.objects import check_weights, whole_numbers
from predict_graph.graph.readers.streams import Content
from predict_graph.limits import check_size, check_unpacked
from predict_graph.stopwatch import imported

_ROWS = 1 << 19  # limits the memory of rows at a time
# Rows at a time of texts that are stored as what differs from the one before, which can be
# unpacked to as many times their size: no more than the limit unpack_ratio has by default.
_ROWS_OF_DELTAS = 256  # as above


def open_parquet(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open a Parquet file.

    Raises
    ------
    RequestError
        If it is no Parquet file, or its columns are not those of an edge list.
    """
    content.close()
    return _opened(content.path, [content.path], wanted)


def open_parquet_folder(folder: Path, wanted: EdgeList) -> EdgeSource:
    """Open a folder of Parquet files, as Spark and others write it.

    Raises
    ------
    RequestError
        If there is none in it, or one is not an edge list like the others.
    """
    files = parquet_files(folder)
    if not files:
        raise RequestError(f"{folder} is a folder; accepted: a file, or a folder of Parquet files")
    return _opened(folder, files, wanted)


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files in a folder and those below it, but those of other programs."""
    found = (path for suffix in ("parquet", "pq") for path in folder.rglob(f"*.{suffix}"))
    return sorted(
        path
        for path in found
        if not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    )


def _opened(path: Path, files: Sequence[Path], wanted: EdgeList) -> EdgeSource:
    pa, _ = imported("pyarrow"), imported("pyarrow.parquet")
    tables = [_table(file) for file in files]
    check_size(f"{path}: the table", edges=sum(table.metadata.num_rows for table in tables))
    for file, table in zip(files, tables, strict=True):
        groups = [table.metadata.row_group(i) for i in range(table.metadata.num_row_groups)]
        size = file.stat().st_size
        check_unpacked(str(file), sum(group.total_byte_size for group in groups), size)
    schema = tables[0].schema_arrow
    names = schema.names
    if len(names) < 2:
        raise RequestError(f"{path} has one column; accepted: a source and a target")
    kinds, are_text, usable = zip(*(_kind_of(kind) for kind in schema.types), strict=True)
    columns = find_columns(names, str(path), wanted, usable)
    places = [columns.source, columns.target]
    places += [] if columns.weight is None else [columns.weight]
    chosen = [names[at] for at in places]
    for name in chosen:
        if names.count(name) > 1:
            raise RequestError(f"{path} has more than one column {name!r}; accepted: one")
    texts = any(are_text[at] for at in places[:2])
    for at in places[:2]:
        if not usable[at] or (are_text[at] and wanted.ids == "integer"):
            raise RequestError(
                f"{path}: the column {names[at]!r} holds {kinds[at]}, not ids; accepted: integers"
                + (", or text without --ids integer" if usable[at] else ", or text")
            )
    for file, table in zip(files, tables, strict=True):
        other = table.schema_arrow
        if any(
            name not in other.names or _kind_of(other.field(name).type)[0] != kinds[at]
            for at, name in zip(places, chosen, strict=True)
        ):
            raise RequestError(f"{file} has other columns than {files[0].name}")
    texts = texts or wanted.ids == "string"
    if texts and any(pa.types.is_floating(kinds[at]) for at in places[:2]):
        raise RequestError(f"{path}: ids of a column are floating-point numbers, others are text")
    blocks = (block for file in files for block in _blocks(file, chosen, texts))
    notes: tuple[str, ...] = ()
    if columns.bipartite and wanted.bipartite is None:
        notes = (f"read as bipartite: {chosen[0]} and {chosen[1]} (--no-bipartite changes that)",)
    return EdgeSource(blocks, bipartite=columns.bipartite, notes=notes)


def _table(file: Path, texts: Sequence[str] = ()) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(file, read_dictionary=list(texts))
        _ = table.schema_arrow.names, [chunk.path_in_schema for chunk in _chunks(table)]
    except UnicodeDecodeError:
        raise RequestError(f"{file}: the name of a column is not UTF-8") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise RequestError(f"{file} is not a Parquet file that can be read: {reason}") from error
    return table


def _kind_of(kind: Any) -> tuple[Any, bool, bool]:
    """Return the type of values, whether they are text, and whether they may be ids."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    text = bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
    return kind, text, text or bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _blocks(file: Path, chosen: list[str], as_text: bool) -> Iterator[EdgeBlock]:
    import pyarrow as pa

    done, unpacked, packed = 0, 0, file.stat().st_size
    ends: list[Any]
    rows, texts = _ROWS, chosen[:2] if as_text else []
    if texts and _has_deltas(_table(file), texts):
        rows, texts = _ROWS_OF_DELTAS, []  # pyarrow reads no dictionaries of them
    table = _table(file, texts)
    try:
        for batch in table.iter_batches(batch_size=rows, columns=chosen):
            batch.validate(full=True)
            unpacked += batch.nbytes
            check_unpacked(str(file), unpacked, packed)
            columns = [batch.column(name) for name in chosen]
            for name, column in zip(chosen, columns, strict=True):
                if column.null_count:
                    row = done + int(np.flatnonzero(column.is_null())[0]) + 1
                    raise RequestError(f"{file}: {name!r} is empty in row {row}")
            weights = None
            if len(chosen) > 2:
                weights = _weights(file, columns[2], chosen[2])
            if as_text:
                ends = [_texts(column) for column in columns[:2]]
            else:
                ends = [_integers(file, columns[i], chosen[i], done) for i in range(2)]
            done += len(batch)
            yield EdgeBlock(ends[0], ends[1], weights)
    except RequestError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise RequestError(f"{file} is damaged: {reason}") from error


def _has_deltas(table: Any, names: Sequence[str]) -> bool:
    chunks = (chunk for chunk in _chunks(table) if chunk.path_in_schema in names)
    return any("DELTA_BYTE_ARRAY" in chunk.encodings for chunk in chunks)


def _chunks(table: Any) -> Iterator[Any]:
    """Yield what the file says of each column of each group of rows."""
    facts = table.metadata
    for group in range(facts.num_row_groups):
        for column in range(facts.num_columns):
            yield facts.row_group(group).column(column)


def _decoded(column: Any) -> Any:
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def _integers(file: Path, column: Any, name: str, done: int) -> npt.NDArray[np.int64]:
    values = _decoded(column).to_numpy(zero_copy_only=False)
    ids, wrong = whole_numbers(values)
    if len(wrong):
        raise RequestError(
            f"{file}: {name!r} is {values[wrong[0]]} in row {done + int(wrong[0]) + 1}; "
            f"accepted: integers from 0 to {2**63 - 1}"
        )
    return ids


def _weights(file: Path, column: Any, name: str) -> npt.NDArray[np.float32]:
    import pyarrow as pa

    column = _decoded(column)
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise RequestError(f"{file}: the column {name!r} holds {column.type}, not numbers")
    values: npt.NDArray[np.float64] = column.to_numpy(zero_copy_only=False).astype(np.float64)
    check_weights(values, f"{file}")
    return values.astype(np.float32)


def _texts(column: Any) -> Any:
    """Return a column as a dictionary array of the texts that occur in it."""
    import pyarrow as pa

    coded = column if hasattr(column, "indices") else column.dictionary_encode()
    used, places = np.unique(coded.indices.to_numpy(zero_copy_only=False), return_inverse=True)
    texts = coded.dictionary.take(pa.array(used)).cast(pa.large_string())
    return pa.DictionaryArray.from_arrays(places.astype(np.int32), texts)
