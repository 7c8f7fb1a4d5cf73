"""Progress of long work, on standard error, and only where someone is watching."""

from __future__ import annotations

import threading
import time
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

from predict_graph.durations import readable_seconds

__all__ = ["DownloadBar", "Steps", "remaining", "watched"]

Steps = Callable[[str, float], None]

PATIENCE = 2.0
"""Seconds after which a line is written where no bar can be drawn."""
_PAUSE = 5.0  # seconds between such lines, at first; each time a half longer
_LEAST_DONE = 0.03  # of the work, before which what remains is anybody's guess


@contextmanager
def watched(console: Console, *, quiet: bool = False) -> Iterator[Steps]:
    """Give a function that shows what is being done and the fraction that is done.

    A terminal has a bar with the time that has passed and remains. Elsewhere there is a plain line
    after two seconds, and now and then another.
    """
    if quiet:
        yield lambda text, fraction: None
    elif console.is_terminal:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(20),
            TimeElapsedColumn(),
            _Remaining(),
        )
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("reading", total=1.0)
            yield lambda text, fraction: progress.update(task, description=text, completed=fraction)
    else:
        with _PlainLines(console) as lines:
            yield lines.update


def remaining(passed: float, fraction: float) -> float | None:
    """Return the seconds that remain, if the rest goes as what is done did; None if unknown.

    Examples
    --------
    >>> remaining(10.0, 0.25), remaining(10.0, 0.0)
    (30.0, None)
    """
    return passed * (1.0 - fraction) / fraction if fraction >= _LEAST_DONE else None


class _Remaining(ProgressColumn):
    """What remains, in words."""

    def render(self, task: Task) -> Text:
        left = remaining(task.elapsed or 0.0, task.completed)
        return Text("" if left is None else f"about {readable_seconds(max(left, 1.0))} left")


class _PlainLines:
    """Lines of progress, also while nothing reports any."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._text, self._fraction = "reading", 0.0
        self._started = time.perf_counter()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> _PlainLines:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def update(self, text: str, fraction: float) -> None:
        self._text, self._fraction = text, fraction

    def _write(self) -> None:
        pause = PATIENCE
        while not self._ended.wait(pause):
            passed = time.perf_counter() - self._started
            left = remaining(passed, self._fraction)
            rest = "" if left is None else f", about {readable_seconds(max(left, 1.0))} left"
            line = f"{self._text}: {readable_seconds(passed)} so far{rest}"
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
            pause = _PAUSE if pause == PATIENCE else 1.5 * pause


class DownloadBar:
    """A bar for a download; pooch sets `total` and calls the methods.

    Parameters
    ----------
    console : Console
    name : str
        What is downloaded.
    """

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
