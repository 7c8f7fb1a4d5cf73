"""The pictures of a function's prediction."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from predict_graph.durations import readable_seconds
from predict_graph.intervals import QUANTILE
from predict_graph.pictures import Picture
from predict_graph.pictures.memory import memory_picture
from predict_graph.pictures.palette import LIGHT
from predict_graph.pictures.panels import bars_of_parts, dots, unit_of

if TYPE_CHECKING:
    from predict_graph.functions.prediction import FunctionPrediction

__all__ = ["pictures_of"]


def pictures_of(found: FunctionPrediction) -> list[Picture]:
    """Return time by parts, what each evidence says, the samples' times, and memory."""
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
    runtime = found.runtime_seconds
    parts = {"conversion": found.convert_seconds.predicted, "call": found.call_seconds.predicted}
    bars = {"predicted": parts}
    said = (
        f"Time: {readable_seconds(runtime.predicted)}, 90% sure {readable_seconds(runtime.low)} to "
        f"{readable_seconds(runtime.high)}, of which conversion "
        f"{readable_seconds(found.convert_seconds.predicted)}."
    )
    draw = partial(bars_of_parts, bars=bars, total=(runtime.low, runtime.high))
    return Picture("Where the time goes", said, draw, 0.65)


def _evidence(found: FunctionPrediction) -> Picture:
    """Each kind of evidence alone, and what they say together."""
    call = found.call_seconds
    rows = [("together", call.predicted, call.low, call.high)]
    for each in found.evidence:
        factor = math.exp(QUANTILE * each.log_std)
        seconds = each.predicted
        rows.append(
            (f"{each.source} ({each.weight:.0%})", seconds, seconds / factor, seconds * factor)
        )
    divisor, unit = unit_of(max(row[1] for row in rows))
    names = [row[0] for row in rows]
    values, low, high = (np.array([row[i] for row in rows]) / divisor for i in (1, 2, 3))
    said = "What each evidence says of the call: " + ", ".join(
        f"{name} {readable_seconds(value)}" for name, value, *_ in rows
    )
    draw = partial(
        dots,
        names=names,
        values=values,
        low=low,
        high=high,
        xlabel=f"time of the call, {unit} (line: 90% sure)",
        emphasised=["together"],
    )
    return Picture("Where the seconds come from", f"{said}.", draw, 0.5 + 0.1 * len(rows))


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
        axes.annotate(
            "graph, predicted ",
            (size, call.predicted),
            ha="right",
            fontsize=8.5,
            color=LIGHT.series[1],
            fontweight="bold",
        )
        axes.annotate(
            " samples",
            (edges[seconds.argmax()], seconds.max()),
            ha="left",
            va="top",
            fontsize=8.5,
            color=LIGHT.series[0],
            fontweight="bold",
        )
        axes.set(xscale="log", yscale="log", xlabel="edges", ylabel="time, s (line: 90% sure)")
        axes.margins(0.12)

    return Picture("Samples beside the graph", said, draw)
