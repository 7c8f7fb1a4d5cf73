"""Models and plans for people and for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from costmodels.scaling import check_fit
from costmodels.scaling.cliffs import CliffLaw
from costmodels.scaling.laws import Law, LinearLaw, PowerFit
from costmodels.scaling.pooled import PooledLaw
from predict_graph.durations import readable_seconds

if TYPE_CHECKING:
    from predict_graph.sizing.fitting.model import JobModel
    from predict_graph.sizing.planning.choices import Configuration, Plan

__all__ = ["coefficient_rows", "described", "fit_facts", "fit_summary", "money", "plan_summary"]

SCHEMA = 1
POWER_UNITS = {"a": "s", "b": "s/(scale/machine)^c", "c": ""}
PRODUCT_UNITS = {"const": "s", "a": "s/(scale^b machine^c)", "b": "", "c": ""}


def fit_summary(model: JobModel) -> dict[str, Any]:
    """Return what `fit --json` writes."""
    estimator, left_out = model.estimator, model.estimator.loocv_
    check = check_fit(estimator)
    measured = model.measured
    return {
        "schema": SCHEMA,
        "model": model.name,
        "formula": estimator.formula_,
        "coefficients": [
            {"name": name, "value": value, "unit": unit}
            for name, value, unit in coefficient_rows(estimator.law_)
        ],
        "r2": estimator.r2_,
        "left_out": {
            "residual_sum_of_squares": left_out.residual_sum_of_squares,
            "median_percent_error": left_out.median_percent_error,
            "max_percent_error": left_out.max_percent_error,
            "mean_absolute_error": left_out.mean_absolute_error,
            "order_preserving_degree": left_out.order_preserving_degree,
            "ranking_distance_1": left_out.ranking_distance,
        },
        "fits": check.fits,
        "proposed_term": None if check.term is None else check.term.name,
        "cliffs": [
            {
                "scale": cliff.scale,
                "machines": list(cliff.machines),
                "seconds": list(cliff.seconds),
                "excess": cliff.excess,
            }
            for cliff in estimator.cliffs_
        ],
        "measured": {name: column.tolist() for name, column in measured.items()},
        "runs": float(estimator.points_.repeats.sum()),
        "unit": model.unit,
        "machine_type": model.machine_type,
        "machine_types": list(model.types),
        "iterations": model.iterations,
        "columns": dict(model.columns),
        "warnings": list(model.warnings),
    }


def fit_facts(model: JobModel) -> list[tuple[str, str]]:
    """Return what people read of a fit, by what it is."""
    estimator, left_out = model.estimator, model.estimator.loocv_
    points = estimator.points_
    measured = model.measured
    scales, machines = measured["scale"], measured["machines"]
    scale = f"scale {scales.min():.4g}"
    if scales.max() > scales.min():
        scale += f" to {scales.max():.4g}"
    facts = [
        ("model", model.name),
        ("formula", str(estimator.law_.formula)),
        ("R²", f"{estimator.r2_:.4f}"),
        (
            "left-out error",
            f"median {left_out.median_percent_error:.1f}%, "
            f"max {left_out.max_percent_error:.1f}%, residual sum of squares "
            f"{left_out.residual_sum_of_squares:.4g} s²",
        ),
        (
            "left-out ranking",
            f"OPD {left_out.order_preserving_degree:.3f}, RD(1) {left_out.ranking_distance:.3f}",
        ),
        (
            "measured",
            f"{points.repeats.sum():g} runs of {len(points)} configurations: {scale}, "
            f"{machines.min():g} to {machines.max():g} {model.unit}",
        ),
        ("columns", ", ".join(f"{what}: {name}" for what, name in model.columns.items())),
        ("verdict", str(check_fit(estimator))),
    ]
    if model.types:
        facts.insert(2, ("machine types", ", ".join(model.types)))
    prior = getattr(estimator, "prior", None)
    if prior is not None:
        facts.insert(2, ("learnt from", f"{prior.jobs} past jobs of the cluster"))
    if hasattr(estimator, "peak_machines_"):
        facts.insert(
            3,
            (
                "contention",
                f"σ = {estimator.contention_:.4g}, κ = {estimator.coherence_:.4g}, fastest with "
                f"{estimator.peak_machines_:.4g} {model.unit}",
            ),
        )
    return facts


def coefficient_rows(law: Law) -> list[tuple[str, float, str]]:
    """Return name, value and unit of each coefficient of a law.

    Examples
    --------
    >>> coefficient_rows(PowerFit(20.0, 90.0, 1.2))[1:]
    [('b', 90.0, 's/(scale/machine)^c'), ('c', 1.2, '')]
    """
    if isinstance(law, LinearLaw):
        return [
            (term.name, float(cost), "s" if term.units == "1" else f"s/({term.units})")
            for term, cost in zip(law.terms, law.coef, strict=True)
        ]
    if isinstance(law, PooledLaw):
        return [(name, float(value), "") for name, value in law.coefficients.items()]
    if isinstance(law, CliffLaw):
        if law.pressed is law.smooth:
            return [*coefficient_rows(law.smooth), ("above the cliff: factor", law.factor, "")]
        return [*coefficient_rows(law.smooth), *_prefixed("above the cliff", law.pressed)]
    units = POWER_UNITS if isinstance(law, PowerFit) else PRODUCT_UNITS
    return [(name, float(value), units[name]) for name, value in law.coefficients.items()]


def _prefixed(prefix: str, law: Law) -> list[tuple[str, float, str]]:
    return [(f"{prefix}: {name}", value, unit) for name, value, unit in coefficient_rows(law)]


def described(one: Configuration, plan: Plan) -> str:
    """Return a configuration in words, with its time and cost."""
    what = one.name if one.machine_type else f"{one.machines} {plan.unit}"
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
    choice = plan.choice
    return {
        "schema": SCHEMA,
        "scale": plan.scale,
        "confidence": plan.confidence,
        "deadline_seconds": plan.deadline,
        "budget_usd": plan.budget,
        "spare": plan.spare,
        "spare_test_seconds": plan.spare_test,
        "iterations": plan.iterations,
        "unit": plan.unit,
        "cost_unit": plan.cost_unit,
        "goal": None if choice is None else f"{choice.wanted} {choice.condition}",
        "choice": None
        if choice is None or choice.configuration is None
        else _plain(choice.configuration),
        "nearest": {}
        if choice is None
        else {what: _plain(one) for what, one in choice.nearest.items()},
        "frontier": [_plain(one) for one in plan.frontier],
        "configurations": [_plain(one) for one in plan.configurations],
        "warnings": list(plan.warnings),
    }


def _plain(one: Configuration) -> dict[str, Any]:
    return {
        "machine_type": one.machine_type,
        "machines": one.machines,
        "seconds": one.seconds,
        "low": one.low,
        "high": one.high,
        "cost": one.cost,
        "cost_high": one.cost_high,
        "measured": one.measured,
        "chance": one.chance,
    }
