"""The commands fit and plan: a scaling model of a job, and the choice of machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from predict_graph.cli import options
from predict_graph.cli.tasks import fit_tasks, rank_assignments
from predict_graph.durations import readable_seconds
from predict_graph.errors import JobError, RequestError
from predict_graph.files import check_writable
from predict_graph.inputs import read_json
from predict_graph.reports.json_output import check_json_target, write_json
from predict_graph.reports.tables import show_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from predict_graph.sizing import Configuration, JobModel, Measurements, Plan, Price
    from predict_graph.sizing.fitting.past_jobs import PastJobs
    from predict_graph.sizing.planning.candidates import MachineType

__all__ = ["fit", "plan"]

_MOST_ROWS = 20

_Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the result.")]
_Confidence = Annotated[
    float, typer.Option(help="Probability with which a run keeps what is said; from 0.5.")
]


def fit(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Measured points: of collect, or any CSV or TSV.")
    ],
    model: Annotated[
        str,
        typer.Option(
            help="auto, ernest, masha, usl, power-law or product; nimo for runs on unlike machines."
        ),
    ] = "auto",
    weights: Annotated[
        str, typer.Option(help="relative: minimise relative errors; none: seconds.")
    ] = "relative",
    term: Annotated[
        list[str] | None,
        typer.Option(metavar="TERM", help="Add a term to ernest or masha; may come again."),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Only rows with this value; may come again."),
    ] = None,
    scale_column: Annotated[str | None, typer.Option(help="Column of the scale.")] = None,
    machines_column: Annotated[str | None, typer.Option(help="Column of the machines.")] = None,
    seconds_column: Annotated[str | None, typer.Option(help="Column of the time.")] = None,
    history: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|none",
            help="For auto: runs of past jobs of the cluster; may come again.",
            show_default="the rows that --where leaves out",
        ),
    ] = None,
    types: Annotated[
        Path | None,
        typer.Option(
            metavar="TYPES.csv",
            help="For auto: machine types with cores, memory_gb, price_per_hour, maybe profile; "
            "joins the runs on all of them in one model.",
        ),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Iterations of each measured run, if plan shall scale them.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="MODEL.json", help="Save the model, for plan.")
    ] = None,
    plot: _Plot = None,
    json: options.Json = None,
) -> None:
    """Fit a model to measured runs: of a job on many machines, or of a task on unlike ones."""
    if model.startswith("nimo"):
        others = {
            "term": term,
            "where": where,
            "plot": plot,
            "scale-column": scale_column,
            "machines-column": machines_column,
            "seconds-column": seconds_column,
            "iterations": iterations,
            "history": history,
            "types": types,
            "weights": weights != "relative",
        }
        for name, value in others.items():
            if value:
                raise RequestError(f"--{name} is no option of the model {model!r}")
        fit_tasks(file, model, out, json)
        return
    from predict_graph.sizing import fit_job, read_measurements, save_model
    from predict_graph.sizing.planning.candidates import read_types
    from predict_graph.sizing.report import fit_summary

    check_json_target(json)
    _check_plot(plot)
    if out is not None:
        check_writable(out)
    measurements = read_measurements(
        file,
        scale_column=scale_column,
        machines_column=machines_column,
        seconds_column=seconds_column,
        where=_conditions(where),
    )
    kinds = None if types is None else read_types(types)
    fitted = fit_job(
        measurements,
        model,
        weights=weights,
        terms=term or (),
        iterations=iterations,
        past=_past_jobs(history, model, measurements, _conditions(where), kinds),
        types=kinds,
    )
    if out is not None:
        save_model(fitted, out)
    _show_fit(options.results(json), fitted)
    write_json(fit_summary(fitted), json)
    if plot is not None:
        from predict_graph.sizing.picture import draw_fit

        draw_fit(fitted, plot)


def plan(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="[TYPE=]MODEL.json…",
            help="Models of fit, or predictions on a cluster; one for each machine type. Models of "
            "tasks: in the order in which they run.",
        ),
    ],
    machines: Annotated[
        str | None, typer.Option(metavar="N:M", help="Machine counts: 2:64, 2:64:2 or 2,4,8.")
    ] = None,
    assignments: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="For models of tasks: a profile of calibrate (.json), or a table of candidates "
            "(.csv); may come again.",
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAME=VALUE", help="Attribute that all candidates share."),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(help="Scale of the job.", show_default="that of all measured points"),
    ] = None,
    deadline: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Choose the cheapest that is done by then: 90s, 10m."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(metavar="USD", help="Choose the fastest that costs no more.")
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|example", help="CSV with the columns type, cores, usd_per_hour."
        ),
    ] = None,
    confidence: _Confidence = 0.9,
    spare: Annotated[
        int, typer.Option(help="Machines launched in addition, of which the slowest are dropped.")
    ] = 0,
    spare_test: Annotated[
        str, typer.Option(metavar="TIME", help="How long all are held to find the slowest.")
    ] = "1m",
    iterations: Annotated[
        int | None, typer.Option(help="Iterations of the job, if fit was told those measured.")
    ] = None,
    plot: _Plot = None,
    json: options.Json = None,
) -> None:
    """Choose machines for a job: by a deadline, within a budget, or along the frontier."""
    if assignments:
        for name, value in (("machines", machines), ("budget", budget), ("plot", plot)):
            if value is not None:
                raise RequestError(f"--{name} does not go with --assignments")
        rank_assignments(models, assignments, given, deadline, confidence, json)
        return
    if machines is None:
        raise RequestError(
            "a plan needs --machines N:M, or --assignments FILE with models of fit --model nimo"
        )
    from predict_graph.sizing import parse_counts, parse_duration, parse_money
    from predict_graph.sizing import plan as make_plan
    from predict_graph.sizing.report import plan_summary

    check_json_target(json)
    _check_plot(plot)
    loaded = [_model(text) for text in models]
    made = make_plan(
        loaded,
        parse_counts(machines),
        scale=scale,
        deadline=None if deadline is None else parse_duration(deadline, "deadline"),
        budget=None if budget is None else parse_money(budget),
        prices=_prices(prices),
        confidence=confidence,
        spare=spare,
        spare_test=parse_duration(spare_test, "spare test"),
        iterations=iterations,
    )
    _show_plan(options.results(json), made)
    write_json(plan_summary(made), json)
    if plot is not None:
        from predict_graph.sizing.picture import draw_plan

        draw_plan(made, loaded, plot)
    _refuse_if_impossible(made)


def _past_jobs(
    history: list[str] | None,
    model: str,
    measured: Measurements,
    where: dict[str, str],
    types: dict[str, MachineType] | None,
) -> PastJobs | None:
    """Return the past jobs that a model learns from: those named, or the rest of the file."""
    from predict_graph.sizing.fitting.past_jobs import check_taught, read_past_jobs, rest_of_file

    if history and model != "auto":
        raise RequestError(f"--history is no option of the model {model!r}; accepted: --model auto")
    if model != "auto" or history == ["none"]:
        return None
    if history is None:
        if not where:
            return None
        return rest_of_file(measured.path, where, measured.columns, types)
    paths = [Path(text) for text in history]
    found = read_past_jobs(paths, types)
    check_taught(found, paths)
    return found


def _conditions(texts: list[str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise RequestError(
                f"--where is {text!r}; accepted: NAME=VALUE, such as machine_type=m4.2xlarge"
            )
        if name.strip() in found:
            raise RequestError(f"the column {name.strip()} is given twice in --where")
        found[name.strip()] = value.strip()
    return found


def _model(text: str) -> JobModel:
    """Load ``MODEL.json``, or ``TYPE=MODEL.json`` as a model of that machine type."""
    from predict_graph.sizing.fitting.model import with_machine_type

    kind, equals, path = text.partition("=")
    if not equals or Path(text).is_file():
        return _loaded(Path(text))
    if not kind.strip():
        raise RequestError(f"the model is {text!r}; accepted: MODEL.json or TYPE=MODEL.json")
    return with_machine_type(_loaded(Path(path)), kind.strip())


def _loaded(path: Path) -> JobModel:
    """Load a model of fit, or a prediction on a cluster."""
    from predict_graph.sizing import load_model
    from predict_graph.sizing.planning.predicted import is_prediction, predicted_job

    try:
        found = read_json(path)
    except ValueError:
        found = None  # load_model says what is wrong with it
    return predicted_job(path) if is_prediction(found) else load_model(path)


def _prices(path: Path | None) -> dict[str, Price] | None:
    from predict_graph.sizing import read_prices
    from predict_graph.sizing.planning.prices import example_prices

    if path is None:
        return None
    if str(path) == "example" and not path.exists():
        path = example_prices()
    return read_prices(path)


def _show_fit(console: Console, fitted: JobModel) -> None:
    from costmodels.scaling.pooled import PooledLaw
    from predict_graph.sizing.report import coefficient_rows, fit_facts

    show_table(console, f"model of {fitted.source}", ["what", "value"], fit_facts(fitted))
    law = fitted.estimator.law_
    if not isinstance(law, PooledLaw):  # whose formula says it all
        show_table(console, "coefficients", ["term", "value", "unit"], coefficient_rows(law))
    _show_warnings(console, fitted.warnings)


def _show_plan(console: Console, made: Plan) -> None:
    from predict_graph.sizing.report import described

    columns = [made.unit, "time", "at most", made.cost_unit, f"{made.cost_unit} at most"]
    chosen = None if made.choice is None else made.choice.configuration
    shown = _thinned(made.frontier, chosen)
    rows = [
        (
            one.name + (" *" if one == chosen else ""),
            readable_seconds(one.seconds),
            readable_seconds(one.high),
            round(one.cost, 4),
            round(one.cost_high, 4),
        )
        for one in shown
    ]
    title = (
        f"frontier of time and cost at scale {made.scale:.4g}; at most: with "
        f"{100 * made.confidence:.4g}% confidence"
    )
    show_table(console, title, columns, rows)
    said = f"{len(made.frontier)} of {len(made.configurations)} configurations are on the frontier"
    if len(shown) < len(made.frontier):
        said += f"; {len(shown)} are shown, --json has all"
    console.print(said, soft_wrap=True, highlight=False)
    if made.spare:
        spare = f"{made.spare} spare machines for {readable_seconds(made.spare_test)} are included"
        console.print(spare, soft_wrap=True, highlight=False)
    choice = made.choice
    if choice is not None and choice.configuration is not None:
        said = f"{choice.wanted} {choice.condition}: {described(choice.configuration, made)}"
        console.print(escape(said), soft_wrap=True, highlight=False, style="bold")
    _show_warnings(console, made.warnings)


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


def _show_warnings(console: Console, warnings: Sequence[str]) -> None:
    for warning in warnings:
        console.print(f"[yellow]warning:[/yellow] {escape(warning)}", soft_wrap=True)


def _refuse_if_impossible(made: Plan) -> None:
    from predict_graph.sizing.report import described

    if made.choice is None or made.choice.configuration is not None:
        return
    nearest = "; ".join(
        f"{what}: {described(one, made)}" for what, one in made.choice.nearest.items()
    )
    raise JobError(f"no configuration is {made.choice.condition}; {nearest}")


def _check_plot(plot: Path | None) -> None:
    """Refuse a picture that could not be drawn, before any work is done."""
    if plot is not None:
        from predict_graph.pictures import check_picture

        check_picture(check_writable(plot))
