"""Edge lists in Parquet files: two columns of ids, perhaps one of weights.

The columns are found by the names that headers of CSV files may have, or else are the first two.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.edges import EdgeBlock
from predict_graph.graph.objects import check_weights
from predict_graph.graph.readers.layout import find_columns
from predict_graph.graph.readers.streams import Content
from predict_graph.graph.text_ids import TextIds
from predict_graph.limits import beyond, check_size, limits

__all__ = ["open_parquet"]


def open_parquet(content: Content, ids: str) -> EdgeSource:
    """Open a Parquet file.

    Raises
    ------
    RequestError
        If it is no Parquet file, or its columns are not those of an edge list.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = content.path
    content.close()
    try:
        file = pq.ParquetFile(path)
        names, facts = file.schema_arrow.names, file.metadata
        rows = facts.num_rows
        size = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
    except UnicodeDecodeError:
        raise RequestError(f"{path}: the name of a column is not UTF-8") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise RequestError(f"{path} is not a Parquet file that can be read: {reason}") from error
    check_size(f"{path}: the table", edges=rows)
    if size > limits().unpacked_bytes:
        raise RequestError(
            f"{path} unpacks to too much; accepted: up to {beyond('unpacked_bytes')}"
        )
    if len(names) < 2:
        raise RequestError(f"{path} has one column; accepted: a source and a target")
    source, target, weight = find_columns(names)
    chosen = [names[source], names[target]] + ([] if weight is None else [names[weight]])
    for name in chosen:
        if names.count(name) > 1:
            raise RequestError(f"{path} has more than one column {name!r}; accepted: one")
    for name in chosen[:2]:
        kind = file.schema_arrow.field(name).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        if not (pa.types.is_integer(kind) or (ids == "string" and text)):
            raise RequestError(
                f"{path}: the column {name!r} holds {kind}, not ids; accepted: integers"
                + ("" if ids == "integer" and not text else ", or any text with --ids string")
            )
    text_ids = TextIds() if ids == "string" else None
    return EdgeSource(_blocks(path, file, chosen, text_ids), text_ids=text_ids)


def _blocks(
    path: Path, file: Any, chosen: list[str], text_ids: TextIds | None
) -> Iterator[EdgeBlock]:
    import pyarrow as pa

    done = 0
    ends: list[npt.NDArray[np.integer]]
    try:
        for batch in file.iter_batches(batch_size=1 << 19, columns=chosen):
            batch.validate(full=True)  # offsets and texts go to compiled code
            columns = [_plain(batch.column(name)) for name in chosen]
            for name, column in zip(chosen, columns, strict=True):
                if column.null_count:
                    row = done + int(np.flatnonzero(column.is_null())[0]) + 1
                    raise RequestError(f"{path}: {name!r} is empty in row {row}")
            weights = None
            if len(chosen) > 2:
                weights = _weights(path, columns[2], chosen[2])
            if text_ids is None:
                ends = [_integers(path, columns[i], chosen[i], done) for i in range(2)]
            else:
                ends = [_texts(column, text_ids) for column in columns[:2]]
            done += len(batch)
            yield EdgeBlock(ends[0], ends[1], weights)
    except RequestError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise RequestError(f"{path} is damaged: {reason}") from error


def _plain(column: Any) -> Any:
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def _integers(path: Path, column: Any, name: str, done: int) -> npt.NDArray[np.int64]:
    values = column.to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero((values < 0) | (values > np.uint64(2**63 - 1)))
    if len(wrong):
        raise RequestError(
            f"{path}: {name!r} is {values[wrong[0]]} in row {done + int(wrong[0]) + 1}; "
            f"accepted: integers from 0 to {2**63 - 1}"
        )
    ids: npt.NDArray[np.int64] = values.astype(np.int64)
    return ids


def _weights(path: Path, column: Any, name: str) -> npt.NDArray[np.float32]:
    import pyarrow as pa

    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise RequestError(f"{path}: the column {name!r} holds {column.type}, not numbers")
    values: npt.NDArray[np.float64] = column.to_numpy(zero_copy_only=False).astype(np.float64)
    check_weights(values, f"{path}")
    return values.astype(np.float32)


def _texts(column: Any, text_ids: TextIds) -> npt.NDArray[np.integer]:
    import pyarrow as pa

    texts = column.cast(pa.large_string())
    _, offsets, content = texts.buffers()
    starts = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    # The compiled table takes writable arrays.
    letters = np.frombuffer(content, np.uint8).copy() if content else np.empty(0, np.uint8)
    return text_ids.number(letters, starts[:-1].copy(), starts[1:].copy())
