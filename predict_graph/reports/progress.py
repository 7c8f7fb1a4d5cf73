"""Progress of long work, on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


Steps = Callable[[str, float], None]


@contextmanager
def watched(console: Console, *, quiet: bool = False) -> Iterator[Steps]:
    """Give a function that shows what is being done and the fraction that is done."""
    if quiet:
        yield lambda text, fraction: None
        return
    from predict_graph.clock.display import Display

    with Display(console) as display:
        yield display.step


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
