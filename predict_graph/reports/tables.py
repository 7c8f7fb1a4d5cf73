"""Tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from predict_graph.durations import readable_seconds

if TYPE_CHECKING:
    from predict_graph.engines import RunProfile
    from predict_graph.iterations import SampleSummary
    from predict_graph.prediction import Comparison, Prediction

__all__ = ["show_comparison", "show_prediction", "show_run", "show_table"]

_LISTED = 6


def show_table(
    console: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> None:
    """Print a table; numbers are aligned to the right."""
    table = Table(
        title=title or None,
        title_justify="left",
        title_style="bold",
        header_style="",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    listed = [list(row) for row in rows]
    for number, column in enumerate(columns):
        numeric = bool(listed) and all(isinstance(row[number], int | float) for row in listed)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in listed:
        table.add_row(*(escape(_text(cell)) for cell in row))
    console.print(table)


def show_prediction(console: Console, prediction: Prediction) -> None:
    """Print a prediction: main figures, what a regression says, samples, warnings."""
    console.print(f"[bold]{escape(prediction.verdict.sentence)}[/bold]", highlight=False)
    show_table(console, "", ["what", "value"], prediction.summary())
    from predict_graph.prediction.outcome.prediction import LEAST_WEIGHT

    for each in prediction.evidence:
        if each["model"] and each["weight"] >= LEAST_WEIGHT:
            console.print(_regression(each))
    if prediction.samples:
        columns = ["sampler", "runs", "ratio", "vertices", "edges", "iterations", "seconds", "for"]
        show_table(console, "samples", columns, _sample_rows(prediction))
    for warning in prediction.warnings:
        console.print(f"[yellow]warning:[/yellow] {escape(warning)}")


def _regression(witness: Mapping[str, Any]) -> str:
    """Say what a regression that was used has learned, and from what."""
    model = witness["model"]
    terms = ", ".join(f"{name} {value:.3g} s" for name, value in model["terms"].items())
    return (
        f"cost model {escape(model['name'])} (weight {witness['weight']:.0%}, off by "
        f"{witness['relative_std']:.0%} on rows left out): {model['rows']} rows of "
        f"{model['runs']} runs ({model['history_runs']} of the history); {escape(terms)}"
    )


def _sample_rows(prediction: Prediction) -> list[list[Any]]:
    """One row a sample; samples of the same kind and size share one."""
    groups: dict[tuple[Any, ...], list[SampleSummary]] = {}
    for sample in prediction.samples:
        key = (sample.sampler, sample.purpose, sample.vertices, sample.edges)
        groups.setdefault(key, []).append(sample)
    rows = []
    for (sampler, purpose, vertices, edges), members in groups.items():
        counts = sorted({sample.iterations for sample in members})
        spread = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        seconds = sum(sample.seconds for sample in members)
        ratio = round(members[0].ratio, 4)
        rows.append(
            [sampler, len(members), ratio, vertices, edges, spread, round(seconds, 4), purpose]
        )
    return rows


def show_run(console: Console, profile: RunProfile) -> None:
    """Print what a run did and took."""
    phases = ", ".join(
        f"{name} {readable_seconds(value)}" for name, value in profile.phases.items()
    )
    state = "converged" if profile.converged else "stopped at its limit"
    rows = [
        (
            "graph",
            f"{profile.graph['name']}: {profile.graph['vertices']:,} vertices, "
            f"{profile.graph['edges']:,} edges",
        ),
        ("iterations", f"{profile.iterations} ({state})"),
        ("runtime", readable_seconds(profile.runtime_seconds)),
        ("phases", phases),
        *_first(profile),
        *((name, f"{value:,}") for name, value in profile.features_total().items()),
        *((name.replace("_", " "), _short(value)) for name, value in profile.result.items()),
    ]
    show_table(console, f"run of {profile.algorithm}", ["what", "value"], rows)


def _first(profile: RunProfile) -> list[tuple[str, str]]:
    """Say what ran first in a chain."""
    if profile.prior is None:
        return []
    spent = profile.prior.phases["setup"] + profile.prior.phases["superstep"]
    return [
        (
            f"of which {profile.prior.algorithm}",
            f"{profile.prior.iterations} iterations, {readable_seconds(spent)}",
        )
    ]


def _short(value: Any) -> str:
    """Return a figure of a result; of a list, its length and ends."""
    if isinstance(value, list) and len(value) > _LISTED:
        ends = ", ".join(_text(part) for part in (*value[:2], "…", value[-1]))
        return f"{ends} ({len(value)} values)"
    return ", ".join(_text(part) for part in value) if isinstance(value, list) else _text(value)


def show_comparison(console: Console, comparison: Comparison) -> None:
    """Print a prediction beside the truth."""
    prediction, actual = comparison.prediction, comparison.actual
    errors, inside = comparison.errors(), comparison.inside()
    totals, truth = prediction.features_total(), actual.features_total()
    runtime = prediction.runtime_seconds
    rows: list[tuple[str, str, str, str, str]] = [
        (
            "iterations",
            f"{prediction.iterations.predicted:.0f}",
            f"{prediction.iterations.low:.0f} to {prediction.iterations.high:.0f}"
            + _mark(inside["iterations"]),
            f"{actual.iterations}",
            _percent(errors["iterations"]),
        ),
        (
            "runtime",
            readable_seconds(runtime.predicted),
            f"{readable_seconds(runtime.low)} to {readable_seconds(runtime.high)}"
            + _mark(inside["runtime_seconds"]),
            readable_seconds(actual.runtime_seconds),
            _percent(errors["runtime_seconds"]),
        ),
        (
            "superstep phase",
            readable_seconds(prediction.phases["superstep"]),
            "",
            readable_seconds(actual.phases["superstep"]),
            _percent(errors["superstep_seconds"]),
        ),
    ]
    rows += [
        (
            name.replace("_", " "),
            f"{totals[name]:,}",
            "",
            f"{truth[name]:,}",
            _percent(errors["features_total"][name]),
        )
        for name in totals
    ]
    columns = ["", "predicted", "90% interval", "actual", "error"]
    show_table(console, "prediction and truth", columns, rows)


def _mark(inside: bool) -> str:
    return "" if inside else " (missed)"


def _percent(error: float | None) -> str:
    return "" if error is None else f"{error:+.1%}"


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.4g}"
    if isinstance(cell, int):
        return f"{cell:,}"
    return str(cell)
