"""Compiled scanner of the lines that most edge lists have: two whole numbers each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit


@njit(cache=True, nogil=True)
def scan_pairs(
    buffer: npt.NDArray[np.uint8],
    delimiter: int,
    lowest: int,
    highest: int,
    ends: npt.NDArray[np.int64],
) -> tuple[int, int]:
    """Scan whole lines as long as they are digits, a delimiter, digits; or blank.

    Unsigned throughout, because numba then leaves out its test for negative indices.

    Parameters
    ----------
    buffer : ndarray of uint8
        Ends with a line end.
    delimiter : int
        Byte between the columns, or 0 for blanks.
    lowest, highest : int
        Of the ids; the lowest is subtracted.
    ends : ndarray of int64, shape (2, m)
        Sources and targets, filled; with room for all lines.

    Returns
    -------
    tuple of int
        Where the first other line begins, and the number of edges.
    """
    zero, one, ten, most = np.uint64(0), np.uint64(1), np.uint64(10), np.uint64(18)
    nought, nine, space, line_end = np.uint8(48), np.uint8(9), np.uint8(32), np.uint8(10)
    mark, back = np.uint8(delimiter), np.uint8(13)
    blank = space if delimiter else np.uint8(9)
    low, width = np.uint64(lowest), np.uint64(highest - lowest)
    start, edges, stop = zero, zero, np.uint64(len(buffer))
    while start < stop:
        at = start
        while buffer[at] == space or buffer[at] == blank or buffer[at] == back:
            at += one
        if buffer[at] == line_end:
            start = at + one
            continue
        first = at
        digit = buffer[at] - nought
        source = zero
        while digit <= nine:
            source = source * ten + np.uint64(digit)
            at += one
            digit = buffer[at] - nought
        middle = at
        while buffer[at] == space or buffer[at] == blank:
            at += one
        if mark != zero:
            if buffer[at] != mark:
                break
            at += one
            while buffer[at] == space:
                at += one
        elif at == middle:
            break
        second = at
        digit = buffer[at] - nought
        target = zero
        while digit <= nine:
            target = target * ten + np.uint64(digit)
            at += one
            digit = buffer[at] - nought
        digits, others = middle - first, at - second
        while buffer[at] == space or buffer[at] == blank or buffer[at] == back:
            at += one
        if buffer[at] != line_end or digits == zero or others == zero:
            break
        if digits > most or others > most or source - low > width or target - low > width:
            break
        start = at + one
        ends[0, edges], ends[1, edges] = source - low, target - low
        edges += one
    return np.int64(start), np.int64(edges)  # type: ignore[return-value]
