"""Plots for `--plot`, notebooks and reports, drawn from numbers alone."""

from predict_graph.pictures.drawing import (
    Picture,
    check_picture,
    draw_together,
    svg_of,
)

__all__ = ["Picture", "check_picture", "draw_together", "svg_of"]
