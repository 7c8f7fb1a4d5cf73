"""A console for texts of strangers."""

from __future__ import annotations

import os
from typing import Any

from rich.console import Console
from rich.text import Text

from predict_graph.printable import printable


class SafeConsole(Console):
    """A console that shows the control characters of a text instead of obeying them."""

    def render_str(self, text: str, **options: Any) -> Text:  # type: ignore[override]
        """Render a text, its control characters written out."""
        return super().render_str(printable(text), **options)

    def on_broken_pipe(self) -> None:
        """Print nothing more where the reader has gone, as ``head`` does; files are written."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())
