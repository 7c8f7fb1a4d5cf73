"""Pictures of models, plans and advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from predict_graph.arrays import FloatArray
from predict_graph.durations import readable_number
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import Line, costs, dot_picture, draw_lines, unit_of

if TYPE_CHECKING:
    from predict_graph.sizing.fitting.model import JobModel
    from predict_graph.sizing.planning.next_run import Advice
    from predict_graph.sizing.planning.plans import Plan


def pictures_of_fit(model: JobModel, most: int = 5) -> list[Picture]:
    """Return time against machines.

    Of more scales than `most` the smallest, the largest and some between are drawn; of a model of
    several machine types the largest scale, with a curve for each type that was measured.
    """
    every = np.unique(model.measured["scale"])
    chosen = np.linspace(0, len(every) - 1, min(len(every), most)).round().astype(int)
    views = [(model, scale) for scale in every[chosen]]
    if model.types:
        views = [(view, every[-1]) for view in model.measured_types()]
    lines = []
    for view, scale in views:
        measured = view.measured
        machines = np.geomspace(measured["machines"].min(), measured["machines"].max())
        name = f"scale {readable_number(scale)}" if len(every) > 1 else "model"
        here = measured[measured["scale"] == scale]
        lines.append(
            Line(
                str(view.machine_type) if model.types else name,
                machines,
                view.seconds(scale, machines),
                *view.bounds(scale, machines),
                (here["machines"], here["seconds"]),
            )
        )
    said = (
        f"Time against {model.unit}, measured (points) and by the model {model.name} (lines): "
        f"{model.answer.sentence}."
    )
    draw = partial(
        draw_lines,
        lines=lines,
        xlabel=f"{model.unit} (band: 90% of runs; points: measured)",
        ylabel="time",
    )
    return [Picture(f"Time against {model.unit}", said, draw)]


def pictures_of_plan(plan: Plan) -> list[Picture]:
    """Return time against machines, or of each assignment, and cost against time."""
    percent, said = f"{100 * plan.confidence:.4g}%", plan.answer.sentence
    every, frontier, one = plan.configurations, plan.frontier, plan.chosen
    if plan.scale is None:
        names = every["name"].tolist()
        times = every[["seconds", "low", "high"]].to_numpy().T
        label, best = f"line: {percent} at either end", {} if one is None else {one.name: "ink"}
        title = "Time of the assignments"
        found = [_times(title, f"{title}: {said}.", names, times, label, best)]
    else:
        found = [_time_against_machines(plan, one, percent, said)]
    dearest = every["cost_high"].max()
    if not np.isfinite(dearest):
        return found
    labels = every["machine_type"].fillna("predicted")
    if plan.scale is None:
        labels = pd.Series("assignments", every.index)
    ends: list[Any] = list(frontier.iloc[[0, -1]].drop_duplicates("name").itertuples())
    shown = plan.budget is not None and plan.budget <= 1.5 * dearest  # else it flattens the rest
    draw = partial(
        costs,
        groups={
            str(label): (rows["high"], rows["cost_high"], rows["name"].tolist())
            for label, rows in every.groupby(labels, sort=False)
        },
        frontier=(frontier["high"], frontier["cost_high"]),
        xlabel=f"time with {percent} confidence",
        ylabel=f"{plan.cost_unit} with {percent} confidence",
        limits=(plan.deadline, plan.budget if shown else None),
        chosen=None if one is None else (one.high, one.cost_high, one.name),
        named=[(each.high, each.cost_high, each.name) for each in ends if each != one],
    )
    text = (
        f"Cost against time, {percent} sure not to be passed; the line joins the configurations "
        f"that none beats in both. {said}."
    )
    return [*found, Picture("Cost against time", text, draw)]


def _time_against_machines(plan: Plan, one: Any, percent: str, said: str) -> Picture:
    lines = []
    for model in plan.models:
        rows = plan.of_type(model.machine_type)
        x, middle, low, high = rows[["machines", "seconds", "low", "high"]].to_numpy().T
        label = model.machine_type or "predicted"
        lines.append(Line(label, x, middle, low, high, _measured(model, plan)))
    draw = partial(
        draw_lines,
        lines=lines,
        xlabel=f"{plan.unit} (band: {percent} at either end)",
        ylabel="time",
        limits={} if plan.deadline is None else {"deadline": plan.deadline},
        chosen=None if one is None else (one.machines, one.high, f"choice: {one.name}"),
    )
    text = f"Time against {plan.unit}, a line for each machine type with its band. {said}."
    return Picture(f"Time against {plan.unit}", text, draw)


def _measured(model: JobModel, plan: Plan) -> tuple[FloatArray, FloatArray] | None:
    """Return what was measured at the scale of the plan, when it was counted in the same unit."""
    if plan.unit != model.unit or plan.iterations is not None or plan.spare:
        return None
    here = model.measured[model.measured["scale"] == plan.scale].dropna()
    return here["machines"].to_numpy(), here["seconds"].to_numpy()


def pictures_of_advice(now: Advice, most: int = 10) -> list[Picture]:
    """Return what the most promising configurations and the best one take."""
    known = now.options.dropna(subset="seconds")
    following = known[known.index.isin(now.next)]
    best = [] if now.best is None else [pd.DataFrame([now.best])]
    named = pd.concat([following, *best])["name"]
    others = known[~known["name"].isin(named)].head(most - 1)
    found = pd.concat([following, others, *best])
    if found.empty:
        return []
    order = np.argsort(found["measured"].fillna(found["seconds"]), kind="stable")
    found = found.iloc[order]
    measured = found["measured"]
    times = np.array([measured.fillna(found[end]) for end in ("seconds", "low", "high")])
    names = found["name"].where(measured.isna(), found["name"] + " (measured)")
    text = (
        "Time of the most promising configurations, those to measure next as squares: "
        f"{now.answer.sentence}."
    )
    colors = dict.fromkeys(names[measured.notna()], "actual")
    colors |= dict.fromkeys(names[found["name"].isin(following["name"])], "ink")
    return [_times("Time of the candidates", text, names.tolist(), times, "line: 90% sure", colors)]


def _times(
    title: str,
    text: str,
    names: Sequence[str],
    times: FloatArray,
    label: str,
    others: Mapping[str, str],
) -> Picture:
    """Return a picture of times and the ends of their intervals, shape (3, n)."""
    divisor, unit = unit_of(times[0])
    xlabel = f"time, {unit} ({label})"
    style: dict[str, Any] = {"color": "predicted", "others": others}
    return dot_picture(title, text, names, *times / divisor, xlabel=xlabel, **style)
