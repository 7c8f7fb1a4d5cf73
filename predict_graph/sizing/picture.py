"""Pictures of models, plans and designs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from predict_graph.files import written_beside
from predict_graph.sizing.fitting.model import JobModel

if TYPE_CHECKING:
    from predict_graph.sizing.planning.choices import Configuration, Plan

__all__ = ["draw_design", "draw_fit", "draw_plan"]

_COLORS = ("#1f6f8b", "#d1495b", "#edae49", "#66a182", "#5f4b8b", "#8d6a3f")
_CONFIDENCE = 0.95  # of each end: an interval of 90%
_MOST_SCALES = 5
_CURVE = 200

FloatArray = npt.NDArray[np.float64]


def draw_fit(model: JobModel, path: Path | None) -> Any:
    """Draw time against machines: measured points, the law, and its 90% interval.

    Of more than five scales the smallest, the largest and some between are drawn; of a model of
    several machine types the largest scale, with a curve for each type that was measured.
    """
    figure, axes = _figure()
    measured = model.measured
    if model.types:
        _draw_types(axes, model)
        axes.set_title(f"{model.name}, fitted to {model.source}; bands: 90% of runs", fontsize=10)
        _finish_time_axes(axes, model.unit, measured["machines"])
        return _saved(figure, path)
    scales = np.unique(measured["scale"])
    if len(scales) > _MOST_SCALES:
        scales = scales[np.linspace(0, len(scales) - 1, _MOST_SCALES).round().astype(int)]
    low, high = measured["machines"].min(), measured["machines"].max()
    machines = np.geomspace(low, high, _CURVE)
    for number, scale in enumerate(scales):
        color = _COLORS[number % len(_COLORS)]
        label = f"scale {scale:.6g}" if len(scales) > 1 else "measured (medians)"
        _draw_curve(axes, model, scale, machines, color, "")
        here = measured["scale"] == scale
        axes.plot(
            measured["machines"][here],
            measured["seconds"][here],
            "o",
            color=color,
            label=label,
        )
    axes.set_title(f"{model.name}, fitted to {model.source}; bands: 90% of runs", fontsize=10)
    _finish_time_axes(axes, model.unit, machines)
    return _saved(figure, path)


def _draw_types(axes: Any, model: JobModel) -> None:
    scale = float(model.measured["scale"].max())
    kinds = [one for one in model.by_type() if len(one.measured["machines"])]
    for number, one in enumerate(kinds):
        color = _COLORS[number % len(_COLORS)]
        measured = one.measured
        machines = np.geomspace(measured["machines"].min(), measured["machines"].max(), _CURVE)
        _draw_curve(axes, one, scale, machines, color, str(one.machine_type))
        here = measured["scale"] == scale
        axes.plot(measured["machines"][here], measured["seconds"][here], "o", color=color)


def draw_plan(plan: Plan, models: Sequence[JobModel], path: Path | None) -> Any:
    """Draw time against machines with its interval, and cost against time with the frontier."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    percent = f"{100 * plan.confidence:.4g}%"
    views = [view for model in models for view in model.by_type()]
    for number, model in enumerate(views):
        color = _COLORS[number % len(_COLORS)]
        rows = [one for one in plan.configurations if one.machine_type == model.machine_type]
        machines = np.array([one.machines for one in rows], np.float64)
        low, seconds, high = (
            np.array([getattr(one, name) for one in rows]) for name in ("low", "seconds", "high")
        )
        label = model.machine_type or "predicted"
        left.plot(machines, seconds, color=color, label=label, marker="." if len(rows) < 30 else "")
        left.fill_between(machines, low, high, color=color, alpha=0.15, linewidth=0)
        _draw_measured(left, model, plan, color, None if number else "measured")
        right.plot(high, [one.cost_high for one in rows], ".", color=color, alpha=0.5, label=label)
    times = [one.high for one in plan.frontier]
    right.step(
        times, [one.cost_high for one in plan.frontier], where="post", color="0.3", linewidth=1
    )
    _label_ends(right, plan)
    _draw_limits(left, right, plan)
    _draw_choice(left, right, plan)
    left.set(xlabel=plan.unit, ylabel="seconds", title=f"time (band: {percent} either end)")
    right.set(
        xlabel=f"seconds with {percent} confidence",
        ylabel=f"{plan.cost_unit} with {percent} confidence",
        title="cost and time; line: frontier",
    )
    for axes in (left, right):
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.suptitle(f"plan for scale {plan.scale:.6g}")
    return _saved(figure, path)


def draw_design(
    scale: npt.ArrayLike, machines: npt.ArrayLike, repeats: npt.ArrayLike, path: Path | None
) -> Any:
    """Draw the points of a design on the scale × machines plane; the area tells the repeats."""
    figure, axes = _figure()
    count = np.asarray(repeats, np.float64)
    axes.scatter(scale, machines, s=60 * count, color=_COLORS[0], alpha=0.7)
    if (count > 1).any():
        for x, y, times in zip(np.asarray(scale), np.asarray(machines), count, strict=True):
            axes.annotate(f"{times:g}", (x, y), ha="center", va="center", color="w", fontsize=8)
    axes.set(xlabel="scale", ylabel="machines", title=f"design: {count.sum():g} runs")
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(0.1)
    return _saved(figure, path)


def _figure() -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    return figure, figure.subplots()


def _draw_curve(
    axes: Any, model: JobModel, scale: float, machines: FloatArray, color: str, label: str
) -> None:
    low, high = model.bounds(scale, machines, _CONFIDENCE)
    axes.plot(machines, model.seconds(scale, machines), color=color, label=label or None)
    axes.fill_between(machines, low, high, color=color, alpha=0.15, linewidth=0)


def _draw_measured(axes: Any, model: JobModel, plan: Plan, color: str, label: str | None) -> None:
    """Draw what was measured at the scale of the plan, when it was counted in the same unit."""
    if plan.unit != model.unit or plan.iterations is not None or plan.spare:
        return
    measured = model.measured
    here = measured["scale"] == plan.scale
    if here.any():
        axes.plot(
            measured["machines"][here],
            measured["seconds"][here],
            "o",
            color=color,
            markerfacecolor="none",
            label=label,
        )


def _draw_limits(left: Any, right: Any, plan: Plan) -> None:
    if plan.deadline is not None:
        left.axhline(plan.deadline, color="0.4", linestyle=":", label="deadline")
        right.axvline(plan.deadline, color="0.4", linestyle=":", label="deadline")
    dearest = max(one.cost_high for one in plan.configurations)
    if plan.budget is not None and plan.budget <= 1.5 * dearest:  # else it would flatten the rest
        right.axhline(plan.budget, color="0.4", linestyle="--", label="budget")


def _draw_choice(left: Any, right: Any, plan: Plan) -> None:
    if plan.choice is None or plan.choice.configuration is None:
        return
    one = plan.choice.configuration
    style = {"marker": "*", "markersize": 14, "color": "k", "linestyle": ""}
    left.plot([one.machines], [one.high], **style, label=f"choice: {one.name}")
    right.plot([one.high], [one.cost_high], **style, label=f"choice: {one.name}")


def _label_ends(axes: Any, plan: Plan) -> None:
    """Name the fastest and the cheapest configuration of the frontier."""
    ends: list[Configuration] = list(dict.fromkeys((plan.frontier[0], plan.frontier[-1])))
    axes.set_ylim(top=1.12 * axes.get_ylim()[1])  # room for the name of the fastest
    for number, one in enumerate(ends):
        axes.annotate(
            one.name,
            (one.high, one.cost_high),
            xytext=(4, 6),
            textcoords="offset points",
            ha="right" if number else "left",
            fontsize=8,
        )


def _finish_time_axes(axes: Any, unit: str, machines: FloatArray) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set(xlabel=unit, ylabel="seconds")
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


def _saved(figure: Any, path: Path | None) -> Any:
    if path is not None:
        with written_beside(path) as beside:
            figure.savefig(beside, dpi=150)
    return figure
