"""A console for texts of strangers, and downloads on it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.text import Text

from predict_graph.printable import printable


class SafeConsole(Console):
    """A console that shows the control characters of a text instead of obeying them."""

    def render_str(self, text: str, **options: Any) -> Text:  # type: ignore[override]
        """Render a text, its control characters written out, its words as they are."""
        return super().render_str(printable(text), **{**options, "emoji": False})

    def on_broken_pipe(self) -> None:
        """Print nothing more where the reader has gone, as ``head`` does; files are written."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


class Download:
    """A progress bar for pooch, which sets `total` and calls the methods; it reports to `steps`."""

    total = 0.0  # bytes; 0 if unknown

    def __init__(self, steps: Callable[[str, float], None], name: str) -> None:
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
