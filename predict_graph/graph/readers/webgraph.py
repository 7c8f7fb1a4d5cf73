"""WebGraph's BVGraph files: ``NAME.graph`` with ``NAME.properties`` beside it, decoded in order.

The default codes of the format are read, which the published graphs have: gamma codes, unary ones
for references, and zeta codes for residuals. The offsets are not needed.

Nothing in the bits is believed. Every number is read by one bounded reader, which never looks past
the end of the file and never returns more than the caller says makes sense, so that sums of a few
of them cannot overflow. The format has no checksum; but the properties count the sizes of the gaps
between successors, and what is decoded has to come to the same figures.

References
----------
.. [1] P. Boldi, S. Vigna, "The WebGraph Framework I: Compression Techniques", WWW 2004, section 4.
.. [2] P. Boldi, S. Vigna, "The WebGraph Framework II: Codes for the World-Wide Web", DCC 2004 (zeta
   codes; the first of them is the gamma code).
"""

# Compiled functions: what numba infers, and casts it needs, are not types that mypy knows.
# mypy: disable-error-code="no-any-return, return-value, assignment"

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.arrays import Bytes, IntArray
from predict_graph.errors import RequestError
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.readers.streams import Content
from predict_graph.inputs import read_bytes
from predict_graph.limits import check_size, whole_number

# By definition: the codes that a flag may name, which are those without it.
_FLAGS = ("OUTDEGREES_GAMMA", "BLOCKS_GAMMA", "RESIDUALS_ZETA", "REFERENCES_UNARY")
_FLAGS += ("BLOCK_COUNT_GAMMA", "OFFSETS_GAMMA", "OFFSETS_DELTA")
# The cursor: the next bit, the vertex, the counts of gaps by their highest bit.
_AT, _VERTEX, _GAPS = range(3)

Row = npt.NDArray[np.int32]


def open_webgraph(content: Content, wanted: EdgeList) -> Graph:
    """Decode a BVGraph.

    Raises
    ------
    RequestError
        If the properties are not those of a BVGraph, or the graph does not decode to them.
    """
    path = content.path
    where = path.with_suffix(".properties")
    lines = map(str.strip, read_bytes(where).decode("latin-1").splitlines())
    pairs = (line.partition("=") for line in lines if not line.startswith(("#", "!")))
    facts = {key.strip(): value.strip() for key, _, value in pairs}
    if not facts.get("graphclass", "").endswith("BVGraph"):
        raise RequestError(
            f"{where}: graphclass is {facts.get('graphclass', 'missing')}; accepted: BVGraph"
        )
    if facts.get("endianness", "big") != "big" or facts.get("version", "0") != "0":
        raise RequestError(f"{where}: only version 0 with big-endian bits is read")
    for flag in filter(None, map(str.strip, facts.get("compressionflags", "").split("|"))):
        if flag not in _FLAGS:
            raise RequestError(
                f"{where}: the compression flag {flag[:40]} is not supported; accepted: "
                f"{', '.join(_FLAGS)}"
            )

    def integer(key: str, default: str, least: int, most: int) -> int:
        text = facts.get(key, default)
        value = whole_number(text)
        if value is None or not least <= value <= most:
            raise RequestError(
                f"{where}: {key} is {text[:40] or 'missing'}; accepted: integers from {least} to "
                f"{most}"
            )
        return value

    vertices, edges = integer("nodes", "", 0, 2**31 - 1), integer("arcs", "", 0, 2**62)
    window = integer("windowsize", "7", 0, 2**31 - 1)
    shortest = integer("minintervallength", "4", 0, 2**31 - 1)
    zeta = integer("zetak", "3", 1, 31)
    check_size(f"{where}: the graph", vertices=vertices, edges=edges)
    cursor = np.zeros(_GAPS + 64, np.int64)
    data = np.frombuffer(b"".join(content.blocks()), np.uint8)
    if vertices > 8 * len(data):
        raise RequestError(
            f"{path} is damaged: {len(data):,} bytes cannot hold the {vertices:,} vertices that "
            f"{where.name} says"
        )
    indptr, indices = np.zeros(vertices + 1, np.int64), np.empty(edges, np.int32)
    try:
        _decode(data, cursor, window, shortest, zeta, indptr, indices)
    except ValueError:
        raise RequestError(
            f"{path} is damaged: the successors of vertex {cursor[_VERTEX]} do not decode"
        ) from None
    if indptr[-1] != edges:
        raise RequestError(f"{path} holds {indptr[-1]} edges, but {where.name} says {edges}")
    gaps = ",".join(map(str, np.trim_zeros(cursor[_GAPS:], "b"))) or "0"
    said = facts.get("successorexpstats", gaps) or "0"
    if said != gaps:
        raise RequestError(
            f"{path} is damaged, or is not the graph of {where.name}: successorexpstats is "
            f"{gaps[:60]}, but should be {said[:60]}"
        )
    rest, bit = data[cursor[_AT] >> 3 :], cursor[_AT] & 7  # writers pad by zeros
    if np.any(rest[1:]) or np.any(rest[:1] & (0xFF >> bit)):
        raise RequestError(f"{path} is damaged: there are bits after the last vertex")
    return Graph(indptr, indices)


@njit(cache=True, nogil=True, inline="always")
def _bit(data: Bytes, cursor: IntArray) -> int:
    """Read one bit; the first one of a byte is the highest."""
    at = cursor[_AT]
    if at >> 3 >= len(data):
        raise ValueError
    cursor[_AT] = at + 1
    return (data[at >> 3] >> (7 - (at & 7))) & 1


@njit(cache=True, nogil=True)
def _fixed(data: Bytes, cursor: IntArray, count: int) -> int:
    """Read a number of so many bits, 0 to 62."""
    value = 0
    for _ in range(count):
        value = 2 * value + _bit(data, cursor)
    return value


@njit(cache=True, nogil=True)
def _unary(data: Bytes, cursor: IntArray) -> int:
    """Count the zeros before the next one."""
    zeros = 0
    while not _bit(data, cursor):
        zeros += 1
    return zeros


@njit(cache=True, nogil=True)
def _natural(data: Bytes, cursor: IntArray, most: int, zeta: int = 1) -> int:
    """Read one number in a zeta code, by default gamma: all of them come through this reader.

    A number above `most`, or one that does not end with the file, is damage. `most` is at most
    2**33 in this file, which leaves room for sums.
    """
    blocks = _unary(data, cursor)
    if blocks > 61 or blocks * zeta + zeta > 61:
        raise ValueError
    low = 1 << blocks * zeta
    value = _fixed(data, cursor, blocks * zeta + zeta - 1)
    value = value + low if value < low else 2 * value + _fixed(data, cursor, 1)
    if value > most + 1:
        raise ValueError
    return value - 1


@njit(cache=True, nogil=True)
def _decode(
    data: Bytes,
    cursor: IntArray,
    window: int,
    shortest: int,
    zeta: int,
    indptr: IntArray,
    indices: Row,
) -> None:
    """Fill `indptr` and `indices`; count the gaps between successors by their highest bit.

    The first gap of a row is the one to the vertex itself, as a natural number.
    """
    n = len(indptr) - 1
    for v in range(n):
        cursor[_VERTEX] = v
        begin = indptr[v]
        end = begin + _natural(data, cursor, min(n, len(indices) - begin))
        indptr[v + 1] = end
        if begin == end:
            continue
        row, copied = indices[begin:end], 0
        reference = _unary(data, cursor) if window > 0 else 0
        if reference > min(v, window):
            raise ValueError
        if reference:
            source = indices[indptr[v - reference] : indptr[v - reference + 1]]
            copied = _copy_blocks(data, cursor, source, row)
        _add_others(data, cursor, shortest, zeta, v, n, row, copied)
        row.sort()
        away = np.int64(row[0]) - v
        gap = 2 * away if away >= 0 else -2 * away - 1
        for e in range(len(row)):
            if e > 0:
                gap = row[e] - row[e - 1]
                if gap == 0:
                    raise ValueError
            if gap > 0:
                cursor[_GAPS + math.frexp(gap)[1] - 1] += 1


@njit(cache=True, nogil=True)
def _copy_blocks(data: Bytes, cursor: IntArray, source: Row, row: Row) -> int:
    """Copy every other block of an earlier row to the beginning of this one; return its length."""
    blocks = _natural(data, cursor, len(source) + 1)
    done, at = 0, 0
    for block in range(blocks + 1):
        copied, left = block % 2 == 0, len(source) - done
        # After an even number of blocks, the rest of the row is copied too.
        length = left if copied else 0
        if block < blocks:
            length = _natural(data, cursor, left) + (block > 0)
        if length > left or (copied and length > len(row) - at):
            raise ValueError
        if copied:
            for e in range(length):
                row[at + e] = source[done + e]
            at += length
        done += length
    return at


@njit(cache=True, nogil=True)
def _add_others(
    data: Bytes, cursor: IntArray, shortest: int, zeta: int, vertex: int, n: int, row: Row, at: int
) -> None:
    """Fill the row from `at` on with the successors of intervals, then with the residuals."""
    left, farthest = 0, 2 * n + 1
    if shortest > 0 and at < len(row):
        intervals = _natural(data, cursor, (len(row) - at) // shortest)
        for i in range(intervals):
            gap = _natural(data, cursor, farthest)
            left = vertex + _signed(gap) if i == 0 else left + gap + 1
            length = shortest + _natural(data, cursor, n)
            if left < 0 or left + length > n or length > len(row) - at:
                raise ValueError
            for e in range(length):
                row[at + e] = left + e
            at += length
            left += length
    target = 0
    for e in range(at, len(row)):
        gap = _natural(data, cursor, farthest, zeta)
        target = vertex + _signed(gap) if e == at else target + gap + 1
        if target < 0 or target >= n:
            raise ValueError
        row[e] = target


@njit(cache=True, nogil=True, inline="always")
def _signed(number: int) -> int:
    return -((number + 1) >> 1) if number & 1 else number >> 1
