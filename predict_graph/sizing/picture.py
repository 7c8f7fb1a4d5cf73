"""Pictures of models, plans and advice."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from predict_graph.durations import readable_number, readable_seconds
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import Line, costs, dot_picture, draw_lines, unit_of

if TYPE_CHECKING:
    from predict_graph.sizing.fitting.model import JobModel
    from predict_graph.sizing.planning.choices import Plan
    from predict_graph.sizing.planning.next_run import Advice, Option

_CONFIDENCE = 0.95  # of each end: an interval of 90%; by definition
_MOST_LINES = 5  # not tuned, as below
_MOST_OPTIONS = 10  # not tuned
_CURVE = 200  # points; not tuned
_ENDS = attrgetter("low"), attrgetter("high")

FloatArray = npt.NDArray[np.float64]


def pictures_of_fit(model: JobModel) -> list[Picture]:
    """Return time against machines.

    Of more than five scales the smallest, the largest and some between are drawn; of a model of
    several machine types the largest scale, with a curve for each type that was measured.
    """
    measured = model.measured
    every = np.unique(measured["scale"])
    chosen = np.linspace(0, len(every) - 1, min(len(every), _MOST_LINES)).round().astype(int)
    lines = []
    for view, scale in (
        [(view, every[-1]) for view in model.by_type() if len(view.measured)]
        if model.types
        else [(model, scale) for scale in every[chosen]]
    ):
        measured = view.measured
        machines = np.geomspace(measured["machines"].min(), measured["machines"].max(), _CURVE)
        name = f"scale {readable_number(scale)}" if len(every) > 1 else "model"
        here = measured["scale"] == scale
        lines.append(
            Line(
                str(view.machine_type) if model.types else name,
                machines,
                view.seconds(scale, machines),
                *view.bounds(scale, machines, _CONFIDENCE),
                (measured["machines"][here], measured["seconds"][here]),
            )
        )
    largest = np.asarray(lines[-1].middle)
    said = (
        f"Time against {model.unit}, measured (points) and by the model {model.name} (lines): at "
        f"scale {readable_number(every[-1])} from {readable_seconds(largest[0])} on "
        f"{machines[0]:g} to {readable_seconds(largest[-1])} on {machines[-1]:g}."
    )
    draw = partial(
        draw_lines,
        lines=lines,
        xlabel=f"{model.unit} (band: 90% of runs; points: measured)",
        ylabel="time",
    )
    return [Picture(f"Time against {model.unit}", said, draw)]


def pictures_of_plan(plan: Plan) -> list[Picture]:
    """Return time against machines with its interval, and cost against time with the frontier."""
    percent = f"{100 * plan.confidence:.4g}%"
    lines, groups = [], {}
    for model in plan.models:
        rows = [one for one in plan.configurations if one.machine_type == model.machine_type]
        low, seconds, high, cost = (
            np.array([getattr(one, name) for one in rows])
            for name in ("low", "seconds", "high", "cost_high")
        )
        label = model.machine_type or "predicted"
        counts = np.array([one.machines for one in rows], np.float64)
        lines.append(Line(label, counts, seconds, low, high, _measured(model, plan)))
        groups[label] = (high, cost)
    one = None if plan.choice is None else plan.choice.configuration
    ends = list(dict.fromkeys((plan.frontier[0], plan.frontier[-1])))
    said = "; ".join(
        f"{each.name}{'' if each.machine_type else ' ' + plan.unit}: "
        f"{readable_seconds(each.seconds)}, at most {readable_seconds(each.high)}"
        for each in ([one] if one is not None else ends)
    )
    dearest = max(each.cost_high for each in plan.configurations)
    shown = plan.budget is not None and plan.budget <= 1.5 * dearest  # else it flattens the rest
    time = Picture(
        f"Time against {plan.unit}",
        f"Time against {plan.unit}, a line for each machine type with its band. {said}.",
        partial(
            draw_lines,
            lines=lines,
            xlabel=f"{plan.unit} (band: {percent} at either end)",
            ylabel="time",
            limits={} if plan.deadline is None else {"deadline": plan.deadline},
            chosen=None if one is None else (one.machines, one.high, f"choice: {one.name}"),
        ),
    )
    price = Picture(
        "Cost against time",
        f"Cost against time, {percent} sure not to be passed; the line joins the configurations "
        f"that none beats in both. {said}.",
        partial(
            costs,
            groups=groups,
            frontier=([c.high for c in plan.frontier], [c.cost_high for c in plan.frontier]),
            xlabel=f"time with {percent} confidence",
            ylabel=f"{plan.cost_unit} with {percent} confidence",
            limits=(plan.deadline, plan.budget if shown else None),
            chosen=None if one is None else (one.high, one.cost_high, one.name),
            named=[(c.high, c.cost_high, c.name) for c in ends if c != one],
        ),
    )
    return [time, price]


def pictures_of_advice(now: Advice) -> list[Picture]:
    """Return what the most promising configurations and the best one take."""
    best = now.best
    known = [one for one in now.options if one.seconds == one.seconds]
    shown: list[Option] = list(now.next)
    shown += [one for one in known if one not in shown and one != best][: _MOST_OPTIONS - 1]
    shown = [one for one in shown if one.seconds == one.seconds]
    if best is not None:
        shown.append(best)
    if not shown:
        return []
    shown.sort(key=lambda one: one.measured or one.seconds)
    times = [one.measured or one.seconds for one in shown]
    divisor, unit = unit_of(max(times))
    seconds = np.array([times, *([one.measured or end(one) for one in shown] for end in _ENDS)])
    names = [f"{one.name}{' (measured)' if one.measured else ''}" for one in shown]
    said = "; ".join(
        f"{name} {readable_seconds(time)}"
        for name, time in zip(names[:_MOST_LINES], times, strict=False)
    )
    following = [name for name, one in zip(names, shown, strict=True) if one in now.next]
    return [
        dot_picture(
            "Time of the candidates",
            f"Time of the most promising configurations, those to measure next as squares: {said}.",
            names,
            *seconds / divisor,
            xlabel=f"time, {unit} (line: 90% sure)",
            emphasised=following,
        )
    ]


def _measured(model: JobModel, plan: Plan) -> tuple[FloatArray, FloatArray] | None:
    """Return what was measured at the scale of the plan, when it was counted in the same unit."""
    if plan.unit != model.unit or plan.iterations is not None or plan.spare:
        return None
    measured = model.measured
    here = (measured["scale"] == plan.scale) & np.isfinite(measured["seconds"])
    return measured["machines"][here], measured["seconds"][here]
