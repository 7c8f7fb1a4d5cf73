"""Progress display: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

from predict_graph.clock.moment import Moment
from predict_graph.intervals import Interval

if TYPE_CHECKING:
    from rich.console import Console

_BETWEEN_LINES = 1.0  # seconds; limits the rate of lines
_REFRESHES = 2.0  # per second; limits the rate of updates of a bar


class Display(AbstractContextManager["Display"]):
    """A bar on a terminal or in a notebook; elsewhere lines, at most one per second."""

    def __init__(self, console: Console, *, what: str = "superstep", lines: bool = True) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._console = console
        self._what = what
        self._bar = console.is_terminal or console.is_jupyter
        self._lines = lines and not self._bar
        self._moment: Moment | None = None
        self._at = self._line_at = time.monotonic()
        self._shown = ("", 0.0)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}", markup=False),
            console=console,
            transient=True,
            refresh_per_second=_REFRESHES,
            disable=not self._bar,
        )
        self._task = self._progress.add_task("reading", total=1.0, left=self)
        self._progress.start()

    def show(self, moment: Moment) -> None:
        """Show the state of the run."""
        self._moment, self._at = moment, time.monotonic()
        if self._bar:
            name = f"{moment.algorithm}: " if moment.algorithm else ""
            text = name + moment.progress(self._what)
            self._progress.update(self._task, description=text, completed=moment.share)
        elif self._lines and moment.state == "running":
            self._line(moment)

    def __str__(self) -> str:
        """Return the remaining time as text; the bar shows it."""
        moment = self._moment
        if moment is None:
            return ""
        if moment.remaining is not None:  # time passes between supersteps
            gone, figure = time.monotonic() - self._at, moment.remaining
            ends = (max(each - gone, 0.0) for each in (figure.predicted, figure.low, figure.high))
            moment = replace(moment, remaining=Interval(*ends))
        return moment.left

    def close(self) -> None:
        """Remove the bar."""
        self._progress.stop()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _line(self, moment: Moment) -> None:
        state = (moment.algorithm, moment.done)
        now = time.monotonic()
        if state == self._shown or now - self._line_at < _BETWEEN_LINES:
            return
        self._shown, self._line_at = state, now
        self._console.print(moment.words(self._what), markup=False, highlight=False, soft_wrap=True)
