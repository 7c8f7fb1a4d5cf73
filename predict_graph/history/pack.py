"""A numeric table as one compressed block of bytes, and back.

Columns are kept one after the other, which compresses counters that hardly change from iteration
to iteration to a fraction, and reads in microseconds.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.inputs import parse_json
from predict_graph.limits import beyond, limits
from predict_graph.table import Table

Columns = dict[str, npt.NDArray[Any]]


def pack(rows: Table) -> tuple[str, int, bytes]:
    """Pack a numeric table."""
    types, parts = [], []
    for name, values in rows.items():
        short = "f8" if values.dtype.kind == "f" else "i8"
        types.append([name, short])
        parts.append(values.astype("<" + short, copy=False).tobytes())
    return json.dumps(types), len(rows), zlib.compress(b"".join(parts), level=6)


def unpack(types: str, rows: int, cells: bytes) -> Columns:
    """Return the columns of a packed table, in order."""
    named = parse_json(types, "the list of columns")
    if not isinstance(named, list) or not all(_is_column(each) for each in named):
        raise ValueError("the list of columns is no list of names and types")
    size = 8 * rows * len(named)
    if not 0 <= size <= limits().document_bytes:
        raise ValueError(f"it has {size:,} bytes; accepted: up to {beyond('document_bytes')}")
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(cells, size + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if len(content) != size or not (unpacking.eof or size == 0):
        raise ValueError(f"it has not the {size} bytes that belong there")
    return {
        name: np.frombuffer(content, "<" + kind, rows, 8 * rows * position).copy()
        for position, (name, kind) in enumerate(named)
    }


def _is_column(each: Any) -> bool:
    return (
        isinstance(each, list)
        and len(each) == 2
        and isinstance(each[0], str)
        and each[1] in ("i8", "f8")
    )
