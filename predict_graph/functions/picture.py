"""The pictures of a function's prediction."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from predict_graph.durations import readable_seconds
from predict_graph.intervals import Interval
from predict_graph.pictures import Picture
from predict_graph.pictures.palette import LIGHT
from predict_graph.pictures.panels import bars_of_parts, dot_picture, memory_picture, unit_of

if TYPE_CHECKING:
    from predict_graph.functions.prediction import FunctionPrediction


def pictures_of(found: FunctionPrediction) -> list[Picture]:
    """Return time by parts, the estimate of each source, the samples' times, and memory."""
    pictures = [_time(found)]
    if found.evidence:
        pictures.append(_evidence(found))
    done = [row for row in found.samples if row.state == "done" and row.seconds > 0]
    if len(done) > 1:
        pictures.append(_samples(found, done))
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
    intervals = {"together": found.call_seconds}
    for each in found.evidence:
        name = f"{each.source} ({each.weight:.0%})"
        intervals[name] = Interval.spread(each.predicted, each.log_std)
    divisor, unit = unit_of(max(each.predicted for each in intervals.values()))
    said = "Estimates of the call by source: " + ", ".join(
        f"{name} {readable_seconds(each.predicted)}" for name, each in intervals.items()
    )
    ends = ("predicted", "low", "high")
    values = (
        np.array([getattr(each, end) for each in intervals.values()]) / divisor for end in ends
    )
    xlabel, own = f"time of the call, {unit} (line: 90% sure)", ["together"]
    title, names = "Where the seconds come from", list(intervals)
    return dot_picture(title, f"{said}.", names, *values, xlabel=xlabel, emphasised=own)


def _samples(found: FunctionPrediction, done: list[Any]) -> Picture:
    edges = np.array([row.edges for row in done], np.float64)
    seconds = np.array([row.seconds for row in done])
    call = found.call_seconds
    said = (
        f"Time against edges of {len(done)} samples, up to {edges.max():,.0f} edges in "
        f"{readable_seconds(seconds.max())}, and of the graph, as predicted: "
        f"{found.graph['edges']:,} edges."
    )

    def draw(axes: Any) -> None:
        axes.plot(edges, seconds, "o", color=LIGHT.series[0], linestyle="")
        size = float(found.graph["edges"])
        axes.plot([size, size], [call.low, call.high], color=LIGHT.series[1], linewidth=2)
        axes.plot([size], [call.predicted], "s", color=LIGHT.series[1])
        largest = (edges[seconds.argmax()], seconds.max())
        text: dict[str, Any] = {"fontsize": 8.5, "fontweight": "bold"}
        end = (size, call.predicted)
        axes.annotate("graph, predicted ", end, ha="right", color=LIGHT.series[1], **text)
        axes.annotate(" samples", largest, va="top", color=LIGHT.series[0], **text)
        axes.set(xscale="log", yscale="log", xlabel="edges", ylabel="time, s (line: 90% sure)")
        axes.margins(0.12)

    return Picture("Samples beside the graph", said, draw)
