"""Progress of long work, on standard error, and only where someone is watching."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from predict_graph.durations import readable_seconds, remaining

if TYPE_CHECKING:
    from rich.console import Console


Steps = Callable[[str, float], None]

PATIENCE = 2.0  # limits output: seconds before the first line where no bar can be drawn
_PAUSE = 5.0  # limits output: seconds to the next line, then half longer each time


@contextmanager
def watched(console: Console, *, quiet: bool = False) -> Iterator[Steps]:
    """Give a function that shows what is being done and the fraction that is done.

    A terminal has a bar with the time that has passed and remains. Elsewhere there is a plain line
    after two seconds, and now and then another.
    """
    if quiet:
        yield lambda text, fraction: None
    elif console.is_terminal:
        from rich.progress import (
            BarColumn,
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        text = TextColumn("{task.description}", markup=False)
        columns = (SpinnerColumn(), text, BarColumn(20), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task("starting", total=1.0)
            yield lambda text, done: progress.update(task, description=text, completed=done)
    else:
        with _PlainLines(console) as lines:
            yield lines.update


class _PlainLines:
    """Lines of progress, also while nothing reports any."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._text, self._fraction = "starting", 0.0
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


class Download:
    """The steps of a download; pooch sets `total`, in bytes, and calls the methods."""

    total = 0.0

    def __init__(self, steps: Steps, name: str) -> None:
        self._steps, self._name, self._done = steps, name, 0.0

    def update(self, count: float) -> None:
        """Add bytes that have come."""
        self._done += count
        fraction = self._done / self.total if self.total else 0.0
        self._steps(f"downloading {self._name} ({self._done / 1e6:.1f} MB)", fraction)

    def reset(self) -> None:
        """Begin again; pooch does so at the end, before it counts the whole file."""
        self._done = 0.0

    def close(self) -> None:
        """Do nothing: what shows the steps ends by itself."""
