"""Whether a picture can be drawn: asked before the work whose result it shows."""

from __future__ import annotations

from pathlib import Path

from predict_graph.errors import RequestError

__all__ = ["check_picture"]


def check_picture(path: Path | None) -> None:
    """Refuse a picture that cannot be drawn.

    Raises
    ------
    RequestError
        If matplotlib is missing, or the suffix names no picture.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        raise RequestError(
            "drawing needs matplotlib, which is not installed; "
            "install it with: pip install 'predict-graph[plot]'"
        ) from None
    accepted = set(FigureCanvasAgg.get_supported_filetypes())
    if path is not None and path.suffix.lstrip(".") not in accepted:
        raise RequestError(
            f"cannot draw {path}; accepted: a name in .{', .'.join(sorted(accepted))}"
        )
