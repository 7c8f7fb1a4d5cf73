"""Panels: axes with names and units, bands for intervals, a legend of the lines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.answers import between, readable_bytes
from predict_graph.arrays import FloatArray
from predict_graph.durations import readable_seconds
from predict_graph.intervals import Interval
from predict_graph.pictures import LIGHT, Picture, Values
from predict_graph.printable import printable

_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (5, 1.5, 1.5, 1.5)), (0, (8, 2)))
_MARKS = ("o", "s", "^", "D", "v")
_ACROSS, _UP = ("axes fraction", "data"), ("data", "axes fraction")
_BAND: Any = {"alpha": 0.18, "linewidth": 0}  # lines below stay visible
# Background of labels over lines
_CLEAR = {"facecolor": LIGHT.paper, "edgecolor": "none", "alpha": 0.85, "pad": 0.6}


@dataclass(frozen=True)
class Line:
    """A line with its band, and measured points.

    Colours are names of :class:`~predict_graph.pictures.Palette`: lines of one meaning
    have one colour, and differ in dashes, and their points in markers.
    """

    label: str
    x: npt.ArrayLike
    middle: npt.ArrayLike
    low: npt.ArrayLike | None = None
    high: npt.ArrayLike | None = None
    points: tuple[npt.ArrayLike, npt.ArrayLike] | None = None
    color: str = "predicted"


def unit_of(seconds: npt.ArrayLike) -> tuple[float, str]:
    """Return the divisor and the unit for seconds of this size, or in the middle of these sizes.

    Examples
    --------
    >>> unit_of(0.02), unit_of([0.02, 1200.0]), unit_of(1200.0)
    ((0.001, 'ms'), (1.0, 's'), (60.0, 'min'))
    """
    middle = float(np.sqrt(np.min(seconds) * np.max(seconds)))
    if middle < 1.0:
        return 1e-3, "ms"
    if middle < 180.0:
        return 1.0, "s"
    return (60.0, "min") if middle < 3 * 3600.0 else (3600.0, "h")


def convergence(
    axes: Any, lines: Sequence[Line], *, threshold: float, interval: tuple[float, float], what: str
) -> list[Values]:
    """Draw the convergence aggregate after each iteration, and the expected end of runs."""
    lines = [replace(line, middle=np.maximum(line.middle, threshold / 10.0)) for line in lines]
    low, high = interval
    band = f" (band: 90% of runs end at {low:.0f} to {high:.0f})" if low < high else ""
    xlabel = f"iteration{band}"
    ends = {"threshold": threshold}
    found = draw_lines(axes, lines, xlabel=xlabel, ylabel=what, limits=ends, seconds=False)
    axes.axvspan(low - 0.3, high + 0.3, color=LIGHT.predicted, **_BAND)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylim(bottom=threshold / 20.0)
    return found


def bars_of_parts(
    axes: Any, bars: Mapping[str, Mapping[str, float]], total: tuple[float, float] | None = None
) -> list[Values]:
    """Draw sums as bars of named parts, with the interval of the first one."""
    highest = max([sum(parts.values()) for parts in bars.values()] + [*(total or ())])
    divisor, unit = unit_of(highest)
    rows, lefts, values = -np.arange(len(bars)), np.zeros(len(bars)), []
    every = sorted({name for parts in bars.values() for name in parts})  # each has its own colour
    colors = (LIGHT.part2, LIGHT.muted, LIGHT.part1, LIGHT.ink)
    for name in dict.fromkeys(name for parts in bars.values() for name in parts if parts[name]):
        widths = np.array([parts.get(name, 0.0) for parts in bars.values()]) / divisor
        style = {"height": 0.5, "color": colors[every.index(name) % 4], "edgecolor": LIGHT.paper}
        drawn = axes.barh(rows, widths, left=lefts, label=name, **style)
        texts = [f"{width:.3g}" if width > 0.1 * highest / divisor else "" for width in widths]
        axes.bar_label(drawn, texts, label_type="center", color=LIGHT.paper, fontsize=8)
        values.append(Values([f"{bar}, {name}" for bar in bars], widths, rows, left=lefts))
        lefts = lefts + widths
    if total is not None:
        ends = np.array(total) / divisor
        axes.plot(ends, [0.36, 0.36], color=LIGHT.ink, linewidth=1.4, marker="|")
        _note(axes, "90% sure", (float(ends.mean()), 0.36), (0, 4), ha="center")
    _rows(axes, list(bars), f"time, {unit}")
    axes.legend(frameon=False, fontsize=8, loc="lower center", ncols=4, handlelength=1.2)
    axes.set_ylim(-len(bars) + 0.1, 0.75)
    axes.margins(x=0.03)
    axes.set_xlim(left=0)
    return values


def draw_lines(
    axes: Any,
    lines: Sequence[Line],
    *,
    xlabel: str,
    ylabel: str,
    limits: Mapping[str, float] | None = None,
    chosen: tuple[float, float, str] | None = None,
    seconds: bool = True,
) -> list[Values]:
    """Draw runtime or cost over whole numbers, such as machines or iterations."""
    from matplotlib.ticker import MaxNLocator

    tops = [np.asarray(line.middle if line.high is None else line.high) for line in lines]
    divisor, of = unit_of(float(max(top.max() for top in tops))) if seconds else (1.0, "")
    values = []
    for place, line in enumerate(lines):
        x, middle = np.asarray(line.x, np.float64), np.asarray(line.middle) / divisor
        color, ends = getattr(LIGHT, line.color), list[FloatArray]()
        if line.low is not None and line.high is not None:
            ends = [np.asarray(end) / divisor for end in (line.low, line.high)]
            axes.fill_between(line.x, *ends, color=color, **_BAND)
        # Enough values under the pointer, and a page that is not too large.
        at = np.unique(np.linspace(math.ceil(x[0]), math.floor(x[-1]), 100).round())
        heights = [np.interp(at, x, each) for each in (middle, *ends)]
        values.append(Values(line.label, at, *heights))
        style: dict[str, Any] = {"color": color, "label": line.label}
        style |= {"linestyle": _DASHES[place % len(_DASHES)], "markersize": 4}
        axes.plot(x, middle, marker="o" if len(x) < 2 else "", **style)
        if line.points is not None and len(np.asarray(line.points[0])):
            x, measured = np.asarray(line.points[0]), np.asarray(line.points[1]) / divisor
            label = "measured" if len(lines) == 1 else ""  # markers of several lines differ
            _points(axes, x, measured, place, LIGHT.actual, mfc=LIGHT.paper, label=label)
            values.append(Values(f"{line.label}, measured", x, measured))
    for name, level in (limits or {}).items():
        _limit(axes, level / divisor, name)
    if chosen is not None:
        axes.plot([chosen[0]], [chosen[1] / divisor], "*", markersize=13, color=LIGHT.ink)
        _note(axes, chosen[2], (chosen[0], chosen[1] / divisor), (8, 6))
    axes.set(xlabel=xlabel, ylabel=f"{ylabel}, {of}" if of else ylabel)
    axes.set_ylim(bottom=0)
    axes.margins(y=0.12)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True, min_n_ticks=1))
    axes.legend(frameon=False, fontsize=8.5)
    return values


def costs(
    axes: Any,
    groups: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike, Sequence[str]]],
    frontier: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    ylabel: str,
    xlabel: str,
    limits: tuple[float | None, float | None] = (None, None),
    chosen: tuple[float, float, str] | None = None,
    named: Sequence[tuple[float, float, str]] = (),
) -> list[Values]:
    """Draw cost against runtime: every configuration as a point, the Pareto frontier as a line."""
    divisor, unit = unit_of(float(max(np.max(x) for x, *_ in groups.values())))
    for place, (name, (x, y, _)) in enumerate(groups.items()):
        style = {"alpha": 0.55, "markersize": 4, "label": name}
        _points(axes, np.asarray(x) / divisor, y, place, LIGHT.predicted, **style)
    times = np.asarray(frontier[0]) / divisor
    axes.step(times, frontier[1], where="post", color=LIGHT.ink, linewidth=1.1)
    deadline, budget = limits
    if deadline is not None:
        axes.axvline(deadline / divisor, color=LIGHT.ink, linestyle=":", linewidth=1.3)
        _note(axes, "deadline", (deadline / divisor, 0.99), (3, 0), xycoords=_UP, va="top")
    if budget is not None:
        _limit(axes, budget, "budget")
    if chosen is not None:
        axes.plot([chosen[0] / divisor], [chosen[1]], "*", markersize=13, color=LIGHT.ink)
    left, right = axes.get_xlim()
    for x, y, name in [*named, *([] if chosen is None else [chosen])]:
        # No point is below the frontier, so labels there do not overlap; at the edge they are
        # placed beside it.
        below = x / divisor > left + 0.35 * (right - left)
        offset = (-4, -8) if below else (9, 0)
        across, up = ("right", "top") if below else ("left", "center")
        _note(axes, name, (x / divisor, y), offset, bbox=_CLEAR, ha=across, va=up)
    axes.set(xlabel=f"{xlabel}, {unit}", ylabel=ylabel)
    axes.margins(0.08)
    axes.set_ylim(bottom=0)
    axes.set_ylim(top=1.1 * axes.get_ylim()[1])  # space for names
    if len(groups) > 1:
        axes.legend(frameon=False, fontsize=8.5)
    return [Values(names, np.asarray(x) / divisor, y) for x, y, names in groups.values()]


def _limit(axes: Any, level: float, name: str) -> None:
    """Draw a limit, with its name above its right end."""
    axes.axhline(level, color=LIGHT.ink, linestyle=":", linewidth=1.3)
    _note(axes, name, (0.99, level), (0, 3), xycoords=_ACROSS, ha="right", bbox=_CLEAR)


def dots(
    axes: Any,
    names: Sequence[str],
    values: npt.ArrayLike,
    low: npt.ArrayLike | None = None,
    high: npt.ArrayLike | None = None,
    *,
    xlabel: str,
    color: str = "evidence",
    others: Mapping[str, str] | None = None,
    most_apart: float = np.inf,
) -> list[Values]:
    """Draw a value for each name, the first one on top, with its interval if there is one.

    Colours are names of :class:`~predict_graph.pictures.Palette`, for all and for some;
    those in ``ink`` are squares. The axis is logarithmic where the largest is more than
    `most_apart` times the smallest.
    """
    found = np.asarray(values)
    ends = np.array([found if end is None else end for end in (low, high)])
    for row, (name, value, start, end) in enumerate(zip(names, found, *ends, strict=True)):
        meaning = (others or {}).get(name, color)
        own, mark = getattr(LIGHT, meaning), "s" if meaning == "ink" else "o"
        axes.plot([start, end], [-row, -row], color=own, linewidth=2.2, alpha=0.6)
        axes.plot([value], [-row], mark, color=own, markersize=7)
        # 9,540 rather than 9.54e+03
        _note(axes, f"{float(f'{value:.3g}'):,g}", (value, -row), (0, 7), ha="center", fontsize=8)
    _rows(axes, names, xlabel)
    axes.set_ylim(-len(names) + 0.4, 0.7)
    axes.margins(x=0.12)
    if 0.0 < ends.min() < ends.max() / most_apart:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    return [Values(names, found, -np.arange(len(names)), *ends)]


def _note(axes: Any, text: str, at: Any, offset: tuple[int, int] = (0, 0), **style: Any) -> None:
    """Write a text beside a point."""
    given = {"fontsize": 8.5} | style
    axes.annotate(text, at, xytext=offset, textcoords="offset points", **given)


def _rows(axes: Any, names: Sequence[str], xlabel: str) -> None:
    """Name the rows of a panel, the first one on top."""
    axes.set_yticks(-np.arange(len(names)), map(printable, names))
    axes.tick_params(axis="y", labelcolor=LIGHT.ink, length=0)
    axes.set_xlabel(xlabel, loc="right")  # beside long names, a label in the middle is cut
    axes.grid(axis="y", visible=False)


def _points(axes: Any, x: Any, y: Any, place: int, color: str, **style: Any) -> None:
    axes.plot(x, y, _MARKS[place % len(_MARKS)], color=color, linestyle="", **style)


def dot_picture(title: str, text: str, names: Sequence[str], *values: Any, **more: Any) -> Picture:
    """Return a picture of :func:`dots`, as high as it has names."""
    height = 0.5 + 0.1 * len(names)
    return Picture(title, text, lambda axes: dots(axes, names, *values, **more), height)


def memory_picture(peak: Interval, available: float) -> Picture:
    """Return a picture of the peak of memory, its 90% interval and the free memory, in bytes."""
    middle, free = map(readable_bytes, (peak.predicted, available))
    sure = between(peak, readable_bytes)
    said = f"Memory at the peak: {middle}, 90% sure {sure}, of {free} that are free."
    figures = {"peak (line: 90% sure)": peak, "free": Interval.exact(available)}
    style = {"xlabel": "memory, GiB", "color": "predicted", "others": {"free": "ink"}}
    return intervals_picture("Memory at the peak", said, figures, 2.0**30, **style)


def intervals_picture(
    title: str, said: str, figures: Mapping[str, Interval], divisor: float, **style: Any
) -> Picture:
    """Return a picture of named intervals, in units of a divisor."""
    columns = np.array([(each.predicted, *each) for each in figures.values()]).T / divisor
    return dot_picture(title, said, list(figures), *columns, **style)


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
