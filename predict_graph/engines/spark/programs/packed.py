"""Conversion between binary columns and arrays, for values without a table type."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

IntArray = npt.NDArray[np.int64]


def words(column: pa.Array) -> tuple[IntArray, IntArray]:
    """Return a column of bytes as 64-bit words, and the bounds of each value.

    Examples
    --------
    >>> column = pa.array([np.array([1, 2]).tobytes(), None, np.array([3]).tobytes()])
    >>> starts, found = words(column[1:])
    >>> starts.tolist(), found[starts[1] : starts[2]].tolist()
    ([2, 2, 3], [3])
    """
    starts, data = _parts(column)
    return starts // 8, _read_only(np.frombuffer(data, np.int64, len(data) // 8))


def byte_offsets(column: pa.Array) -> IntArray:
    """Return the offsets of the values of a binary column, shape (n + 1,)."""
    return _parts(column)[0]


def byte_rows(column: pa.Array, width: int) -> npt.NDArray[np.uint8]:
    """Return a binary column without nulls as rows."""
    starts, data = _parts(column)
    first = int(starts[0])
    rows = np.frombuffer(data, np.uint8, len(column) * width, first)
    return _read_only(rows.reshape(-1, width))


def packed_rows(rows: npt.NDArray[Any]) -> pa.Array:
    """Return the rows of an array as a binary column of equal lengths."""
    rows = np.ascontiguousarray(rows)
    width = rows.itemsize * rows.shape[1]
    return packed(np.arange(len(rows) + 1) * width, rows)


def packed(starts: IntArray, values: npt.NDArray[Any]) -> pa.Array:
    """Return a binary column."""
    offsets = pa.py_buffer(starts.astype(np.int32))
    return pa.Array.from_buffers(
        pa.binary(), len(starts) - 1, [None, offsets, pa.py_buffer(np.ascontiguousarray(values))]
    )


def lists(column: pa.Array) -> tuple[IntArray, pa.Array]:
    """Return the offsets of the lists of a column and their items; null lists are empty.

    Examples
    --------
    >>> starts, found = lists(pa.array([[1, 2], None, [3]]))
    >>> starts.tolist(), found.tolist()
    ([0, 2, 2, 3], [1, 2, 3])
    """
    return column.offsets.to_numpy().astype(np.int64), column.values


def _parts(column: pa.Array) -> tuple[IntArray, pa.Buffer]:
    """Return offsets and bytes of a column with 32-bit or 64-bit offsets."""
    _, offsets, data = column.buffers()
    large = pa.types.is_large_binary(column.type)
    dtype: Any = np.int64 if large else np.int32
    size = np.dtype(dtype).itemsize
    if offsets is None or offsets.size == 0:
        return np.zeros(1, np.int64), pa.py_buffer(b"")
    starts = np.frombuffer(offsets, dtype, len(column) + 1, column.offset * size)
    return starts.astype(np.int64), pa.py_buffer(b"") if data is None else data


def _read_only(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view; numba treats writable arrays as another type."""
    values.flags.writeable = False
    return values
