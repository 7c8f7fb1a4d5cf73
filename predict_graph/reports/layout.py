"""Text laid out for a terminal of any width: nothing wraps within a word.

Where a table is too wide, each of its rows becomes a block of lines.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len  # columns of a terminal: a letter of Chinese takes two

from predict_graph.answers import cell_text

_GAP = 2  # limits the width: columns between two cells


def wrapped(text: str, width: int) -> list[str]:
    """Return text as lines of at most `width` columns, unless a word is longer.

    Examples
    --------
    >>> wrapped("under a second, mostly reading", 16)
    ['under a second,', 'mostly reading']
    """
    lines = textwrap.wrap(text, max(width, 1), break_long_words=False, break_on_hyphens=False)
    return lines or [""]


def fact_lines(facts: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return pairs of what and how much as lines: beside each other, or under each other.

    Examples
    --------
    >>> fact_lines([("graph", "G: 10 edges"), ("iterations", "7")], 80)
    ['graph       G: 10 edges', 'iterations  7']
    """
    name_width = max((cell_len(name) for name, _ in facts), default=0)
    room = width - name_width - _GAP
    if room < 30:  # too few columns
        under = ((name, wrapped(value, width - 2)) for name, value in facts)
        return [
            line
            for name, values in under
            for line in (*wrapped(name, width), *(f"  {value}" for value in values))
        ]
    rows = (_row_lines(fact, (name_width, room), (False, False)) for fact in facts)
    return [line for row in rows for line in row]


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int) -> list[str]:
    r"""Return a table as lines; numbers stand on the right.

    Examples
    --------
    >>> rows = [["brj", 1200], ["rj", None], ["rwr", 80]]
    >>> print("\n".join(table_lines(["sampler", "edges"], rows, 40)))
    sampler  edges
    ───────  ─────
    brj      1,200
    rj
    rwr         80
    >>> table_lines(["sampler", "edges"], [["brj", 1200]], 10)
    ['brj', '  edges:', '  1,200']
    """
    cells = [[cell_text(cell) for cell in row] for row in rows]
    right = are_numbers(columns, rows)
    widths = _widths(columns, cells, width - _GAP * (len(columns) - 1))
    if widths is None:
        return [*_blocks(columns, cells, width)]
    rule = ["─" * one for one in widths]
    return [line for row in (columns, rule, *cells) for line in _row_lines(row, widths, right)]


def are_numbers(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[bool]:
    """Return whether each column of a table has numbers alone, or nothing in their place."""
    numbers = [[isinstance(cell, int | float | None) for cell in row] for row in rows]
    return [all(column) for column in zip(*numbers, strict=True)] or [False] * len(columns)


def _widths(columns: Sequence[str], cells: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Return the width of each column; None if not even the words find room."""
    parts = [*zip(columns, *cells, strict=True)]
    widths = [max(map(cell_len, texts)) for texts in parts]
    least = [
        max((cell_len(word) for text in texts for word in text.split()), default=1)
        for texts in parts
    ]
    if sum(least) > room:
        return None
    while sum(widths) > room:  # what can give way most does so first
        place = max(range(len(widths)), key=lambda i: widths[i] - least[i])
        widths[place] -= 1
    return widths


def _row_lines(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> Iterator[str]:
    parts = [wrapped(text, width) for text, width in zip(row, widths, strict=True)]
    for line in zip_longest(*parts, fillvalue=""):
        cells = (_padded(*cell) for cell in zip(line, widths, right, strict=True))
        yield (" " * _GAP).join(cells).rstrip()


def _blocks(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield each row as a block: its first cell, and the others by name under it."""
    for first, *others in cells:
        yield from wrapped(first, width)
        for name, value in zip(columns[1:], others, strict=True):
            if value:
                yield from (f"  {line}" for line in wrapped(f"{name}: {value}", width - 2))


def _padded(text: str, width: int, right: bool) -> str:
    space = " " * max(width - cell_len(text), 0)
    return space + text if right else text + space
