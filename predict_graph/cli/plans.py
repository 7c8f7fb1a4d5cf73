"""The commands fit and plan: a scaling model of a job, and the choice of machines."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predict_graph.cli.groups import takes
from predict_graph.cli.output import Pages
from predict_graph.cli.tasks import fit_tasks, rank_assignments
from predict_graph.errors import JobError, RequestError
from predict_graph.files import check_writable
from predict_graph.inputs import read_json

if TYPE_CHECKING:
    from predict_graph.sizing import JobModel, Measurements, Plan, Price
    from predict_graph.sizing.fitting.past_jobs import PastJobs
    from predict_graph.sizing.planning.candidates import MachineType

__all__ = ["fit", "plan"]

_Confidence = Annotated[
    float, typer.Option(help="Probability with which a run keeps what is said; from 0.5.")
]


@takes(output=Pages)
def fit(
    output: Pages,
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
) -> None:
    """Fit a model to measured runs: of a job on many machines, or of a task on unlike ones."""
    if model.startswith("nimo"):
        others = {
            "term": term,
            "where": where,
            "plot": output.plot,
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
        fit_tasks(file, model, out, output)
        return
    from predict_graph.sizing import fit_job, read_measurements, save_model
    from predict_graph.sizing.picture import pictures_of_fit
    from predict_graph.sizing.planning.candidates import read_types
    from predict_graph.sizing.report import answer_of_fit, fit_summary

    output.check()
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
    answer = answer_of_fit(fitted)
    output.give(answer, fit_summary(fitted))
    output.draw(f"model of {fitted.source}", answer, partial(pictures_of_fit, fitted))


@takes(output=Pages)
def plan(
    output: Pages,
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
) -> None:
    """Choose machines for a job: by a deadline, within a budget, or along the frontier."""
    if assignments:
        for name, value in (("machines", machines), ("budget", budget), ("plot", output.plot)):
            if value is not None:
                raise RequestError(f"--{name} does not go with --assignments")
        rank_assignments(models, assignments, given, deadline, confidence, output)
        return
    if machines is None:
        raise RequestError(
            "a plan needs --machines N:M, or --assignments FILE with models of fit --model nimo"
        )
    from predict_graph.sizing import parse_counts, parse_duration, parse_money
    from predict_graph.sizing import plan as make_plan
    from predict_graph.sizing.picture import pictures_of_plan
    from predict_graph.sizing.report import answer_of_plan, plan_summary

    output.check()
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
    answer = answer_of_plan(made)
    output.give(answer, plan_summary(made))
    sources = ", ".join(dict.fromkeys(model.source for model in loaded))
    output.draw(f"plan for {sources}", answer, partial(pictures_of_plan, made, loaded))
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


def _refuse_if_impossible(made: Plan) -> None:
    from predict_graph.sizing.report import described

    if made.choice is None or made.choice.configuration is not None:
        return
    nearest = "; ".join(
        f"{what}: {described(one, made)}" for what, one in made.choice.nearest.items()
    )
    raise JobError(f"no configuration is {made.choice.condition}; {nearest}")
