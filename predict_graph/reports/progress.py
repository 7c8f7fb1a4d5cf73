"""Progress of long work, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


Steps = Callable[[str, float], None]  # takes a text, and the fraction from 0 to 1 that is done


@contextmanager
def watched(console: Console, *, quiet: bool = False) -> Iterator[Steps]:
    """Give a function that shows what is being done and the fraction, or one that does nothing."""
    if quiet:
        yield lambda text, fraction: None
        return
    from predict_graph.clock.display import Display

    with Display(console) as display:
        yield display.step


class Download:
    """A progress bar for pooch, which sets `total` and calls the methods; it reports to `steps`."""

    total = 0.0  # bytes; 0 if unknown

    def __init__(self, steps: Steps, name: str) -> None:
        self._steps, self._name, self._done = steps, name, 0.0

    def update(self, count: float) -> None:
        """Add bytes that have come."""
        self._done += count
        fraction = min(self._done / self.total, 1.0) if self.total else 0.0
        self._steps(f"downloading {self._name} ({self._done / 1e6:.1f} MB)", fraction)

    def reset(self) -> None:
        """Begin again: pooch does so at the end, and then counts the whole file at once."""
        self._done = 0.0

    def close(self) -> None:
        """Do nothing: the display is closed by :func:`watched`."""
