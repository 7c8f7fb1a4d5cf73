"""The longest repetition in a sequence, which indicates a loop in a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Repetition:
    """A part of a sequence that repeats one block; the last repeat may be truncated."""

    start: int
    stop: int
    period: int


def longest_repetition(
    symbols: Sequence[Hashable],
    weights: Sequence[float],
    *,
    least: int = 2,
    longest: int = 64,
    as_good: float = 0.98,
) -> Repetition | None:
    """Return the repetition with the most weight; among about equal ones, the shortest block.

    A block has at most `longest` items, which limits the quadratic search; a shorter one may have
    `as_good` of the weight of another.

    Examples
    --------
    >>> longest_repetition("xabababay", [1] * 9)
    Repetition(start=1, stop=8, period=2)
    >>> longest_repetition("abcdef", [1] * 6) is None
    True
    """
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(symbol, len(numbers)) for symbol in symbols], np.int64)
    heavy = np.concatenate([[0.0], np.cumsum(np.maximum(weights, 1e-9))])
    best: Repetition | None = None
    best_weight = 0.0
    for period in range(1, min(longest, len(codes) // least) + 1):
        same = np.concatenate([[False], codes[:-period] == codes[period:], [False]])
        edges = np.flatnonzero(same[1:] != same[:-1])
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            stop = int(end) + period
            if stop - start < least * period:
                continue
            weight = float(heavy[stop] - heavy[start])
            if best is None or weight * as_good > best_weight:
                best, best_weight = Repetition(int(start), stop, period), weight
    return best


def loop_starts(symbols: Sequence[Hashable], found: Repetition) -> list[int]:
    """Return where the iterations of a loop start.

    A block may hold several iterations: a loop that checkpoints every third time is a block of
    three. The most frequent item of a block occurs once per iteration.

    Examples
    --------
    >>> loop_starts("aacaacaac", Repetition(0, 9, 3))
    [0, 1, 3, 4, 6, 7]
    >>> loop_starts("ababa", Repetition(0, 5, 2))
    [0, 2, 4]
    """
    block = symbols[found.start : found.start + found.period]
    anchor, _ = Counter(block).most_common(1)[0]
    places = [place for place, symbol in enumerate(block) if symbol == anchor]
    begins = [0, *places[1:]]
    return [
        at + begin
        for at in range(found.start, found.stop, found.period)
        for begin in begins
        if at + begin < found.stop
    ]
