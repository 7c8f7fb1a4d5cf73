"""WebGraph's BVGraph files: ``NAME.graph`` with ``NAME.properties`` beside it, decoded in order.

All codes of the format are read except Golomb's. The offsets are not needed.

References
----------
.. [1] P. Boldi, S. Vigna, "The WebGraph Framework I: Compression Techniques", WWW 2004, section 4.
.. [2] P. Boldi, S. Vigna, "The WebGraph Framework II: Codes for the World-Wide Web", DCC 2004 (zeta
   codes).
"""

# Compiled functions: what numba infers, and casts it needs, are not types that mypy knows.
# mypy: disable-error-code="no-any-return, return-value, assignment"

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.errors import RequestError
from predict_graph.graph.csr import Graph
from predict_graph.graph.edges import EdgeSource

__all__ = ["open_webgraph"]

_UNARY, _GAMMA, _DELTA, _ZETA, _NIBBLE = range(5)
_CODES = {"UNARY": _UNARY, "GAMMA": _GAMMA, "DELTA": _DELTA, "ZETA": _ZETA, "NIBBLE": _NIBBLE}
_PARTS = ("OUTDEGREES", "BLOCKS", "RESIDUALS", "REFERENCES", "BLOCK_COUNT")
_DEFAULTS = (_GAMMA, _GAMMA, _ZETA, _UNARY, _GAMMA)
_DAMAGED = -1

Words = npt.NDArray[np.uint64]
Cursor = npt.NDArray[np.int64]


def open_webgraph(path: Path, ids: str) -> EdgeSource:
    """Open a BVGraph.

    Raises
    ------
    RequestError
        If the properties are not those of a BVGraph, or the graph does not decode to them.
    """
    facts = _properties(path.with_suffix(".properties"))
    where = path.with_suffix(".properties")
    if not facts.get("graphclass", "").endswith("BVGraph"):
        raise RequestError(
            f"{where}: graphclass is {facts.get('graphclass', 'missing')}; accepted: BVGraph"
        )
    if facts.get("endianness", "big") != "big" or facts.get("version", "0") != "0":
        raise RequestError(f"{where}: only version 0 with big-endian bits is read")
    vertices, edges, window, shortest, zeta = (
        _integer(where, facts, key, default)
        for key, default in (
            ("nodes", None),
            ("arcs", None),
            ("windowsize", 7),
            ("minintervallength", 4),
            ("zetak", 3),
        )
    )
    if vertices >= 2**31:
        raise RequestError(f"{where}: {vertices} vertices are more than the accepted {2**31 - 1}")
    codes = _codes(where, facts.get("compressionflags", ""))
    try:
        words = _words(path)
    except OSError as error:
        raise RequestError(f"{path} cannot be read: {error.strerror}") from error
    indptr, indices = np.zeros(vertices + 1, np.int64), np.empty(edges, np.int32)
    vertex = _decode(words, codes, window, shortest, zeta, indptr, indices)
    if vertex >= 0:
        raise RequestError(f"{path} is damaged: the successors of vertex {vertex} do not decode")
    if indptr[-1] != edges:
        raise RequestError(f"{path} holds {indptr[-1]} edges, but {where.name} says {edges}")
    return EdgeSource(graph=Graph(indptr, indices))


def _properties(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="latin-1")
    except OSError as error:
        raise RequestError(f"{path} cannot be read: {error.strerror}") from error
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith(("#", "!")))
    return {key.strip(): value.strip() for key, _, value in pairs}


def _integer(path: Path, facts: dict[str, str], key: str, default: int | None) -> int:
    text = facts.get(key, "" if default is None else str(default))
    if not text.isdigit():
        raise RequestError(f"{path}: {key} is {text or 'missing'}; accepted: integers from 0 on")
    return int(text)


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


def _words(path: Path) -> Words:
    """Return the bits of a file in words of 64, the first bit highest, and some words of zeros."""
    content = np.fromfile(path, np.uint8)
    padded = np.zeros((len(content) // 8 + 3) * 8, np.uint8)
    padded[: len(content)] = content
    return padded.view(">u8").astype(np.uint64)


@njit(cache=True, nogil=True, inline="always")
def _peek(words: Words, at: int) -> np.uint64:
    """Return the 64 bits from `at` on."""
    index, shift = at >> 6, np.uint64(at & 63)
    bits = words[index] << shift
    if shift:
        bits |= words[index + 1] >> (np.uint64(64) - shift)
    return bits


@njit(cache=True, nogil=True)
def _bits(words: Words, cursor: Cursor, count: int) -> int:
    if count == 0:
        return 0
    value = _peek(words, cursor[0]) >> np.uint64(64 - count)
    cursor[0] += count
    return np.int64(value)


@njit(cache=True, nogil=True)
def _unary(words: Words, cursor: Cursor) -> int:
    """Count the zeros before the next one."""
    zeros = 0
    last = (len(words) - 2) << 6
    while cursor[0] < last:
        bits = _peek(words, cursor[0])
        if bits == 0:
            zeros += 64
            cursor[0] += 64
            continue
        lead = 0
        for step in (32, 16, 8, 4, 2, 1):
            if bits >> np.uint64(64 - step) == 0:
                bits <<= np.uint64(step)
                lead += step
        cursor[0] += lead + 1
        return zeros + lead
    cursor[1] = _DAMAGED
    return 0


@njit(cache=True, nogil=True)
def _gamma(words: Words, cursor: Cursor) -> int:
    length = _unary(words, cursor)
    if length > 62 or cursor[0] >= (len(words) - 2) << 6:
        cursor[1] = _DAMAGED
        return 0
    return ((1 << length) | _bits(words, cursor, length)) - 1


@njit(cache=True, nogil=True)
def _coded(words: Words, cursor: Cursor, code: int, k: int) -> int:
    """Read one number in the given code."""
    if code == _UNARY:
        return _unary(words, cursor)
    if code == _GAMMA:
        return _gamma(words, cursor)
    if code == _DELTA:
        length = _gamma(words, cursor)
        if length > 62 or cursor[0] >= (len(words) - 2) << 6:
            cursor[1] = _DAMAGED
            return 0
        return ((1 << length) | _bits(words, cursor, length)) - 1
    if code == _ZETA:
        width = _unary(words, cursor) * k
        if width + k > 62 or cursor[0] >= (len(words) - 2) << 6:
            cursor[1] = _DAMAGED
            return 0
        low = 1 << width
        value = _bits(words, cursor, width + k - 1)
        if value < low:
            return value + low - 1
        return 2 * value + _bits(words, cursor, 1) - 1
    value, more = 0, True
    while more and cursor[0] < (len(words) - 2) << 6:
        more = _bits(words, cursor, 1) == 0
        value = ((value << 3) | _bits(words, cursor, 3)) & (2**62 - 1)
    return value


@njit(cache=True, nogil=True, inline="always")
def _signed(number: int) -> int:
    return -((number + 1) >> 1) if number & 1 else number >> 1


@njit(cache=True, nogil=True)
def _decode(
    words: Words,
    codes: npt.NDArray[np.int64],
    window: int,
    shortest: int,
    zeta: int,
    indptr: npt.NDArray[np.int64],
    indices: npt.NDArray[np.int32],
) -> int:
    """Fill `indptr` and `indices`; return -1, or the vertex at which the bits make no sense."""
    n, room = len(indptr) - 1, len(indices)
    cursor = np.zeros(2, np.int64)
    others = np.empty(16, np.int32)
    for v in range(n):
        begin = indptr[v]
        degree = _coded(words, cursor, codes[0], zeta)
        if cursor[1] or degree < 0 or degree > min(n, room - begin):
            return v
        indptr[v + 1] = begin + degree
        if degree == 0:
            continue
        at, stop = begin, begin + degree
        reference = _coded(words, cursor, codes[3], zeta) if window > 0 else 0
        if cursor[1] or reference > min(v, window):
            return v
        if reference:
            at = _copy_blocks(words, cursor, codes, zeta, indptr, indices, v - reference, at, stop)
            if at < 0:
                return v
        rest = stop - at
        if rest == 0:
            continue
        if len(others) < rest:
            others = np.empty(2 * rest, np.int32)
        if not _extras(words, cursor, codes[2], shortest, zeta, v, n, others[:rest]):
            return v
        if not _merge(indices, begin, at, others[:rest]):
            return v
    return -1


@njit(cache=True, nogil=True)
def _copy_blocks(
    words: Words,
    cursor: Cursor,
    codes: npt.NDArray[np.int64],
    zeta: int,
    indptr: npt.NDArray[np.int64],
    indices: npt.NDArray[np.int32],
    referred: int,
    at: int,
    stop: int,
) -> int:
    """Copy every other block of the row `referred` to `at`; return where that ends, or -1."""
    blocks = _coded(words, cursor, codes[4], zeta)
    source, source_stop = indptr[referred], indptr[referred + 1]
    if cursor[1] or blocks < 0 or blocks > source_stop - source + 1:
        return -1
    for block in range(blocks + 1):
        copied = block % 2 == 0
        if block == blocks:
            # After an even number of blocks, the rest of the row is copied too.
            length = source_stop - source if copied else 0
        else:
            length = _coded(words, cursor, codes[1], zeta) + (block > 0)
        if cursor[1] or length < 0 or length > source_stop - source:
            return -1
        if copied:
            if length > stop - at:
                return -1
            for e in range(length):
                indices[at + e] = indices[source + e]
            at += length
        source += length
    return at


@njit(cache=True, nogil=True)
def _extras(
    words: Words,
    cursor: Cursor,
    residual_code: int,
    shortest: int,
    zeta: int,
    vertex: int,
    n: int,
    others: npt.NDArray[np.int32],
) -> bool:
    """Fill `others` with the successors of intervals, then with residuals, merged ascending."""
    done = 0
    if shortest > 0:
        intervals = _gamma(words, cursor)
        if cursor[1] or intervals > len(others):
            return False
        left = 0
        for i in range(intervals):
            gap = _gamma(words, cursor)
            left = vertex + _signed(gap) if i == 0 else left + gap + 1
            length = _gamma(words, cursor) + shortest
            if cursor[1] or left < 0 or length > len(others) - done or left + length > n:
                return False
            for e in range(length):
                others[done + e] = left + e
            done += length
            left += length
    residuals = len(others) - done
    if residuals == 0:
        return True
    rest = np.empty(residuals, np.int32)
    target = 0
    for e in range(residuals):
        gap = _coded(words, cursor, residual_code, zeta)
        target = vertex + _signed(gap) if e == 0 else target + gap + 1
        if cursor[1] or target < 0 or target >= n:
            return False
        rest[e] = target
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
