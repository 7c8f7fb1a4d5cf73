"""Answers and tables for people, on a terminal or off it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from predict_graph.reports.layout import fact_lines, table_lines, wrapped

if TYPE_CHECKING:
    from rich.console import Console

    from predict_graph.answers import Answer, Facts, Table


def show_answer(
    console: Console, answer: Answer, *, quiet: bool = False, verbose: bool = False
) -> None:
    """Print an answer: its sentence first, then what decides it, then the rest if asked for."""
    say(console, answer.sentence, style="bold")
    if quiet:
        return
    _show(console, answer.facts, answer.tables)
    if verbose:
        _show(console, answer.details, answer.more)
    if answer.warnings:
        console.print()
    for warning in answer.warnings:
        say(console, f"warning: {warning}", style="yellow")


def show_table(
    console: Console,
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    width: int | None = None,
) -> None:
    """Print a table; without a width, it is as wide as it has to be in a pipe or a file."""
    if title:
        say(console, title, style="bold")
    room = width or (console.width if console.is_terminal else sys.maxsize)
    _print(console, table_lines(columns, [list(row) for row in rows], room))


def say(console: Console, text: str, *, style: str | None = None) -> None:
    """Print a text; no word of it is cut."""
    _print(console, wrapped(" ".join(text.split()), console.width), style)


def _show(console: Console, facts: Facts, tables: Sequence[Table]) -> None:
    if facts:
        _print(console, ["", *fact_lines(facts, console.width)])
    for table in tables:
        console.print()
        show_table(console, table.title, table.columns, table.rows, console.width)


def _print(console: Console, lines: Sequence[str], style: str | None = None) -> None:
    """Print lines as they are: laid out already, and no markup."""
    for line in lines:
        console.print(line, style=style, markup=False, highlight=False, soft_wrap=True)
