"""Pictures as in the paper: signed relative error against the sampling ratio, a line a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.paper.graphs import ALL, MESH

_COLORS = (
    "#1f6f8b", "#d1495b", "#edae49", "#66a182", "#6f4e9c", "#8d5a3b",
    "#e07fb0", "#7f7f7f", "#b5bd37", "#2ca6c9", "#c0602a", "#000000",
)  # fmt: skip
_MARKERS = "o^sDvP*Xph<>"

Lines = Mapping[str, tuple[Sequence[float], Sequence[float]]]
"""Label of each line, ratios and errors."""


@dataclass(frozen=True)
class Panel:
    """One plot: its title, what its y axis shows, its lines."""

    title: str
    label: str
    lines: Lines


def draw(rows: Sequence[Sequence[Panel]], path: Path) -> None:
    """Draw rows of panels; panels of a row share their y axis, all share their legend."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    wide, high = len(rows[0]), len(rows)
    figure = Figure(figsize=(4.2 * wide + 1.9, 2.7 * high + 0.4), layout="constrained")
    grid = figure.subplots(high, wide, sharex=True, sharey="row", squeeze=False)
    shown: dict[str, Line2D] = {}
    for axes_row, panels in zip(grid, rows, strict=True):
        errors = [e for panel in panels for _, found in panel.lines.values() for e in found]
        low = max(min([-0.3, *errors]) - 0.05, -1.05)
        high_end = min(max([0.3, *errors]) + 0.05, 1.5)
        for axes, panel in zip(axes_row, panels, strict=True):
            for place, (label, (ratios, found)) in enumerate(panel.lines.items()):
                number = ALL.index(label) if label in ALL else place
                (line,) = axes.plot(
                    ratios,
                    found,
                    marker=_MARKERS[number],
                    color=_COLORS[number],
                    linestyle="--" if label == MESH else "-",
                    linewidth=1.2,
                    markersize=4,
                )
                shown.setdefault(label, line)
            axes.axhspan(-0.2, 0.2, color="0.93", zorder=0)
            axes.axhline(0, color="0.4", linewidth=0.8)
            axes.set_title(panel.title, fontsize=9)
            axes.set_ylim(low, high_end)
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(labelsize=8)
        axes_row[0].set_ylabel(panels[0].label, fontsize=8)
    for axes in grid[-1]:
        axes.set_xlabel("sampling ratio", fontsize=8)
    figure.legend(
        list(shown.values()), list(shown), loc="outside right center", frameon=False, fontsize=8
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
