"""Bars on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from predict_graph.durations import readable_seconds, remaining


@contextmanager
def bar(console: Console) -> Iterator[Callable[[str, float], None]]:
    """Give a function that moves a bar: what is being done, and the fraction that is done."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(20),
        TimeElapsedColumn(),
        _Remaining(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("starting", total=1.0)
        yield lambda text, fraction: progress.update(task, description=text, completed=fraction)


class _Remaining(ProgressColumn):
    """What remains, in words."""

    def render(self, task: Task) -> Text:
        left = remaining(task.elapsed or 0.0, task.completed)
        return Text("" if left is None else f"about {readable_seconds(max(left, 1.0))} left")
