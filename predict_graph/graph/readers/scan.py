"""Compiled scanner of edge lists: bytes in, vertex ids out, with the line of the first error.

A field may stand in double quotes, a quote inside it doubled; it cannot hold a line end.
"""

# Compiled functions: what numba infers, and casts it needs, are not types that mypy knows.
# mypy: disable-error-code="no-any-return, return-value, assignment"

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

# What a scan returns.
DONE, NOT_INTEGER, TOO_LARGE, OUT_OF_RANGE, ONE_COLUMN, EXTRA = 0, 1, 2, 3, 4, 5
MISSING_WEIGHT, NOT_NUMBER, EMPTY, UNCLOSED, AFTER_QUOTE = 6, 7, 8, 9, 10

_NEWLINE, _RETURN, _TAB, _SPACE, _QUOTE = 10, 13, 9, 32, 34
_HASH, _PERCENT, _PLUS, _MINUS, _DOT = 35, 37, 43, 45, 46
LARGEST_ID = 2**63 - 1  # by definition: of int64
LARGEST_WEIGHT = 3.4028235677973366e38  # by definition: what is above is no float32


@njit(cache=True, nogil=True, inline="always")
def _is_blank(byte: int, delimiter: int) -> bool:
    return byte in (_SPACE, _RETURN) or (byte == _TAB and delimiter != _TAB)


@njit(cache=True, nogil=True)
def _parse_integer(buffer: Bytes, at: int) -> tuple[int, int, int]:
    """Parse the non-negative whole number at `at`; return its value, where it ends, and a code."""
    begin = at
    value = 0
    while True:
        digit = np.int64(buffer[at]) - 48
        if digit < 0 or digit > 9:
            break
        if value >= 922337203685477580 and (value > 922337203685477580 or digit > 7):
            return value, begin, TOO_LARGE
        value = value * 10 + digit
        at += 1
    if at > begin and buffer[at] == _DOT and buffer[at + 1] == 48:  # a whole number, as 7.0
        at += 2
        while buffer[at] == 48:
            at += 1
    return value, at, DONE if at > begin else NOT_INTEGER


@njit(cache=True, nogil=True)
def parse_float(buffer: Bytes, at: int, mark: int = _DOT) -> tuple[float, int, int]:
    """Parse the finite decimal number at `at`; return its value, where it ends, and a code."""
    begin = at
    negative = buffer[at] == _MINUS
    if negative or buffer[at] == _PLUS:
        at += 1
    value, exponent, digits, point = 0.0, 0, 0, False
    while True:
        byte = np.int64(buffer[at])
        if byte == mark and not point:
            point = True
        elif 48 <= byte <= 57:
            digits += 1
            value = value * 10 + (byte - 48)
            exponent -= point
        else:
            break
        at += 1
    if digits == 0:
        return value, begin, NOT_NUMBER
    if buffer[at] == 101 or buffer[at] == 69:
        at += 1
        down = buffer[at] == _MINUS
        if down or buffer[at] == _PLUS:
            at += 1
        power, first = 0, at
        while 48 <= buffer[at] <= 57:
            power = min(power * 10 + (np.int64(buffer[at]) - 48), 9999)
            at += 1
        if at == first:
            return value, begin, NOT_NUMBER
        exponent += -power if down else power
    if exponent < 0:
        value /= 10.0**-exponent
    elif value > 0:
        value *= 10.0**exponent
    if not value <= LARGEST_WEIGHT:
        return value, begin, NOT_NUMBER
    return -value if negative else value, at, DONE


@njit(cache=True, nogil=True)
def _scan_plain(
    buffer: Bytes, begin: int, delimiter: int, lowest: int, highest: int, ends: Ints, found: int
) -> tuple[int, int]:
    """Scan lines as long as they are digits, one delimiter, digits, line end: most lines are.

    Return where the first other line begins, and the number of edges with those found before.
    Unsigned throughout, because numba then leaves out its test for negative indices.
    """
    zero, one, ten, most = np.uint64(0), np.uint64(1), np.uint64(10), np.uint64(18)
    nought, nine = np.uint8(48), np.uint8(9)
    between = np.uint8(delimiter) if delimiter else np.uint8(_TAB)
    or_else = np.uint8(delimiter) if delimiter else np.uint8(_SPACE)
    low, width = np.uint64(lowest), np.uint64(highest - lowest)
    start, edges, stop = np.uint64(begin), np.uint64(found), np.uint64(len(buffer))
    at = start
    while at < stop:
        digit = buffer[at] - nought
        source = zero
        while digit <= nine:
            source = source * ten + np.uint64(digit)
            at += one
            digit = buffer[at] - nought
        digits = at - start
        if digits == zero or digits > most or (buffer[at] != between and buffer[at] != or_else):
            break
        at += one
        middle = at
        digit = buffer[at] - nought
        target = zero
        while digit <= nine:
            target = target * ten + np.uint64(digit)
            at += one
            digit = buffer[at] - nought
        digits = at - middle
        if buffer[at] == np.uint8(_RETURN):
            at += one
        if digits == zero or digits > most or buffer[at] != np.uint8(_NEWLINE):
            break
        if source - low > width or target - low > width:
            break
        at += one
        start = at
        ends[0, edges], ends[1, edges] = source - low, target - low
        edges += one
    return np.int64(start), np.int64(edges)


@njit(cache=True, nogil=True)
def _field(buffer: Bytes, at: int, delimiter: int) -> tuple[int, int, int, int]:
    """Return where the field at `at` begins and ends, where the scan goes on, and a code."""
    if buffer[at] == _QUOTE:
        at += 1
        begin, end = at, at
        while buffer[at] != _QUOTE or buffer[at + 1] == _QUOTE:
            if buffer[at] == _NEWLINE:
                return begin, end, at, UNCLOSED
            at += buffer[at] == _QUOTE
            buffer[end] = buffer[at]  # a doubled quote becomes one, in place
            end += 1
            at += 1
        at += 1
        while _is_blank(buffer[at], delimiter):
            at += 1
        if delimiter != 0 and buffer[at] != delimiter and buffer[at] != _NEWLINE:
            return begin, end, at, AFTER_QUOTE
        return begin, end, at, DONE
    begin = at
    while buffer[at] != _NEWLINE and (
        buffer[at] != delimiter if delimiter else not _is_blank(buffer[at], 0)
    ):
        at += 1
    end = at
    while end > begin and _is_blank(buffer[end - 1], delimiter):
        end -= 1
    while _is_blank(buffer[at], delimiter):
        at += 1
    return begin, end, at, DONE


@njit(cache=True, nogil=True)
def scan_lines(
    buffer: Bytes,
    delimiter: int,
    point: int,
    columns: tuple[int, int, int],
    exact: bool,
    hash_ids: bool,
    limits: tuple[int, int],
    ends: Ints,
    weights: Floats,
    spans: Ints,
) -> tuple[int, int, int]:
    """Scan whole lines of an edge each; comments and blank lines are passed over.

    Parameters
    ----------
    buffer : ndarray of uint8
        Ends with a line end; quotes inside quoted fields are removed in place.
    delimiter : int
        Byte between two columns, or 0 for blanks.
    point : int
        Decimal mark of weights.
    columns : tuple of int
        Places of source, target and weight; -1 for no weight.
    exact : bool
        Whether a line may have no column after the second one.
    hash_ids : bool
        Whether ids may begin with the mark of a comment: that of a comment is followed by a blank,
        a control character or another mark.
    limits : tuple of int
        Lowest and highest id; the lowest is subtracted.
    ends : ndarray of int64, shape (2, m)
        Sources and targets, filled as the weights are; with room for all lines.
    spans : ndarray of int64, shape (2, k, 2)
        Filled instead of the ends unless k is 0: where text ids begin and end.

    Returns
    -------
    tuple of int
        The number of edges; DONE or what is wrong; and where the scan ended or the wrong field
        begins.
    """
    at, edges = 0, 0
    lowest, highest = limits
    texts = spans.shape[1] > 0
    wanted = 3 if columns[2] < 0 else 7
    plain = columns == (0, 1, -1) and not texts
    code = DONE
    while at < len(buffer):
        if plain:
            at, edges = _scan_plain(buffer, at, delimiter, lowest, highest, ends, edges)
            if at == len(buffer):
                break
        while _is_blank(buffer[at], delimiter):
            at += 1
        if buffer[at] in (_HASH, _PERCENT) and (
            not hash_ids or buffer[at + 1] <= _SPACE or buffer[at + 1] in (_HASH, _PERCENT)
        ):
            while buffer[at] != _NEWLINE:
                at += 1
        if buffer[at] == _NEWLINE:
            at += 1
            continue
        column, found = 0, 0
        while True:
            begin, end, after, code = _field(buffer, at, delimiter)
            if code != DONE:
                at = after
                break
            if column == columns[2]:
                weight, stop, code = parse_float(buffer, begin, point)
                if begin == end:
                    code = MISSING_WEIGHT
                elif stop != end:
                    code = NOT_NUMBER
                elif code == DONE:
                    weights[edges] = weight
                    found |= 4
            elif column in (columns[0], columns[1]):
                which = 0 if column == columns[0] else 1
                found |= 1 << which
                if begin == end:
                    code = EMPTY
                elif texts:
                    spans[which, edges, 0], spans[which, edges, 1] = begin, end
                else:
                    value, stop, code = _parse_integer(buffer, begin)
                    if code == DONE and stop != end:
                        code = NOT_INTEGER
                    elif code == DONE and not lowest <= value <= highest:
                        code = OUT_OF_RANGE
                    ends[which, edges] = value - lowest
            if code != DONE:
                at = begin
                break
            at = after
            column += 1
            if buffer[at] == _NEWLINE:
                break
            if delimiter:
                at += 1
                while _is_blank(buffer[at], delimiter):
                    at += 1
            if exact and column == 2:
                code = EXTRA
                break
        if code == DONE and found & 3 != 3:
            code = ONE_COLUMN if column == 1 else EMPTY
        if code == DONE and found != wanted:
            code = MISSING_WEIGHT
        if code != DONE:
            break
        at += 1
        edges += 1
    return edges, code, at
