"""Models and plans for people and for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from costmodels.scaling import check_fit
from costmodels.scaling.laws import Law, LinearLaw
from costmodels.scaling.pooled import PooledLaw
from predict_graph.answers import Answer, Table, sure
from predict_graph.durations import readable_number, readable_seconds

if TYPE_CHECKING:
    from predict_graph.sizing.fitting.model import JobModel
    from predict_graph.sizing.planning.choices import Configuration, Plan

SCHEMA = 1  # by definition: of the JSON
_MOST_ROWS = 20  # of a table on a screen; not tuned
LEFT_OUT = (
    "residual_sum_of_squares",
    "median_percent_error",
    "max_percent_error",
    "mean_absolute_error",
    "order_preserving_degree",
)


def fit_summary(model: JobModel) -> dict[str, Any]:
    """Return what `fit --json` writes."""
    estimator, left_out = model.estimator, model.estimator.loocv_
    check = check_fit(estimator)
    measured = model.measured
    return {
        "schema": SCHEMA,
        "verdict": {"sentence": answer_of_fit(model).sentence},
        "model": model.name,
        "formula": estimator.formula_,
        "coefficients": [
            {"name": name, "value": value, "unit": unit}
            for name, value, unit in coefficient_rows(estimator.law_)
        ],
        "r2": estimator.r2_,
        "left_out": {
            **{name: getattr(left_out, name) for name in LEFT_OUT},
            "ranking_distance_1": left_out.ranking_distance,
        },
        "fits": check.fits and model.misfit is None,
        "proposed_term": None if check.term is None else check.term.name,
        "cliffs": [asdict(cliff) for cliff in estimator.cliffs_],
        "measured": measured.to_dict("list"),
        "runs": float(estimator.points_.repeats.sum()),
        "unit": model.unit,
        "machine_type": model.machine_type,
        "machine_types": list(model.types),
        "iterations": model.iterations,
        "columns": dict(model.columns),
        "warnings": list(model.warnings),
    }


def answer_of_fit(model: JobModel) -> Answer:
    """Return the answer of a fit: what a run takes, and how far the model is to be trusted."""
    estimator, left_out = model.estimator, model.estimator.loocv_
    measured = model.measured
    scales, machines = measured["scale"], measured["machines"]
    check = check_fit(estimator)
    error = (
        f"median {left_out.median_percent_error:.1f}%, at most {left_out.max_percent_error:.1f}% "
        "on configurations left out"
    )
    scale = f"scale {readable_number(scales.min())}"
    if scales.max() > scales.min():
        scale += f" to {readable_number(scales.max())}"
    facts = [
        ("model", f"{model.name}{_learnt(estimator)}"),
        ("formula", str(estimator.law_.formula)),
        ("error", error),
        (
            "measured",
            f"{estimator.points_.repeats.sum():g} runs of {len(estimator.points_)} configurations: "
            f"{scale}, {machines.min():g} to {machines.max():g} {model.unit}",
        ),
        ("verdict", model.misfit or str(check)),
    ]
    details = [
        ("file", model.source),
        ("columns", ", ".join(f"{what}: {name}" for what, name in model.columns.items())),
        ("R²", f"{estimator.r2_:.4f}"),
        ("residuals left out", f"sum of squares {left_out.residual_sum_of_squares:.4g} s²"),
        (
            "ranking left out",
            f"OPD {left_out.order_preserving_degree:.3f}, RD(1) {left_out.ranking_distance:.3f}",
        ),
    ]
    if model.types:
        facts.insert(1, ("machine types", ", ".join(model.types)))
    law = estimator.law_
    more = []
    if not isinstance(law, PooledLaw):  # whose formula says it all
        more.append(Table("coefficients", ["term", "value", "unit"], coefficient_rows(law)))
    return Answer(
        _fit_sentence(model, check.fits and model.misfit is None),
        facts,
        (),
        model.warnings,
        details,
        more,
    )


def _fit_sentence(model: JobModel, fits: bool) -> str:
    """Say what a run of the largest scale takes where it is slowest and where it is fastest."""
    measured = model.measured
    scale = float(measured["scale"].max())
    found: list[tuple[float, float, float, str]] = []
    for one in model.by_type():
        counts = one.measured["machines"].unique()
        if not len(counts):
            continue  # a type that others stand for
        low, high = one.bounds(scale, counts, 0.95)  # of each end: 90% are between
        units = [_counted(model.unit, n) for n in counts]
        names = [
            f"{n:g} {f'× {one.machine_type}' if model.types else u}"
            for n, u in zip(counts, units, strict=True)
        ]
        found += zip(one.seconds(scale, counts).tolist(), low, high, names, strict=True)
    of = f" at scale {readable_number(scale)}" if np.ptp(measured["scale"]) > 0 else ""
    said = " and ".join(
        f"{readable_seconds(seconds)} ({sure(low, high)}) on {name}"
        for seconds, low, high, name in dict.fromkeys((max(found), min(found)))
    )
    trust = "the model fits what was left out" if fits else "the model does not fit: do not use it"
    return f"a run{of} takes about {said}; {trust}"


def _counted(unit: str, count: float) -> str:
    return unit.removesuffix("s") if count == 1 else unit


def _learnt(estimator: Any) -> str:
    prior = getattr(estimator, "prior", None)
    return "" if prior is None else f", learnt from {prior.jobs} past jobs of the cluster"


def answer_of_plan(plan: Plan) -> Answer:
    """Return the answer of a plan: the choice, or between what there is to choose."""
    chosen = None if plan.choice is None else plan.choice.configuration
    shown = _thinned(plan.frontier, chosen)
    outside = [one for one in plan.configurations if not one.measured]
    rows = [
        (
            one.name + (" *" if one == chosen else ""),
            readable_seconds(one.seconds),
            readable_seconds(one.high),
            f"{one.cost:.4g}",
            f"{one.cost_high:.4g}",
            *(["" if one.measured else "no"] if outside else []),
        )
        for one in shown
    ]
    columns = [plan.unit, "time", "at most", plan.cost_unit, f"{plan.cost_unit} at most"]
    said = f"{len(plan.frontier)} of {len(plan.configurations)} configurations are on the frontier"
    if len(shown) < len(plan.frontier):
        said += f"; {len(shown)} are shown, --json has all"
    facts = [("scale", readable_number(plan.scale)), ("considered", said)]
    if plan.spare:
        spare = f"{plan.spare} spare machines for {readable_seconds(plan.spare_test)} are included"
        facts.append(("to choose from", spare))
    title = f"frontier of time and cost; at most: with {100 * plan.confidence:.4g}% confidence"
    return Answer(
        _plan_sentence(plan),
        facts,
        [Table(title, [*columns, *(["measured"] if outside else [])], rows)],
        plan.warnings,
    )


def _plan_sentence(plan: Plan) -> str:
    choice = plan.choice
    if choice is None:
        fast, cheap = plan.frontier[0], plan.frontier[-1]
        if fast == cheap:
            return f"the fastest and cheapest: {described(fast, plan)}"
        return (
            f"the fastest: {described(fast, plan)}; the cheapest: {described(cheap, plan)}; "
            "--deadline or --budget chooses"
        )
    if choice.configuration is None:
        return f"no configuration is {choice.condition}"
    return f"{choice.wanted} {choice.condition}: {described(choice.configuration, plan)}"


def _thinned(
    frontier: Sequence[Configuration], chosen: Configuration | None
) -> list[Configuration]:
    """Return so many configurations that a screen holds them, the chosen one among them."""
    step = max(-(-len(frontier) // _MOST_ROWS), 1)
    last = len(frontier) - 1
    return [
        one
        for number, one in enumerate(frontier)
        if number % step == 0 or number == last or one == chosen
    ]


def coefficient_rows(law: Law) -> list[tuple[str, float, str]]:
    """Return name, value and unit of each coefficient of a law."""
    terms = law.terms if isinstance(law, LinearLaw) else ()
    units = {term.name: "s" if term.units == "1" else f"s/({term.units})" for term in terms}
    return [(name, float(value), units.get(name, "")) for name, value in law.coefficients.items()]


def described(one: Configuration, plan: Plan) -> str:
    """Return a configuration in words, with its time and cost."""
    what = one.name if one.machine_type else f"{one.machines} {_counted(plan.unit, one.machines)}"
    return (
        f"{what}, {readable_seconds(one.seconds)} (at most {readable_seconds(one.high)}), "
        f"{money(one.cost, plan)} (at most {money(one.cost_high, plan)})"
    )


def money(cost: float, plan: Plan) -> str:
    """Return a cost with its unit."""
    digits = f"{cost:.2f}" if cost >= 1 else f"{cost:.3g}"
    return f"{digits} {plan.cost_unit}"


def plan_summary(plan: Plan) -> dict[str, Any]:
    """Return what `plan --json` writes."""
    choice, chosen = plan.choice, None if plan.choice is None else plan.choice.configuration
    names = ("scale", "confidence", "spare", "iterations", "unit", "cost_unit")
    return {
        "schema": SCHEMA,
        "verdict": {"sentence": answer_of_plan(plan).sentence},
        **{name: getattr(plan, name) for name in names},
        "deadline_seconds": plan.deadline,
        "budget_usd": plan.budget,
        "spare_test_seconds": plan.spare_test,
        "goal": None if choice is None else f"{choice.wanted} {choice.condition}",
        "choice": None if chosen is None else asdict(chosen),
        "nearest": {what: asdict(one) for what, one in (choice.nearest if choice else {}).items()},
        "frontier": [asdict(one) for one in plan.frontier],
        "configurations": [asdict(one) for one in plan.configurations],
        "warnings": list(plan.warnings),
    }
