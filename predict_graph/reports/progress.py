"""Progress of long work, on standard error, and only where someone is watching."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

__all__ = ["Steps", "watched"]

Steps = Callable[[str, float], None]


@contextmanager
def watched(console: Console) -> Iterator[Steps]:
    """Give a function that shows what is being done and the fraction that is done."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
    )
    shown = console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=not shown) as progress:
        task = progress.add_task("reading", total=1.0)
        yield lambda text, fraction: progress.update(task, description=text, completed=fraction)
