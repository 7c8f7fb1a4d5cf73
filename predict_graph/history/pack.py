"""A numeric table as one compressed block of bytes, and back.

Columns are kept one after the other, which compresses counters that hardly change from iteration
to iteration to a fraction, and reads in microseconds.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["pack", "unpack"]

Columns = dict[str, npt.NDArray[Any]]


def pack(table: pd.DataFrame) -> tuple[str, int, bytes]:
    """Pack a numeric table.

    Returns
    -------
    types : str
        JSON: name and type (``i8`` or ``f8``) of each column, in order.
    rows : int
        Number of rows.
    cells : bytes
        Little-endian columns one after the other, compressed by zlib.
    """
    types, parts = [], []
    for name, kind in table.dtypes.items():
        values = table[name]
        if kind.kind == "f" or values.isna().any():
            short, cells = "f8", values.to_numpy("f8", na_value=np.nan)
        else:
            short, cells = "i8", values.to_numpy("i8")
        types.append([str(name), short])
        parts.append(cells.astype("<" + short, copy=False).tobytes())
    return json.dumps(types), len(table), zlib.compress(b"".join(parts), level=6)


def unpack(types: str, rows: int, cells: bytes) -> Columns:
    """Return the columns of a packed table, in order.

    Raises
    ------
    ValueError
        If the block is damaged.
    """
    try:
        content = zlib.decompress(cells)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    named = json.loads(types)
    if len(content) != 8 * rows * len(named):
        raise ValueError(f"{len(content)} bytes where {8 * rows * len(named)} belong")
    return {
        name: np.frombuffer(content, "<" + kind, rows, 8 * rows * position).copy()
        for position, (name, kind) in enumerate(named)
    }
