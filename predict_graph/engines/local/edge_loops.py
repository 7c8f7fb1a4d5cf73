"""Compiled loops over edges that combine messages, for any vertex program."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

SUM, MIN, MAX = 0, 1, 2


def identity(code: int, dtype: np.dtype[Any]) -> Any:
    """Return the identity element of a combine operation."""
    if code == SUM:
        return dtype.type(0)
    if dtype == np.float64:
        return np.float64(np.inf if code == MIN else -np.inf)
    limits = np.iinfo(dtype)
    return np.int64(limits.max if code == MIN else limits.min)


@numba.njit(cache=True, nogil=True)
def push(code: int, sending: Any, rows: Any, message: Any, results: Any) -> None:
    """Combine the messages of a few senders into their targets, in sender order."""
    indptr, targets, weights = rows
    combined, received = results
    for v in sending:
        sent = message[v]
        for e in range(indptr[v], indptr[v + 1]):
            target = targets[e]
            received[target] = True
            if len(weights) > 0:
                # A separate variable per type: integers must not be converted to float.
                weighed = sent * weights[e] if code == 0 else sent + weights[e]
                combined[target] = _both(code, combined[target], weighed)
            else:
                combined[target] = _both(code, combined[target], sent)


@numba.njit(cache=True, nogil=True, inline="always")
def _both(code: int, one: Any, other: Any) -> Any:
    if code == 0:
        return one + other
    return min(one, other) if code == 1 else max(one, other)


@numba.njit(cache=True, nogil=True)
def pull(
    first: int, last: int, code: int, edges: Any, messages: Any, results: Any, in_turn: bool
) -> None:
    """Combine the messages from the in-neighbours of the vertices of some rows.

    Vertices that do not send offer `nothing`. With `in_turn` the order is that of :func:`push`.
    """
    indptr, sources, weights = edges
    offered, senders, nothing = messages
    combined, received = results
    rows = range(first, last)
    # One loop per case: rows are short, so a branch per row is expensive.
    if len(weights) > 0:
        for v in rows:
            start, stop = indptr[v], indptr[v + 1]
            combined[v] = _weighted_row(code, start, stop, sources, weights, offered, nothing)
    elif in_turn:
        for v in rows:
            result = nothing
            for e in range(indptr[v], indptr[v + 1]):
                result = _both(code, result, offered[sources[e]])
            combined[v] = result
    elif code == 0:
        for v in rows:
            combined[v] = _row(0, indptr[v], indptr[v + 1], sources, offered, nothing)
    elif code == 1:
        for v in rows:
            combined[v] = _row(1, indptr[v], indptr[v + 1], sources, offered, nothing)
    else:
        for v in rows:
            combined[v] = _row(2, indptr[v], indptr[v + 1], sources, offered, nothing)
    if len(senders) > 0:
        for v in rows:
            received[v] = _any_row(indptr[v], indptr[v + 1], sources, senders)


@numba.njit(cache=True, nogil=True, inline="always")
def _row(code: int, start: Any, stop: Any, sources: Any, offered: Any, nothing: Any) -> Any:
    # Four accumulators hide the latency of an addition or comparison; the order is always the same.
    first, second, third, fourth = nothing, nothing, nothing, nothing
    e = start
    while e + 4 <= stop:
        first = _both(code, first, offered[sources[e]])
        second = _both(code, second, offered[sources[e + 1]])
        third = _both(code, third, offered[sources[e + 2]])
        fourth = _both(code, fourth, offered[sources[e + 3]])
        e += 4
    while e < stop:
        first = _both(code, first, offered[sources[e]])
        e += 1
    return _both(code, _both(code, first, second), _both(code, third, fourth))


@numba.njit(cache=True, nogil=True, inline="always")
def _any_row(start: Any, stop: Any, sources: Any, senders: Any) -> Any:
    # No early exit: in short rows the branch would be mispredicted.
    heard = np.uint8(0)
    for e in range(start, stop):
        heard |= senders[sources[e]]
    return heard != 0


@numba.njit(cache=True, nogil=True, inline="always")
def _weighted_row(
    code: int, start: Any, stop: Any, sources: Any, weights: Any, offered: Any, nothing: Any
) -> Any:
    result = nothing
    for e in range(start, stop):
        sent = offered[sources[e]]
        result = _both(code, result, sent * weights[e] if code == 0 else sent + weights[e])
    return result
