"""Pictures: one drawing code for `--plot`, notebooks and reports; it knows numbers alone."""

from predict_graph.pictures.checking import check_picture
from predict_graph.pictures.drawing import Picture, draw_together, svg_of

__all__ = ["Picture", "check_picture", "draw_together", "svg_of"]
