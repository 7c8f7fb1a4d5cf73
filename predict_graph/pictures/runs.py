"""The pictures of a run: where its time went."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import numpy.typing as npt

from predict_graph.durations import readable_seconds
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import Line, bars_of_parts, draw_lines


def pictures_of_run(phases: Mapping[str, float], seconds: npt.ArrayLike) -> list[Picture]:
    """Return the seconds of each phase, and of each iteration if there was one."""
    said = ", ".join(f"{name} {readable_seconds(value)}" for name, value in phases.items())
    draw = partial(bars_of_parts, bars={"run": phases})
    pictures = [Picture("Where the time goes", f"Time by phase: {said}.", draw, 0.65)]
    found = np.asarray(seconds, np.float64)
    if len(found):
        line = Line("run", np.arange(1, len(found) + 1), found, color="actual")
        said = (
            f"Time of {len(found)} iterations: {readable_seconds(found.min())} to "
            f"{readable_seconds(found.max())}."
        )
        draw = partial(draw_lines, lines=[line], xlabel="iteration", ylabel="time of an iteration")
        pictures.append(Picture("Time of an iteration", said, draw))
    return pictures
