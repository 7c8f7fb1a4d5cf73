"""WebGraph's BVGraph files: ``NAME.graph`` with ``NAME.properties`` beside it, decoded in order.

All codes of the format are read except Golomb's. The offsets are not needed.

Nothing in the bits is believed. Every number is read by one bounded reader, which never looks past
the end of the file and never returns more than the caller says makes sense, so that sums of a few
of them cannot overflow. The format has no checksum; but the properties count the sizes of the gaps,
and what is decoded has to come to the same figures.

References
----------
.. [1] P. Boldi, S. Vigna, "The WebGraph Framework I: Compression Techniques", WWW 2004, section 4.
.. [2] P. Boldi, S. Vigna, "The WebGraph Framework II: Codes for the World-Wide Web", DCC 2004 (zeta
   codes).
"""

# Compiled functions: what numba infers, and casts it needs, are not types that mypy knows.
# mypy: disable-error-code="no-any-return, return-value, assignment"

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.core import types
from numba.extending import intrinsic

from predict_graph.errors import RequestError
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.readers.streams import Content
from predict_graph.inputs import Input, read_bytes
from predict_graph.limits import check_size, whole_number

_UNARY, _GAMMA, _DELTA, _ZETA, _NIBBLE = range(5)
_CODES = {"UNARY": _UNARY, "GAMMA": _GAMMA, "DELTA": _DELTA, "ZETA": _ZETA, "NIBBLE": _NIBBLE}
_PARTS = ("OUTDEGREES", "BLOCKS", "RESIDUALS", "REFERENCES", "BLOCK_COUNT")
_DEFAULTS = (_GAMMA, _GAMMA, _ZETA, _UNARY, _GAMMA)
_OUTDEGREES, _BLOCKS, _RESIDUALS, _REFERENCES, _BLOCK_COUNT = range(5)

# The cursor: the next bit, whether something made no sense, and the counts of gaps between
# residuals, then between successors, by their highest bit.
_AT, _DAMAGED, _RESIDUAL_GAPS, _GAPS = 0, 1, 2, 37
_CURSOR = 72  # by definition: one more than the last place

Words = npt.NDArray[np.uint64]
Cursor = npt.NDArray[np.int64]


def open_webgraph(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open a BVGraph.

    Raises
    ------
    RequestError
        If the properties are not those of a BVGraph, or the graph does not decode to them.
    """
    path = content.path
    where = path.with_suffix(".properties")
    facts = _properties(where)
    if not facts.get("graphclass", "").endswith("BVGraph"):
        raise RequestError(
            f"{where}: graphclass is {facts.get('graphclass', 'missing')}; accepted: BVGraph"
        )
    if facts.get("endianness", "big") != "big" or facts.get("version", "0") != "0":
        raise RequestError(f"{where}: only version 0 with big-endian bits is read")
    vertices = _integer(where, facts, "nodes", None, 0, 2**31 - 1)
    edges = _integer(where, facts, "arcs", None, 0, 2**62)
    window = _integer(where, facts, "windowsize", 7, 0, 2**31 - 1)
    shortest = _integer(where, facts, "minintervallength", 4, 0, 2**31 - 1)
    zeta = _integer(where, facts, "zetak", 3, 1, 31)
    check_size(f"{where}: the graph", vertices=vertices, edges=edges)
    codes = _codes(where, facts.get("compressionflags", ""))
    words, bits = _words(content)
    if vertices > bits:
        raise RequestError(
            f"{path} is damaged: {bits // 8:,} bytes cannot hold the {vertices:,} vertices that "
            f"{where.name} says"
        )
    indptr, indices = np.zeros(vertices + 1, np.int64), np.empty(edges, np.int32)
    cursor = np.zeros(_CURSOR, np.int64)
    vertex = _decode(words, bits, codes, window, shortest, zeta, indptr, indices, cursor)
    if vertex >= 0:
        raise RequestError(f"{path} is damaged: the successors of vertex {vertex} do not decode")
    if indptr[-1] != edges:
        raise RequestError(f"{path} holds {indptr[-1]} edges, but {where.name} says {edges}")
    graph = Graph(indptr, indices)
    if not graph.ascending:
        raise RequestError(f"{path} is damaged: some successors are not in order")
    _count_gaps(graph.indptr, graph.indices, cursor)
    _check_figures(path, where, facts, cursor)
    if _bits_left(words, int(cursor[_AT])):
        raise RequestError(f"{path} is damaged: there are bits after the last vertex")
    return EdgeSource(graph=graph)


def _check_figures(path: Path, where: Path, facts: Mapping[str, str], cursor: Cursor) -> None:
    """Compare what was counted with the properties that say it; not every writer gives all."""
    for name, begin in (("residualexpstats", _RESIDUAL_GAPS), ("successorexpstats", _GAPS)):
        bins = cursor[begin : begin + 35].tolist()
        while len(bins) > 1 and not bins[-1]:
            bins.pop()
        figure = ",".join(map(str, bins))
        said = facts.get(name)
        if said is not None and (said or "0") != figure:
            raise RequestError(
                f"{path} is damaged, or is not the graph of {where.name}: {name} is {figure[:60]}, "
                f"but should be {said[:60]}"
            )


def _properties(path: Path) -> dict[str, str]:
    text = read_bytes(path).decode("latin-1")
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith(("#", "!")))
    return {key.strip(): value.strip() for key, _, value in pairs}


def _integer(
    path: Path, facts: dict[str, str], key: str, default: int | None, least: int, most: int
) -> int:
    text = facts.get(key, "" if default is None else str(default))
    value = whole_number(text)
    if value is None or not least <= value <= most:
        raise RequestError(
            f"{path}: {key} is {text[:40] or 'missing'}; accepted: integers from {least} to {most}"
        )
    return value


def _codes(path: Path, flags: str) -> npt.NDArray[np.int64]:
    """Return the code of each part, in the order of `_PARTS`."""
    codes = np.array(_DEFAULTS, np.int64)
    for flag in filter(None, (flag.strip() for flag in flags.split("|"))):
        part, _, code = flag.rpartition("_")
        if part == "OFFSETS":
            continue
        if part not in _PARTS or code not in _CODES:
            raise RequestError(
                f"{path}: the compression flag {flag} is not supported; accepted: "
                f"{', '.join(_PARTS)}, each with _{', _'.join(_CODES)}"
            )
        codes[_PARTS.index(part)] = _CODES[code]
    return codes


def _words(content: Content) -> tuple[Words, int]:
    """Return the bits of a file in words of 64, the first bit highest, and how many there are.

    Three words of zeros follow, so that a look at 64 bits anywhere in the file ends inside.
    """
    with Input(content.path) as file:
        pieces = []
        while piece := file.read(1 << 24):
            pieces.append(piece)
    packed = b"".join(pieces)
    padded = np.zeros((len(packed) // 8 + 4) * 8, np.uint8)
    padded[: len(packed)] = np.frombuffer(packed, np.uint8)
    return padded.view(">u8").astype(np.uint64), 8 * len(packed)


@intrinsic  # type: ignore[untyped-decorator]
def _leading_zeros(typing_context: Any, word: Any) -> Any:
    """Count the zero bits above the highest one of a word; the word is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), generate


@njit(cache=True, nogil=True, inline="always")
def _peek(words: Words, at: int) -> np.uint64:
    """Return the 64 bits from `at` on."""
    index, shift = at >> 6, np.uint64(at & 63)
    bits = words[index] << shift
    if shift:
        bits |= words[index + 1] >> (np.uint64(64) - shift)
    return bits


@njit(cache=True, nogil=True)
def _fixed(words: Words, stop: int, cursor: Cursor, count: int) -> int:
    """Read a number of so many bits, 0 to 62."""
    at = cursor[_AT]
    if count < 0 or count > 62 or at + count > stop:
        cursor[_DAMAGED] = 1
        return 0
    if count == 0:
        return 0
    cursor[_AT] = at + count
    return np.int64(_peek(words, at) >> np.uint64(64 - count))


@njit(cache=True, nogil=True)
def _unary(words: Words, stop: int, cursor: Cursor) -> int:
    """Count the zeros before the next one."""
    zeros, at = 0, cursor[_AT]
    while at < stop:
        bits = _peek(words, at)
        if bits == 0:
            zeros += 64
            at += 64
            continue
        lead = np.int64(_leading_zeros(bits))
        cursor[_AT] = at + lead + 1
        return zeros + lead
    cursor[_DAMAGED] = 1
    return 0


@njit(cache=True, nogil=True)
def _gamma(words: Words, stop: int, cursor: Cursor) -> int:
    length = _unary(words, stop, cursor)
    if length > 61:
        cursor[_DAMAGED] = 1
        return 0
    return ((1 << length) | _fixed(words, stop, cursor, length)) - 1


@njit(cache=True, nogil=True)
def _natural(words: Words, stop: int, cursor: Cursor, code: int, k: int, most: int) -> int:
    """Read one number in the given code: the bounded reader through which all of them come.

    A number above `most`, or one that does not end with the file, sets the mark of damage, and is
    returned as 0. `most` is at most 2**33 in this file, which leaves room for sums.
    """
    if code == _UNARY:
        value = _unary(words, stop, cursor)
    elif code == _GAMMA:
        value = _gamma(words, stop, cursor)
    elif code == _DELTA:
        length = _gamma(words, stop, cursor)
        if length > 61:
            cursor[_DAMAGED] = 1
            return 0
        value = ((1 << length) | _fixed(words, stop, cursor, length)) - 1
    elif code == _ZETA:
        blocks = _unary(words, stop, cursor)
        if blocks > 61 or blocks * k + k > 61:
            cursor[_DAMAGED] = 1
            return 0
        width = blocks * k
        low = 1 << width
        value = _fixed(words, stop, cursor, width + k - 1)
        value = value + low if value < low else 2 * value + _fixed(words, stop, cursor, 1)
        value -= 1
    else:
        value, more = 0, True
        while more:
            more = _fixed(words, stop, cursor, 1) == 0
            value = (value << 3) | _fixed(words, stop, cursor, 3)
            if value > most or cursor[_DAMAGED]:
                cursor[_DAMAGED] = 1
                return 0
    if value > most:
        cursor[_DAMAGED] = 1
    return 0 if cursor[_DAMAGED] else value


@njit(cache=True, nogil=True, inline="always")
def _signed(number: int) -> int:
    return -((number + 1) >> 1) if number & 1 else number >> 1


@njit(cache=True, nogil=True)
def _decode(
    words: Words,
    stop: int,
    codes: npt.NDArray[np.int64],
    window: int,
    shortest: int,
    zeta: int,
    indptr: npt.NDArray[np.int64],
    indices: npt.NDArray[np.int32],
    cursor: Cursor,
) -> int:
    """Fill `indptr` and `indices`; return -1, or the vertex at which the bits make no sense."""
    n, room = len(indptr) - 1, len(indices)
    others = np.empty(16, np.int32)
    for v in range(n):
        begin = indptr[v]
        most = min(n, room - begin)
        degree = _natural(words, stop, cursor, codes[_OUTDEGREES], zeta, most)
        if cursor[_DAMAGED]:
            return v
        indptr[v + 1] = begin + degree
        if degree == 0:
            continue
        at, end = begin, begin + degree
        reference = 0
        if window > 0:
            reference = _natural(words, stop, cursor, codes[_REFERENCES], zeta, min(v, window))
            if cursor[_DAMAGED]:
                return v
        if reference:
            at = _copy_blocks(words, stop, cursor, codes, zeta, indptr, indices, v, reference)
            if at < 0:
                return v
        rest = end - at
        if rest == 0:
            continue
        if len(others) < rest:
            others = np.empty(2 * rest, np.int32)
        extras = others[:rest]
        if not _extras(words, stop, cursor, codes[_RESIDUALS], shortest, zeta, v, n, extras):
            return v
        if not _merge(indices, begin, at, extras):
            return v
    return -1


@njit(cache=True, nogil=True)
def _copy_blocks(
    words: Words,
    stop: int,
    cursor: Cursor,
    codes: npt.NDArray[np.int64],
    zeta: int,
    indptr: npt.NDArray[np.int64],
    indices: npt.NDArray[np.int32],
    vertex: int,
    reference: int,
) -> int:
    """Copy every other block of an earlier row to that of `vertex`; return where it ends, or -1."""
    at, end = indptr[vertex], indptr[vertex + 1]
    source, source_stop = indptr[vertex - reference], indptr[vertex - reference + 1]
    most = source_stop - source + 1
    blocks = _natural(words, stop, cursor, codes[_BLOCK_COUNT], zeta, most)
    for block in range(blocks + 1):
        copied = block % 2 == 0
        left = source_stop - source
        if block == blocks:
            # After an even number of blocks, the rest of the row is copied too.
            length = left if copied else 0
        else:
            length = _natural(words, stop, cursor, codes[_BLOCKS], zeta, left) + (block > 0)
        if cursor[_DAMAGED] or length > left:
            return -1
        if copied:
            if length > end - at:
                return -1
            for e in range(length):
                indices[at + e] = indices[source + e]
            at += length
        source += length
    if cursor[_DAMAGED]:
        return -1
    return at


@njit(cache=True, nogil=True)
def _extras(
    words: Words,
    stop: int,
    cursor: Cursor,
    residual_code: int,
    shortest: int,
    zeta: int,
    vertex: int,
    n: int,
    others: npt.NDArray[np.int32],
) -> bool:
    """Fill `others` with the successors of intervals, then with residuals, merged ascending."""
    done, farthest = 0, 2 * n + 1
    if shortest > 0:
        intervals = _natural(words, stop, cursor, _GAMMA, zeta, len(others) // shortest)
        left = 0
        for i in range(intervals):
            gap = _natural(words, stop, cursor, _GAMMA, zeta, farthest)
            left = vertex + _signed(gap) if i == 0 else left + gap + 1
            length = shortest + _natural(words, stop, cursor, _GAMMA, zeta, n)
            if cursor[_DAMAGED] or left < 0 or length > len(others) - done or left + length > n:
                return False
            for e in range(length):
                others[done + e] = left + e
            done += length
            left += length
        if cursor[_DAMAGED]:
            return False
    residuals = len(others) - done
    if residuals == 0:
        return True
    rest = np.empty(residuals, np.int32)
    target = 0
    for e in range(residuals):
        gap = _natural(words, stop, cursor, residual_code, zeta, farthest)
        target = vertex + _signed(gap) if e == 0 else target + gap + 1
        if cursor[_DAMAGED] or target < 0 or target >= n:
            return False
        rest[e] = target
        if e > 0:
            gap += 1
        if gap > 0:
            cursor[_RESIDUAL_GAPS + _highest_bit(gap)] += 1
    return _merge(others, 0, done, rest)


@njit(cache=True, nogil=True)
def _merge(
    row: npt.NDArray[np.int32], begin: int, middle: int, others: npt.NDArray[np.int32]
) -> bool:
    """Merge ascending `others` into the ascending ``row[begin:middle]``, from the right."""
    a, b = middle - 1, len(others) - 1
    at = middle + b
    while b >= 0:
        if a >= begin and row[a] > others[b]:
            row[at] = row[a]
            a -= 1
        else:
            if a >= begin and row[a] == others[b]:
                return False
            row[at] = others[b]
            b -= 1
        at -= 1
    return True


@njit(cache=True, nogil=True, inline="always")
def _highest_bit(number: int) -> int:
    return 63 - np.int64(_leading_zeros(np.uint64(number)))


@njit(cache=True, nogil=True)
def _count_gaps(
    indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.int32], cursor: Cursor
) -> None:
    """Count the gaps between successors by their highest bit, as the properties do.

    The first gap of a row is the one to the vertex itself, as a natural number.
    """
    ones = 0  # most of them
    for v in range(len(indptr) - 1):
        begin, end = indptr[v], indptr[v + 1]
        if begin == end:
            continue
        before = np.int64(indices[begin])
        away = before - v
        gap = 2 * away if away >= 0 else -2 * away - 1
        if gap > 0:
            cursor[_GAPS + _highest_bit(gap)] += 1
        for e in range(begin + 1, end):
            target = np.int64(indices[e])
            gap = target - before
            before = target
            if gap == 1:
                ones += 1
            else:
                cursor[_GAPS + _highest_bit(gap)] += 1
    cursor[_GAPS] += ones


def _bits_left(words: Words, at: int) -> bool:
    """Tell whether a bit from `at` on is set; writers pad by zeros."""
    index = at >> 6
    first = int(words[index]) & ((1 << (64 - (at & 63))) - 1)
    return first != 0 or bool(np.any(words[index + 1 :]))
