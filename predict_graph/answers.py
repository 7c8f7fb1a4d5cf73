"""What every result says first: a sentence, what decides it, and the rest for who asks.

One object gives the text of a terminal, the form in a notebook, the head of a report and the
sentence in JSON, so that they never say different things.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from predict_graph.durations import readable_seconds
from predict_graph.intervals import Interval
from predict_graph.printable import printable

Facts = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Table:
    """A table of an answer."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Answer:
    """The answer to a request.

    Its `badge` is the verdict in a word or two, and whether that is ``"good"``, ``"bad"`` or calls
    for ``"caution"``.

    Examples
    --------
    >>> print(Answer("about 40 s", [("graph", "G: 10 edges")], warnings=["few edges"]))
    about 40 s
    graph: G: 10 edges
    warning: few edges
    """

    sentence: str
    facts: Facts = ()
    tables: Sequence[Table] = ()
    warnings: Sequence[str] = ()
    details: Facts = ()
    more: Sequence[Table] = ()
    badge: tuple[str, str] | None = None

    def __str__(self) -> str:
        lines = [self.sentence, *(f"{name}: {value}" for name, value in self.facts)]
        return printable("\n".join([*lines, *(f"warning: {text}" for text in self.warnings)]))

    def to_html(self) -> str:
        """Return the answer as HTML, for a notebook."""
        parts = [f"<p><strong>{_escaped(self.sentence)}</strong></p>"]
        parts.append(_html(self.facts, self.tables))
        parts += [f"<p>warning: {_escaped(text)}</p>" for text in self.warnings]
        more = _html(self.details, self.more)
        if more:
            parts.append(f"<details><summary>details</summary>{more}</details>")
        return "".join(parts)


def between(ends: Iterable[float], readable: Callable[[float], str] = readable_seconds) -> str:
    """Return the ends of an interval, by default of seconds, in words."""
    return " to ".join(map(readable, ends))


def sure(seconds: Interval) -> str:
    """Return an estimate of seconds with its 90% interval in words.

    Examples
    --------
    >>> sure(Interval(40.0, 34.0, 47.0))
    '40 s (90% sure: 34 s to 47 s)'
    """
    return f"{readable_seconds(seconds.predicted)} (90% sure: {between(seconds)})"


def readable_bytes(value: float) -> str:
    """Return a size with its unit.

    Examples
    --------
    >>> readable_bytes(3 * 2**20), readable_bytes(2.5 * 2**30)
    ('3 MiB', '2.5 GiB')
    >>> readable_bytes(1010 * 2**20), readable_bytes(float("inf"))
    ('0.986 GiB', 'any size')
    """
    size = float(value)
    if math.isinf(size):
        return "any size"
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 999.5:  # three digits
            return f"{size:.3g} {unit}"
        size /= 1024.0
    return f"{size:.3g} TiB"


def interval_text(interval: Interval, readable: Callable[[float], str] = readable_seconds) -> str:
    """Return an interval in words."""
    return f"{readable(interval.predicted)} ({between(interval, readable)})"


def graph_text(graph: Mapping[str, Any]) -> str:
    """Return the size of a described graph, and what was assumed of it.

    Examples
    --------
    >>> graph_text({"vertices": 2000, "edges": 3, "notes": ["read as directed"]})
    '2,000 vertices, 3 edges, read as directed'
    >>> graph_text({"vertices": 3, "edges": 4, "directed": False, "fingerprint": "1f"})
    '3 vertices, 4 edges (each counted both ways)'
    """
    stored = "fingerprint" in graph  # a size alone has each edge once
    both = " (each counted both ways)" if stored and not graph["directed"] else ""
    size = f"{graph['vertices']:,} vertices, {graph['edges']:,} edges{both}"
    return ", ".join([size, *graph.get("notes", ())])


def cell_text(cell: Any) -> str:
    """Return a cell of a table as text.

    Examples
    --------
    >>> cell_text(0.123456), cell_text(12345), cell_text(12345.6), cell_text(None)
    ('0.1235', '12,345', '12,346', '')
    """
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if 1e4 <= abs(cell) < 1e15 else f"{cell:.4g}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


def _escaped(text: str) -> str:
    return html.escape(printable(text))


def _html(facts: Facts, tables: Sequence[Table]) -> str:
    parts = [Table("", (), facts)] if facts else []
    return "".join(map(_html_table, [*parts, *tables]))


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{_escaped(name)}</th>" for name in table.columns)
    rows = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:left">{_escaped(cell_text(cell))}</td>' for cell in row)
        + "</tr>"
        for row in table.rows
    )
    title = f"<caption>{_escaped(table.title)}</caption>" if table.title else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
