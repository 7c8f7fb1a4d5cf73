"""Reading ``.npy`` data whose header is not believed."""

from __future__ import annotations

from typing import IO, Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.limits import beyond, limits


def read_array(file: IO[bytes], name: str, size: int) -> npt.NDArray[Any]:
    """Return an array; its length is looked at before memory is taken for it.

    Parameters
    ----------
    file : file
        At the beginning of ``.npy`` data.
    name : str
        For errors.
    size : int
        Bytes of the data with their header.

    Raises
    ------
    RequestError
        If it holds something else than numbers or short texts, or has more elements than the bytes
        or the limits allow.
    ValueError
        If the header cannot be read.
    """
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, by_column, kind = np.lib.format.read_array_header_1_0(file)
        else:
            shape, by_column, kind = np.lib.format.read_array_header_2_0(file)
    except Exception as error:  # of numpy, Python's tokenizer among it
        raise ValueError(f"the array {name[:40]!r} has no header that can be read") from error
    if kind.kind not in "biufSU" or (by_column and len(shape) > 1):
        raise RequestError(f"the array {name[:40]!r} holds {kind}; accepted: numbers")
    count = 1
    for length in shape:
        count *= int(length)
    if count < 0 or count * kind.itemsize > size:
        raise RequestError(f"the array {name[:40]!r} has fewer bytes than its shape {shape} says")
    # The bytes of text ids: some to each vertex.
    if count > 64 * max(limits().edges, limits().vertices):
        raise RequestError(
            f"the array {name[:40]!r} has {count:,} elements; accepted: up to 64 times "
            f"{beyond('edges')}"
        )
    content = file.read(count * kind.itemsize)
    if len(content) != count * kind.itemsize or file.read(1):
        raise RequestError(f"the array {name[:40]!r} has another length than its shape says")
    return np.frombuffer(content, kind).reshape(shape)
