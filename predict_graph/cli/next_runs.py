"""The command next: which configuration of a job to measure next, and measuring it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predict_graph.cli import options
from predict_graph.cli.groups import takes
from predict_graph.cli.output import Pages
from predict_graph.errors import JobError, RequestError
from predict_graph.reports.tables import say

if TYPE_CHECKING:
    from costmodels.scaling.shapes import Prior
    from predict_graph.sizing.measuring.experiments import Design, Experiment
    from predict_graph.sizing.measuring.running import Outcome
    from predict_graph.sizing.planning.candidates import Candidates
    from predict_graph.sizing.planning.next_run import Advice, Option


@takes(output=Pages)
def next_run(
    output: Pages,
    runs: Annotated[
        Path,
        typer.Argument(
            metavar="RUNS.csv", help="Measured runs: machine type, machines, seconds; may be empty."
        ),
    ],
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND…",
            help="With --run, what to run, after --; {machine_type}, {machines} and {scale} stand "
            "for their values.",
            show_default=False,
        ),
    ] = None,
    candidates: Annotated[
        Path | None,
        typer.Option(
            metavar="TYPES.csv",
            help="Machine types with cores, memory_gb, price_per_hour and maybe machines.",
        ),
    ] = None,
    goal: Annotated[
        str, typer.Option(help="cheapest, fastest, or deadline=TIME: the cheapest within it.")
    ] = "cheapest",
    machines: Annotated[
        str | None, typer.Option(metavar="N:M", help="Machine counts of every type: 2:16, 2,4,8.")
    ] = None,
    prior: Annotated[
        list[Path] | None,
        typer.Option(metavar="HISTORY", help="Runs of past jobs of the cluster; repeatable."),
    ] = None,
    scale: Annotated[float | None, typer.Option(help="Scale of the job, of several.")] = None,
    uses: Annotated[
        int, typer.Option(help="How often the job will run as chosen; measuring must pay in these.")
    ] = 10,
    parallel: Annotated[int, typer.Option(help="Configurations to measure at a time.")] = 1,
    run: Annotated[
        bool, typer.Option("--run", help="Measure, and go on until it does not pay.")
    ] = False,
    most: Annotated[
        int | None, typer.Option("--max-runs", help="With --run, runs after which to end.")
    ] = None,
    timeout: Annotated[
        str | None, typer.Option(metavar="TIME", help="With --run, end a run after this time.")
    ] = None,
    logs: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="With --run, keep the output of the runs.")
    ] = None,
) -> None:
    """Say which configuration of a job to measure next, or measure until that does not pay."""
    from predict_graph.sizing.planning.candidates import read_candidates
    from predict_graph.sizing.planning.next_run import advise, parse_goal
    from predict_graph.sizing.planning.tried_runs import NO_RUNS, read_tried
    from predict_graph.sizing.quantities import parse_counts, parse_duration

    output.check()
    _check_options(run, command, most, timeout, logs, candidates)
    assert candidates is not None
    wanted = parse_goal(goal)
    counts = None if machines is None else parse_counts(machines)
    there = read_candidates(candidates, counts)
    learnt, said = _prior(prior, there)

    def advice(begun: bool) -> Advice:
        found = read_tried(runs, there, scale) if begun or runs.exists() else NO_RUNS
        return advise(
            there,
            found,
            wanted,
            prior=learnt,
            parallel=parallel,
            uses=uses,
            warnings=said,
            source=str(runs),
        )

    now = advice(not run)
    if run:
        from predict_graph.sizing import collect

        design = _design(there, scale)
        design.experiments(command or [])  # refuses a command that does not use what varies
        ended = 0
        limit = None if timeout is None else parse_duration(timeout, "timeout")
        while now.stop is None and (most is None or ended < most):
            chosen = now.next[: None if most is None else most - ended]
            if not output.quiet:
                sentence = replace(now, next=chosen).answer.sentence
                say(options.messages(), sentence.replace("next", "measuring", 1))
            collect(
                _only(design, chosen, scale),
                command or [],
                runs,
                parallel=parallel,
                timeout=limit,
                logs=logs,
                report=_told,
            )
            ended += len(chosen)
            now = advice(True)
    output.show(now)
    if run and ended and now.best is None:
        raise JobError(
            f"none of the {ended} runs succeeded; --logs FOLDER keeps what the command prints"
        )


def _check_options(
    run: bool,
    command: list[str] | None,
    most: int | None,
    timeout: str | None,
    logs: Path | None,
    candidates: Path | None,
) -> None:
    if candidates is None:
        raise RequestError(
            "next needs --candidates TYPES.csv; accepted: a table with machine_type, cores, "
            "memory_gb and price_per_hour"
        )
    if run != bool(command):
        raise RequestError(
            "--run needs a command, such as: --run -- python job.py {machine_type} {machines}"
            if run
            else "there is a command, but no --run; accepted: both or none"
        )
    if not run:
        for name, value in (("max-runs", most), ("timeout", timeout), ("logs", logs)):
            if value is not None:
                raise RequestError(f"--{name} goes with --run only")
    if most is not None and most < 1:
        raise RequestError(f"--max-runs is {most}; accepted: 1 or more")


def _prior(paths: list[Path] | None, there: Candidates) -> tuple[Prior | None, tuple[str, ...]]:
    if not paths:
        return None, ()
    from predict_graph.sizing.fitting.past_jobs import read_past_jobs

    past = read_past_jobs(paths, there.types)
    return past.prior(), past.warnings


def _design(there: Candidates, scale: float | None) -> Design:
    from predict_graph.sizing.measuring.experiments import Design

    columns = ["machine_type", "machines", *([] if scale is None else ["scale"])]
    points = [(_values(kind, count, scale), 1) for kind, count in there.entries]
    return Design(there.path, columns, points)


def _only(design: Design, chosen: tuple[Option, ...], scale: float | None) -> Design:
    points = [(_values(one.machine_type, one.machines, scale), 1) for one in chosen]
    return replace(design, points=points)


def _values(kind: str, count: int, scale: float | None) -> dict[str, str]:
    found = {"machine_type": kind, "machines": str(count)}
    return found if scale is None else {**found, "scale": f"{scale:.10g}"}


def _told(experiment: Experiment, outcome: Outcome, done: int, count: int) -> None:
    from predict_graph.cli.jobs import described

    said = f"{experiment.name}: {described(outcome)}"
    say(options.messages(), said)
