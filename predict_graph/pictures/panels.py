"""Panels: axes with names and units, bands for intervals, a legend of the lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.intervals import Interval
from predict_graph.pictures.drawing import Picture
from predict_graph.pictures.palette import LIGHT

FloatArray = npt.NDArray[np.float64]

_DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.5)), (0, (5, 1.5, 1.5, 1.5)), (0, (8, 2)))
_MARKS = ("o", "s", "^", "D", "v")
_ACROSS, _UP = ("axes fraction", "data"), ("data", "axes fraction")
_FAR = 30.0  # longest over shortest: limits linear axes
_BAND = 0.18  # opacity; trades off visible bands for visible lines
# Background of labels over lines
_CLEAR = {"facecolor": LIGHT.paper, "edgecolor": "none", "alpha": 0.85, "pad": 0.6}


@dataclass(frozen=True)
class Line:
    """A line with its band, and measured points."""

    label: str
    x: npt.ArrayLike
    middle: npt.ArrayLike
    low: npt.ArrayLike | None = None
    high: npt.ArrayLike | None = None
    points: tuple[npt.ArrayLike, npt.ArrayLike] | None = None


def unit_of(seconds: float) -> tuple[float, str]:
    """Return the divisor and the unit for seconds of this size.

    Examples
    --------
    >>> unit_of(0.02), unit_of(30.0), unit_of(1200.0)
    ((0.001, 'ms'), (1.0, 's'), (60.0, 'min'))
    """
    if seconds < 1.0:
        return 1e-3, "ms"
    if seconds < 180.0:
        return 1.0, "s"
    return (60.0, "min") if seconds < 3 * 3600.0 else (3600.0, "h")


def convergence(
    axes: Any,
    curves: Mapping[str, npt.ArrayLike],
    *,
    threshold: float,
    interval: tuple[float, float],
    what: str,
) -> None:
    """Draw the convergence aggregate after each iteration, and the expected end of runs."""
    lines = [
        Line(name, np.arange(1, len(found) + 1), np.maximum(found, threshold / 10.0))
        for name, found in ((name, np.asarray(curve)) for name, curve in curves.items())
    ]
    low, high = interval
    xlabel = f"iteration (band: 90% of runs end at {low:.0f} to {high:.0f})"
    ends = {"threshold": threshold}
    draw_lines(axes, lines, xlabel=xlabel, ylabel=what, limits=ends, seconds=False)
    axes.axvspan(low - 0.3, high + 0.3, color=LIGHT.series[0], alpha=_BAND, linewidth=0)
    axes.set_yscale("log")
    axes.set_ylim(bottom=threshold / 20.0)


def bars_of_parts(
    axes: Any, bars: Mapping[str, Mapping[str, float]], total: tuple[float, float] | None = None
) -> None:
    """Draw sums as bars of named parts, with the interval of the first one."""
    highest = max([sum(parts.values()) for parts in bars.values()] + [*(total or ())])
    divisor, unit = unit_of(highest)
    rows, lefts = -np.arange(len(bars)), np.zeros(len(bars))
    for place, name in enumerate(dict.fromkeys(name for parts in bars.values() for name in parts)):
        widths = np.array([parts.get(name, 0.0) for parts in bars.values()]) / divisor
        style = {"height": 0.5, "color": _color(place), "edgecolor": LIGHT.paper}
        drawn = axes.barh(rows, widths, left=lefts, label=name, **style)
        texts = [f"{width:.3g}" if width > 0.1 * highest / divisor else "" for width in widths]
        axes.bar_label(drawn, texts, label_type="center", color=LIGHT.paper, fontsize=8)
        lefts += widths
    if total is not None:
        ends = np.array(total) / divisor
        axes.plot(ends, [0.36, 0.36], color=LIGHT.ink, linewidth=1.4, marker="|")
        _note(axes, "90% sure", (float(ends.mean()), 0.36), (0, 4), ha="center")
    _rows(axes, list(bars), f"time, {unit}")
    axes.legend(frameon=False, fontsize=8, loc="lower center", ncols=4, columnspacing=1.0)
    axes.set_ylim(-len(bars) + 0.1, 0.75)
    axes.margins(x=0.03)
    axes.set_xlim(left=0)


def draw_lines(
    axes: Any,
    lines: Sequence[Line],
    *,
    xlabel: str,
    ylabel: str,
    limits: Mapping[str, float] | None = None,
    chosen: tuple[float, float, str] | None = None,
    least: tuple[float, str] | None = None,
    seconds: bool = True,
) -> None:
    """Draw runtime or cost over whole numbers, such as machines or iterations."""
    from matplotlib.ticker import MaxNLocator

    tops = [np.asarray(line.middle if line.high is None else line.high) for line in lines]
    divisor, of = unit_of(float(max(top.max() for top in tops))) if seconds else (1.0, "")
    for place, line in enumerate(lines):
        x, middle = np.asarray(line.x, np.float64), np.asarray(line.middle) / divisor
        if line.low is not None and line.high is not None:
            ends = (np.asarray(end) / divisor for end in (line.low, line.high))
            axes.fill_between(line.x, *ends, color=_color(place), alpha=_BAND, linewidth=0)
        style: dict[str, Any] = {"color": _color(place), "label": line.label}
        style |= {"linestyle": _DASHES[place % len(_DASHES)], "markersize": 4}
        axes.plot(x, middle, marker="o" if len(x) < 2 else "", **style)
        if line.points is not None and len(np.asarray(line.points[0])):
            heights = np.asarray(line.points[1]) / divisor
            _points(axes, line.points[0], heights, place, markerfacecolor=LIGHT.paper)
    for name, level in (limits or {}).items():
        _limit(axes, level / divisor, name)
    if least is not None:
        axes.axvspan(0, least[0], color=LIGHT.muted, alpha=0.15, linewidth=0)
        style = {"xycoords": _UP, "va": "top", "color": LIGHT.muted}
        _note(axes, least[1], (least[0], 0.98), (3, 0), **style)
    if chosen is not None:
        axes.plot([chosen[0]], [chosen[1] / divisor], "*", markersize=13, color=LIGHT.ink)
        _note(axes, chosen[2], (chosen[0], chosen[1] / divisor), (8, 6))
    axes.set(xlabel=xlabel, ylabel=f"{ylabel}, {of}" if of else ylabel)
    axes.set_ylim(bottom=0)
    axes.margins(y=0.12)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True, min_n_ticks=1))
    axes.legend(frameon=False, fontsize=8.5)


def costs(
    axes: Any,
    groups: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]],
    frontier: tuple[npt.ArrayLike, npt.ArrayLike],
    *,
    ylabel: str,
    xlabel: str,
    limits: tuple[float | None, float | None] = (None, None),
    chosen: tuple[float, float, str] | None = None,
    named: Sequence[tuple[float, float, str]] = (),
) -> None:
    """Draw cost against runtime: every configuration as a point, the Pareto frontier as a line."""
    divisor, unit = unit_of(float(max(np.asarray(x).max() for x, _ in groups.values())))
    for place, (x, y) in enumerate(groups.values()):
        _points(axes, np.asarray(x) / divisor, y, place, alpha=0.55, markersize=4)
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


def _limit(axes: Any, level: float, name: str) -> None:
    """Draw a limit, with its name above its right end."""
    axes.axhline(level, color=LIGHT.ink, linestyle=":", linewidth=1.3)
    _note(axes, name, (0.99, level), (0, 3), xycoords=_ACROSS, ha="right")


def dots(
    axes: Any,
    names: Sequence[str],
    values: npt.ArrayLike,
    low: npt.ArrayLike | None = None,
    high: npt.ArrayLike | None = None,
    *,
    xlabel: str,
    emphasised: Sequence[str] = (),
    most_apart: float = np.inf,
) -> None:
    """Draw a value for each name, the first one on top, with its interval if there is one.

    The axis is logarithmic where the largest is more than `most_apart` times the smallest.
    """
    found = np.asarray(values)
    ends = np.array([found if end is None else end for end in (low, high)])
    for row, (name, value, start, end) in enumerate(zip(names, found, *ends, strict=True)):
        place = 1 if name in emphasised else 0
        axes.plot([start, end], [-row, -row], color=LIGHT.series[place], linewidth=2.2, alpha=0.6)
        axes.plot([value], [-row], _MARKS[place], color=LIGHT.series[place], markersize=7)
        _note(axes, f"{value:.3g}", (value, -row), (0, 7), ha="center", fontsize=8)
    _rows(axes, names, xlabel)
    axes.set_ylim(-len(names) + 0.4, 0.7)
    axes.margins(x=0.08)
    if 0.0 < ends.min() < ends.max() / most_apart:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")


def _color(place: int) -> str:
    return LIGHT.series[place % len(LIGHT.series)]


def _note(axes: Any, text: str, at: Any, offset: tuple[int, int] = (0, 0), **style: Any) -> None:
    """Write a text beside a point."""
    given = {"fontsize": 8.5} | style
    axes.annotate(text, at, xytext=offset, textcoords="offset points", **given)


def _rows(axes: Any, names: Sequence[str], xlabel: str) -> None:
    """Name the rows of a panel, the first one on top."""
    axes.set_yticks(-np.arange(len(names)), names)
    axes.tick_params(axis="y", labelcolor=LIGHT.ink, length=0)
    axes.set_xlabel(xlabel)
    axes.grid(axis="y", visible=False)


def _points(axes: Any, x: Any, y: Any, place: int, **style: Any) -> None:
    axes.plot(x, y, _MARKS[place % len(_MARKS)], color=_color(place), linestyle="", **style)


def dot_picture(title: str, text: str, names: Sequence[str], *values: Any, **more: Any) -> Picture:
    """Return a picture of :func:`dots`, as high as it has names."""
    draw = partial(
        dots, names=names, **dict(zip(("values", "low", "high"), values, strict=False)), **more
    )
    return Picture(title, text, draw, 0.5 + 0.1 * len(names))


def memory_picture(predicted: float, low: float, high: float, available: float) -> Picture:
    """Return a picture of the peak of memory, its 90% interval and the free memory, in bytes."""
    peak, least, most, free = (value / 2**30 for value in (predicted, low, high, available))
    said = (
        f"Memory at the peak: {peak:.3g} GiB, 90% sure {least:.3g} to {most:.3g}, of {free:.3g} "
        "GiB that are free."
    )
    names, ends = ["peak (line: 90% sure)", "free"], ([least, free], [most, free])
    return dot_picture("Memory at the peak", said, names, [peak, free], *ends, xlabel="GiB")


def intervals_picture(
    title: str, said: str, figures: Mapping[str, Interval], divisor: float, xlabel: str
) -> Picture:
    """Return a picture of named intervals; on a logarithmic axis where they differ much."""
    names = [name.replace(":", ":\n", 1) for name in figures]
    columns = (
        [getattr(each, end) / divisor for each in figures.values()]
        for end in ("predicted", "low", "high")
    )
    label = f"{xlabel} (line: 90% sure)"
    return dot_picture(title, said, names, *columns, xlabel=label, most_apart=_FAR)
