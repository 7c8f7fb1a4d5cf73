"""A console for texts of strangers."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from predict_graph.reports.terminal import printable

__all__ = ["SafeConsole"]


class SafeConsole(Console):
    """A console that shows the control characters of a text instead of obeying them."""

    def render_str(self, text: str, **options: Any) -> Text:  # type: ignore[override]
        """Render a text, its control characters written out."""
        return super().render_str(printable(text), **options)
