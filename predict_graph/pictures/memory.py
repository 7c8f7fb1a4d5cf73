"""The plot of a run's peak memory and the available memory."""

from __future__ import annotations

from functools import partial

from predict_graph.pictures.drawing import Picture
from predict_graph.pictures.panels import amount_and_limit


def memory_picture(predicted: float, low: float, high: float, available: float) -> Picture:
    """Return the panel of a peak of memory, its 90% interval and the free memory, in bytes."""
    figures = [value / 1e9 for value in (predicted, low, high, available)]
    said = (
        "Memory at the peak: {:.2g} GB, 90% sure {:.2g} to {:.2g}, of {:.2g} GB that are free."
    ).format(*figures)
    draw = partial(
        amount_and_limit,
        predicted=figures[0],
        low=figures[1],
        high=figures[2],
        limit=figures[3],
        unit="GB",
        limited="free",
    )
    return Picture("Memory at the peak", said, draw, 0.65)
