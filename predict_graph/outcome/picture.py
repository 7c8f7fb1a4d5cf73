"""The pictures of a prediction, with the real run beside it when there is one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from predict_graph.answers import between
from predict_graph.durations import counted, readable_seconds
from predict_graph.engines import RunProfile
from predict_graph.engines.profile import PHASE_NAMES, phases_said
from predict_graph.intervals import QUANTILE, Interval
from predict_graph.pictures import Picture, panels

if TYPE_CHECKING:
    from predict_graph.outcome.prediction import Prediction

_MEANING = {
    "absolute": "mean change of a vertex",
    "ratio": "share that changes",
    "fixed-point": "share of vertices that change",
}


def pictures_of(found: Prediction, actual: RunProfile | None = None) -> list[Picture]:
    """Return the pictures of a prediction: what each shows depends on what was predicted."""
    pictures = [_phases(found, actual)]
    if found.iterations is not None:
        pictures.insert(0, _seconds(found, actual))
        if found.method["threshold"] > 0.0:  # else it has a stopping rule of its own
            pictures.insert(0, _convergence(found, found.iterations, actual))
    if found.by_machines:
        pictures.append(_machines(found))
    if (memory := found.verdict.memory) is not None:
        pictures.append(panels.memory_picture(memory.peak, memory.available))
    return pictures


def _convergence(found: Prediction, iterations: Interval, actual: RunProfile | None) -> Picture:
    curves = [panels.Line("predicted", np.arange(1, len(found.convergence) + 1), found.convergence)]
    low, high = iterations
    sure = f", 90% sure {low:.0f} to {high:.0f}" if low < high else ""
    said = (
        f"Convergence: predicted to end after {counted(iterations.predicted, 'iterations')}{sure}; "
        f"the threshold of the aggregate is {found.method['threshold']:.3g}."
    )
    if actual is not None:
        curves.append(_real(actual.convergence))
        said += f" The real run stopped after {actual.iterations}."
    what = _MEANING.get(str(found.method.get("convergence")), "what the threshold is on")
    ends = {"threshold": found.method["threshold"], "interval": (low, high)}
    return Picture(
        "Convergence", said, partial(panels.convergence, lines=curves, what=what, **ends)
    )


def _seconds(found: Prediction, actual: RunProfile | None) -> Picture:
    seconds = found.rows.floats("seconds")
    factor = math.exp(QUANTILE * found.iteration_std)
    ends = seconds / factor, seconds * factor
    lines = [panels.Line("predicted", found.rows["iteration"], seconds, *ends)]
    said = (
        f"Seconds of each iteration: predicted {readable_seconds(seconds.sum())} for all "
        f"{len(seconds)}, the longest {readable_seconds(seconds.max(initial=0.0))}."
    )
    if actual is not None:
        real = actual.iteration_seconds
        lines.append(_real(real))
        said += f" The real ones took {readable_seconds(float(real.sum()))}."
    xlabel, ylabel = "iteration (band: 90% sure)", "time of an iteration"
    draw = partial(panels.draw_lines, lines=lines, xlabel=xlabel, ylabel=ylabel)
    return Picture("Time of each iteration", said, draw)


def _real(values: npt.ArrayLike) -> panels.Line:
    """Return the line of a real run, by iteration."""
    return panels.Line("real", np.arange(1, np.size(values) + 1), values, color="actual")


def _phases(found: Prediction, actual: RunProfile | None) -> Picture:
    runtime = found.runtime_seconds
    bars = {"predicted": _named(found.phases)}
    said = (
        f"Where the time goes: predicted {phases_said(found.phases)}; together "
        f"{readable_seconds(runtime.predicted)}, 90% sure {between(runtime)}."
    )
    if actual is not None:
        bars["real"] = _named(actual.phases)
        said += f" The real run: {phases_said(actual.phases)}."
    draw = partial(panels.bars_of_parts, bars=bars, total=(runtime.low, runtime.high))
    return Picture("Where the time goes", said, draw, 0.8)


def _named(phases: Mapping[str, float]) -> dict[str, float]:
    return {PHASE_NAMES[name]: max(float(seconds), 0.0) for name, seconds in phases.items()}


def _machines(found: Prediction) -> Picture:
    rows = found.by_machines
    counts, middle, low, high = (
        np.array([row[name] for row in rows], np.float64)
        for name in ("machines", "predicted", "low", "high")
    )
    own = found.engine.get("machines")
    fastest = int(np.argmin(middle))
    said = (
        f"Runtime against machines: {readable_seconds(middle[0])} on {counts[0]:.0f}, fastest with "
        f"{counts[fastest]:.0f}: {readable_seconds(middle[fastest])}."
    )
    at = np.flatnonzero(counts == own)
    chosen = (float(counts[at[0]]), float(middle[at[0]]), f"{own} asked for") if len(at) else None
    draw = partial(
        panels.draw_lines,
        lines=[panels.Line("predicted", counts, middle, low, high)],
        xlabel="machines (band: 90% sure)",
        ylabel="runtime",
        chosen=chosen,
    )
    return Picture("Time against machines", said, draw)
