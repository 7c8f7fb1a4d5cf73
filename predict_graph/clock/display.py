"""What is being done, how far it is and what remains: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from predict_graph.clock.moment import Moment
from predict_graph.durations import readable_seconds, remaining
from predict_graph.printable import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

PATIENCE = 2.0  # limits output: seconds before the first line where no bar can be drawn


class Display(AbstractContextManager["Display"]):
    """A bar on a terminal or in a notebook with widgets; elsewhere lines, now and then."""

    def __init__(
        self,
        console: Console,
        text: str = "starting",
        *,
        what: str = "superstep",
        lines: bool = True,
        quiet: bool = False,
    ) -> None:
        self._console, self._what = console, what
        self._began = time.monotonic()
        self._first: tuple[float, float] | None = None  # of the steps: when, and what was done
        self._text = printable(text)
        self._left: Callable[[], str] = str
        self._ended = threading.Event()
        self._lines = threading.Thread(target=self._write, daemon=True)
        self._bar: Progress | None = None
        if quiet:
            return
        moves = console.is_terminal and not console.is_dumb_terminal  # its cursor, for a bar
        if moves or (console.is_jupyter and find_spec("ipywidgets")):
            self._draw()
        elif lines or console.is_jupyter:
            self._lines.start()

    def show(self, moment: Moment) -> None:
        """Show the state of a run."""
        name, now = f"{moment.algorithm}: " if moment.algorithm else "", time.monotonic()
        self._began = now - moment.elapsed
        text = name + moment.progress(self._what)
        self._update(text, moment.share, lambda: moment.after(time.monotonic() - now).left)

    def step(self, text: str, fraction: float) -> None:
        """Show what is being done, and the fraction of all that is done."""
        now = time.monotonic()
        since, done = self._first = self._first or (now, fraction)
        rest = remaining(now - since, (fraction - done) / (1.0 - min(done, 0.99)))

        def left() -> str:
            seconds = (rest or 0.0) - (time.monotonic() - now)
            return f"about {readable_seconds(seconds)} left" if seconds >= 1.0 else ""

        self._update(text, fraction, left)

    def __exit__(self, *_: object) -> None:
        """Remove the bar, or end the lines."""
        self._ended.set()
        if self._bar is not None:
            self._bar.stop()
        elif self._lines.is_alive():
            self._lines.join()

    def __str__(self) -> str:
        """Return the remaining time as text; the bar shows it."""
        return self._left()

    def _update(self, text: str, share: float, left: Callable[[], str]) -> None:
        self._text, self._left = printable(text), left  # the bar would obey what it shows
        if self._bar is not None:
            self._bar.tasks[0].start_time = self._began  # what is watched began before the bar
            self._bar.update(self._bar.task_ids[0], description=self._text, completed=share)

    def _draw(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.table import Column

        what = TextColumn("{task.description}", markup=False)
        left = TextColumn("{task.fields[left]}", markup=False)
        self._bar = Progress(
            # Where room is scarce, the bar gives way, not the time.
            *(what, BarColumn(20), TimeElapsedColumn(Column(no_wrap=True)), left),
            console=self._console,
            transient=True,
            refresh_per_second=2.0,
            redirect_stdout=sys.stdout.isatty(),  # else what is printed belongs to a file
        )
        self._bar.add_task(self._text, total=1.0, left=self)
        self._bar.start()

    def _write(self) -> None:
        pause = PATIENCE
        while not self._ended.wait(pause):
            elapsed = f"{readable_seconds(time.monotonic() - self._began)} elapsed"
            line = ", ".join(filter(None, (self._text, elapsed, str(self))))
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
            pause = 5.0 if pause == PATIENCE else 1.5 * pause
