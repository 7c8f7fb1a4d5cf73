"""The pictures of a function's prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from predict_graph.durations import readable_seconds
from predict_graph.intervals import Interval
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import bars_of_parts, dots, memory_picture, unit_of

if TYPE_CHECKING:
    from predict_graph.functions.prediction import FunctionPrediction

_FAR = 30.0  # longest over shortest: limits linear axes


def pictures_of(found: FunctionPrediction) -> list[Picture]:
    """Return time by parts, the estimate of each source, and memory."""
    pictures = [_time(found)]
    if found.evidence:
        pictures.append(_evidence(found))
    peak = found.peak_bytes
    if peak is not None:
        pictures.append(memory_picture(peak.predicted, peak.low, peak.high, found.available_bytes))
    return pictures


def _time(found: FunctionPrediction) -> Picture:
    runtime, convert = found.runtime_seconds, found.convert_seconds.predicted
    bars = {"predicted": {"conversion": convert, "call": found.call_seconds.predicted}}
    said = (
        f"Time: {readable_seconds(runtime.predicted)}, 90% sure {readable_seconds(runtime.low)} to "
        f"{readable_seconds(runtime.high)}, includes conversion {readable_seconds(convert)}."
    )
    draw = partial(bars_of_parts, bars=bars, total=(runtime.low, runtime.high))
    return Picture("Where the time goes", said, draw, 0.65)


def _evidence(found: FunctionPrediction) -> Picture:
    """Draw the estimate of each source, and the combined one."""
    figures = {"together": found.call_seconds} | {
        f"{each.source} ({each.weight:.0%})": Interval.spread(each.predicted, each.log_std)
        for each in found.evidence
    }
    said = "Estimates of the call by source: " + ", ".join(
        f"{name} {readable_seconds(each.predicted)}" for name, each in figures.items()
    )
    divisor, unit = unit_of(max(each.predicted for each in figures.values()))
    title, xlabel = "Where the seconds come from", f"time of the call, {unit}"
    return intervals(title, f"{said}.", figures, divisor, xlabel, emphasised=["together"])


def intervals(
    title: str,
    said: str,
    figures: Mapping[str, Interval],
    divisor: float,
    xlabel: str,
    emphasised: Sequence[str] = (),
) -> Picture:
    """Return a picture of named intervals; on a logarithmic axis where they differ much."""
    values, low, high = (
        np.array([getattr(each, name) for each in figures.values()]) / divisor
        for name in ("predicted", "low", "high")
    )

    def draw(axes: Any) -> None:
        names = [name.replace(":", ":\n", 1) for name in figures]
        label = f"{xlabel} (line: 90% sure)"
        dots(axes, names, values, low, high, xlabel=label, emphasised=emphasised)
        if high.max() > _FAR * low.min() > 0.0:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")

    return Picture(title, said, draw, 0.5 + 0.1 * len(figures))
