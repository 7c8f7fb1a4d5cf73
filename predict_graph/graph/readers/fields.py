"""Edge lists whose fields need more than the fast scanner: text ids, quotes, columns by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from numba import njit

from predict_graph.errors import RequestError
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.edges import EdgeBlock
from predict_graph.graph.readers import scan
from predict_graph.graph.readers.layout import Layout, scan_error, wrong_field
from predict_graph.graph.readers.scan import parse_float, parse_integer
from predict_graph.graph.text_ids import TextIds

_NEWLINE, _QUOTE, _HASH, _PERCENT = 10, 34, 35, 37
_UNCLOSED, _AFTER_QUOTE = 21, 22
_CAPACITY = 1 << 18  # a choice: lines at a time

Ints = npt.NDArray[np.int64]


def open_fields(
    path: Path, blocks: Iterator[bytearray], layout: Layout, line: int, *, check: bool
) -> EdgeSource:
    """Read edges out of blocks of whole lines, laid out as `layout` says, after so many lines.

    With `check`, text ids with control characters are refused: nobody said that ids are text.

    A field may stand in double quotes, a quote inside of it doubled; it cannot hold a line end.
    """
    text_ids = TextIds() if layout.ids == "string" else None
    if check and text_ids is not None:
        blocks = _checked(path, blocks, line)
    return EdgeSource(_blocks(path, blocks, layout, text_ids, line), text_ids=text_ids)


_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f\x7f]")


def _checked(path: Path, blocks: Iterator[bytearray], lines: int) -> Iterator[bytearray]:
    for block in blocks:
        found = _CONTROL.search(block)
        if found is not None:
            lines += block.count(b"\n", 0, found.start())
            raise RequestError(
                f"{path}:{lines + 1}: the line holds the control character {found[0]!r}; accepted: "
                "text, or anything with --ids string"
            )
        lines += block.count(b"\n")
        yield block


def _blocks(
    path: Path, blocks: Iterator[bytearray], layout: Layout, text_ids: TextIds | None, line: int
) -> Iterator[EdgeBlock]:
    columns = np.array(
        [layout.source, layout.target, -1 if layout.weight is None else layout.weight], np.int64
    )
    most = 2 if layout.exact else 2**31
    spans = np.empty((_CAPACITY, 3, 2), np.int64)
    lines = np.empty(_CAPACITY, np.int64)
    cursor = np.array([0, line, 0], np.int64)
    for block in blocks:
        _check_utf8(path, block, int(cursor[scan.LINE]))
        buffer = np.frombuffer(block, np.uint8)
        cursor[scan.AT] = 0
        code = scan.FULL
        while code == scan.FULL:
            cursor[scan.EDGES] = 0
            code = _scan_fields(
                buffer, layout.delimiter, layout.hash_ids, columns, most, spans, lines, cursor
            )
            edges = int(cursor[scan.EDGES])
            if edges:
                yield _edges(path, buffer, spans[:edges], lines, layout, text_ids)
        if code == scan.DONE:
            continue
        line, at = int(cursor[scan.LINE]) + 1, int(cursor[scan.AT])
        if code == _UNCLOSED:
            raise RequestError(f"{path}:{line}: a quoted field does not end on its line")
        if code == _AFTER_QUOTE:
            raise RequestError(f"{path}:{line}: text follows a closing quote")
        raise scan_error(path, line, code, wrong_field(block, at, layout.delimiter))


def _check_utf8(path: Path, block: bytearray, lines: int) -> None:
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = lines + 1 + block.count(b"\n", 0, error.start)
        raise RequestError(f"{path}:{line}: the text is not UTF-8: {error.reason}") from None


def _edges(
    path: Path,
    buffer: npt.NDArray[np.uint8],
    spans: Ints,
    lines: Ints,
    layout: Layout,
    text_ids: TextIds | None,
) -> EdgeBlock:
    """Turn the fields of some lines into an edge block."""

    def check(row: int, code: int, which: int) -> None:
        if code == scan.DONE:
            return
        begin, end = spans[row, which]
        field = buffer[begin:end].tobytes().decode("utf-8")[:40]
        raise scan_error(path, int(lines[row]), code, field)

    weights = None
    if layout.weight is not None:
        weights = np.empty(len(spans), np.float32)
        row, code = _parse_floats(buffer, spans, weights)
        check(row, code, 2)
    if text_ids is not None:
        ends = spans[:, :2].reshape(-1, 2)
        numbers = text_ids.number(
            buffer, np.ascontiguousarray(ends[:, 0]), np.ascontiguousarray(ends[:, 1])
        )
        return EdgeBlock(numbers[::2].copy(), numbers[1::2].copy(), weights)
    ids = np.empty((2, len(spans)), np.int64)
    for which in range(2):
        row, code = _parse_integers(buffer, spans, which, ids[which])
        check(row, code, which)
    return EdgeBlock(ids[0], ids[1], weights)


@njit(cache=True, nogil=True)
def _parse_integers(
    buffer: npt.NDArray[np.uint8], spans: Ints, which: int, ids: Ints
) -> tuple[int, int]:
    for row in range(len(ids)):
        begin, end = spans[row, which, 0], spans[row, which, 1]
        # The scan is past this byte already; a line end makes the field end here for certain.
        buffer[end] = _NEWLINE
        value, at, code = parse_integer(buffer, begin, 0)
        if code == scan.DONE and at != end:
            code = scan.NOT_INTEGER
        if code != scan.DONE:
            return row, code
        ids[row] = value
    return 0, scan.DONE


@njit(cache=True, nogil=True)
def _parse_floats(
    buffer: npt.NDArray[np.uint8], spans: Ints, weights: npt.NDArray[np.float32]
) -> tuple[int, int]:
    for row in range(len(weights)):
        begin, end = spans[row, 2, 0], spans[row, 2, 1]
        buffer[end] = _NEWLINE
        value, at, code = parse_float(buffer, begin, 0)
        if code == scan.DONE and at != end:
            code = scan.NOT_NUMBER
        if code != scan.DONE:
            return row, code
        weights[row] = value
    return 0, scan.DONE


@njit(cache=True, nogil=True, inline="always")
def _blank(byte: int, delimiter: int) -> bool:
    return byte == 32 or byte == 13 or (byte == 9 and delimiter != 9)


@njit(cache=True, nogil=True)
def _next_field(
    buffer: npt.NDArray[np.uint8], at: int, delimiter: int
) -> tuple[int, int, int, int]:
    """Return where the field at `at` begins and ends, where the scan goes on, and a code."""
    while _blank(buffer[at], delimiter):
        at += 1
    if buffer[at] == _QUOTE:
        at += 1
        begin, end = at, at
        while True:
            if buffer[at] == _NEWLINE:
                return begin, end, at, _UNCLOSED
            if buffer[at] == _QUOTE:
                if buffer[at + 1] != _QUOTE:
                    break
                at += 1
            buffer[end] = buffer[at]  # a doubled quote becomes one, in place
            end += 1
            at += 1
        at += 1
        while _blank(buffer[at], delimiter):
            at += 1
        if delimiter != 0 and buffer[at] != delimiter and buffer[at] != _NEWLINE:
            return begin, end, at, _AFTER_QUOTE
    else:
        begin = at
        while buffer[at] != _NEWLINE and (
            buffer[at] != delimiter if delimiter else not _blank(buffer[at], 0)
        ):
            at += 1
        end = at
        while end > begin and _blank(buffer[end - 1], delimiter):
            end -= 1
        while _blank(buffer[at], delimiter):
            at += 1
    return begin, end, at, scan.DONE


@njit(cache=True, nogil=True)
def _scan_fields(
    buffer: npt.NDArray[np.uint8],
    delimiter: int,
    hash_ids: bool,
    columns: Ints,
    most: int,
    spans: Ints,
    lines: Ints,
    cursor: Ints,
) -> int:
    """Find the fields of whole lines; see :func:`scan.scan_integers` for the cursor."""
    at, line, edges = cursor[0], cursor[1], cursor[2]
    code = scan.DONE
    while at < len(buffer):
        start = at
        while _blank(buffer[at], delimiter):
            at += 1
        mark = buffer[at] == _HASH or buffer[at] == _PERCENT
        if mark and hash_ids:
            mark = buffer[at + 1] <= 32 or buffer[at + 1] == _HASH or buffer[at + 1] == _PERCENT
        if mark:
            while buffer[at] != _NEWLINE:
                at += 1
        if buffer[at] == _NEWLINE:
            at += 1
            line += 1
            continue
        if edges == len(spans):
            at, code = start, scan.FULL
            break
        at = start
        column, found = 0, 0
        while True:
            begin, end, at, code = _next_field(buffer, at, delimiter)
            if code != scan.DONE:
                break
            for which in range(3):
                if columns[which] == column:
                    spans[edges, which, 0], spans[edges, which, 1] = begin, end
                    found += 1 << which
                    if begin == end:
                        code = scan.MISSING_WEIGHT if which == 2 else scan.EMPTY
            column += 1
            if code != scan.DONE or buffer[at] == _NEWLINE:
                break
            if delimiter != 0:
                at += 1
            if column == most:
                code = scan.EXTRA
                break
        if code == scan.DONE and found & 3 != 3:
            code = scan.ONE_COLUMN if column == 1 else scan.EMPTY
        if code == scan.DONE and columns[2] >= 0 and found & 4 == 0:
            code = scan.MISSING_WEIGHT
        if code != scan.DONE:
            break
        at += 1
        line += 1
        lines[edges] = line
        edges += 1
    cursor[0], cursor[1], cursor[2] = at, line, edges
    return code
