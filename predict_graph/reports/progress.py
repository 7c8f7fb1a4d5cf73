"""Progress of long work, on standard error."""

from __future__ import annotations

from collections.abc import Callable

Steps = Callable[[str, float], None]  # takes a text, and the fraction from 0 to 1 that is done


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
        """Do nothing: the display is closed by who opened it."""
