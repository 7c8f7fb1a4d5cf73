"""A numeric table as one compressed block of bytes, and back.

Columns are kept one after the other, which compresses counters that hardly change from iteration
to iteration to a fraction, and reads in microseconds.
"""

from __future__ import annotations

import json
import zlib

import numpy as np

from predict_graph.inputs import parse_json
from predict_graph.limits import beyond, limits
from predict_graph.table import Table


def pack(rows: Table) -> tuple[str, int, bytes]:
    """Pack a numeric table."""
    types = [[name, "f8" if each.dtype.kind == "f" else "i8"] for name, each in rows.items()]
    cells = b"".join(rows[name].astype(f"<{kind}").tobytes() for name, kind in types)
    return json.dumps(types), len(rows), zlib.compress(cells)


def unpack(types: str, rows: int, cells: bytes) -> Table:
    """Return a packed table."""
    kinds = dict(parse_json(types, "the list of columns"))
    size = 8 * rows * len(kinds)
    if not 0 <= size <= limits().document_bytes:
        raise ValueError(f"it has {size:,} bytes; accepted: up to {beyond('document_bytes')}")
    content = inflated(cells, size)
    if len(content) != size:
        raise ValueError(f"it has not the {size} bytes that belong there")
    columns = np.frombuffer(bytearray(content), "<i8").reshape(len(kinds), rows)
    named = zip(kinds.items(), columns, strict=True)
    return Table(
        {str(name): each if kind == "i8" else each.view("<f8") for (name, kind), each in named}
    )


def inflated(packed: bytes, most: int, form: int = zlib.MAX_WBITS) -> bytes:
    """Return what compressed bytes hold, as long as that is no more than `most` bytes."""
    unpacking = zlib.decompressobj(form)
    content = unpacking.decompress(packed, most + 1)
    if len(content) > most or unpacking.unused_data or not (unpacking.eof or most == 0):
        raise ValueError(f"it is cut off, or has more than {most:,} bytes")
    return content
