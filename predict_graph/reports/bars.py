"""Bars on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TransferSpeedColumn,
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


class DownloadBar:
    """A bar for a download; pooch sets `total` and calls the methods."""

    def __init__(self, console: Console, name: str) -> None:
        self._progress = Progress(
            TextColumn(f"downloading {name}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=None)
        self._progress.start()

    @property
    def total(self) -> float | None:
        """Bytes of the file."""
        return self._progress.tasks[0].total

    @total.setter
    def total(self, value: float) -> None:
        self._progress.update(self._task, total=value)

    def update(self, count: float) -> None:
        """Add bytes that have come."""
        self._progress.advance(self._task, count)

    def reset(self) -> None:
        """Begin again; pooch does so at the end, before it counts the whole file."""
        self._progress.reset(self._task)

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()
