"""Edges in columns of Arrow: of Parquet files, of tables of pandas and polars, of lists.

Text columns stay dictionaries: a text that comes a million times is in memory once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeBlock
from predict_graph.graph.objects import check_weights, whole_numbers
from predict_graph.stopwatch import imported


def value_type(kind: Any) -> Any:
    """Return the type of the values of a column, also of a dictionary."""
    pa = imported("pyarrow")
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_text(kind: Any) -> bool:
    """Tell whether values are text."""
    pa = imported("pyarrow")
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_number(kind: Any) -> bool:
    """Tell whether values are integers or floating-point numbers."""
    pa = imported("pyarrow")
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def ids_are_text(where: str, names: Sequence[str], kinds: Sequence[Any], wanted: EdgeList) -> bool:
    """Return whether the ids of two columns are to be read as text.

    Raises
    ------
    RequestError
        If a column holds no ids, or numbers that are no text next to text.
    """
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
    weights = _weights(where, columns[2], names[2]) if len(columns) > 2 else None
    ends: list[Any] = [
        _texts(column) if texts else _integers(where, column, name, row)
        for name, column in zip(names[:2], columns[:2], strict=True)
    ]
    return EdgeBlock(ends[0], ends[1], weights)


def _decoded(column: Any) -> Any:
    return column.dictionary_decode() if hasattr(column, "dictionary_decode") else column


def _integers(where: str, column: Any, name: str, row: int) -> npt.NDArray[np.int64]:
    values = _decoded(column).to_numpy(zero_copy_only=False)
    ids, wrong = whole_numbers(values)
    if len(wrong):
        raise RequestError(
            f"{where}: {name!r} is {values[wrong[0]]} in row {row + int(wrong[0]) + 1}; "
            f"accepted: integers from 0 to {2**63 - 1}"
        )
    return ids


def _weights(where: str, column: Any, name: str) -> npt.NDArray[np.float32]:
    column = _decoded(column)
    if not is_number(column.type):
        raise RequestError(f"{where}: the column {name!r} holds {column.type}, not numbers")
    values: npt.NDArray[np.float64] = column.to_numpy(zero_copy_only=False).astype(np.float64)
    check_weights(values, where)
    return values.astype(np.float32)


def _texts(column: Any) -> Any:
    """Return a column as a dictionary array of the texts that occur in it."""
    pa = imported("pyarrow")
    coded = column if hasattr(column, "indices") else column.dictionary_encode()
    used, places = np.unique(coded.indices.to_numpy(zero_copy_only=False), return_inverse=True)
    texts = coded.dictionary.take(pa.array(used)).cast(pa.large_string())
    return pa.DictionaryArray.from_arrays(places.astype(np.int32), texts)
