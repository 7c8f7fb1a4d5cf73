"""The commands design, collect and next: which runs of a job to measure, and measuring them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from predict_graph import sizing
from predict_graph.answers import Answer, Table
from predict_graph.cli import options
from predict_graph.cli.output import Output, Pages
from predict_graph.cli.plans import Columns
from predict_graph.durations import counted, parse_duration, readable_seconds
from predict_graph.errors import JobError, RequestError
from predict_graph.options import Group
from predict_graph.reports.tables import say
from predict_graph.sizing.quantities import parse_counts, parse_number, parse_range

if TYPE_CHECKING:
    import pandas as pd

    from predict_graph.sizing.measuring.collecting import Outcome
    from predict_graph.sizing.measuring.experiments import Experiment
    from predict_graph.sizing.planning.candidates import Candidates
    from predict_graph.sizing.planning.next_run import Advice


@dataclass(frozen=True, kw_only=True)
class Choosing(Group):
    """How points of a design are chosen.

    Parameters
    ----------
    criterion
        What is to be precise: a, the coefficients; i, predictions at --target.
    scale_steps
        How many scales to choose from, evenly spaced.
    partitions
        Partitions of the whole data; a scale is then a fraction of them.
    cores_per_machine
        Cores of a machine: runs with fewer partitions than cores are left out.
    cost
        Cost of a run: its time, or machine-time, if it scales ideally.
    max_repeats
        Most runs of one point.
    """

    criterion: str = "a"
    scale_steps: int = 20
    partitions: int | None = None
    cores_per_machine: int | None = None
    cost: str = "time"
    max_repeats: int = 1


def design(
    *,
    scale: str,
    machines: str,
    budget: float,
    terms: str = "ernest",
    out: Path = Path("design.csv"),
    choosing: Choosing,
    target: str | None = None,
    json: str | None = None,
) -> None:
    """Choose the runs of a job that teach a scaling model most for a budget.

    Parameters
    ----------
    scale : A:B
        Smallest and largest scale, such as 0.01:0.1.
    machines : N:M
        Fewest and most machines, such as 1:16.
    budget
        What all runs may cost together; 1 is a run of the smallest scale on one machine.
    terms : NAME
        ernest, masha, amdahl, or terms with commas between, such as 1, scale/machines.
    out : FILE
        Where to write the design, which collect reads.
    target : S@N:M
        Scale and machines to predict with --criterion i, such as 1@8:64.
    """
    from predict_graph.sizing.measuring.experiments import design_summary

    made = sizing.make_design(
        options.listed(terms or None) or [],
        parse_range(scale, "scale"),
        parse_counts(machines),
        budget,
        target=_target(target),
        **vars(choosing),
    )
    sizing.write_design(made, out)
    summary = design_summary(made)
    rows = [list(point.values()) for point in summary["points"]]
    title = f"runs for a model of the terms {', '.join(made.terms)}"
    table = Table(title, ["scale", "machines", "repeats", f"ideal {choosing.cost}"], rows)
    unit = "where the smallest scale on one machine costs 1, and all runs scale ideally"
    sentence = f"{counted(made.runs)} for {made.cost:.4g} of {budget:.4g}, {unit}: {out}"
    facts = [
        ("precision", f"at least {made.efficiency:.1%} of the best design's for the budget"),
        ("next", f"predict-graph collect --design {out} --out points.csv -- COMMAND"),
    ]
    Output(json=json).give(Answer(sentence, facts, tables=[table]), summary)


def _target(text: str | None) -> tuple[float, list[int]] | None:
    """Return scale and machine counts of ``1@8:64``."""
    if text is None:
        return None
    scale, at, machines = text.partition("@")
    if not at:
        raise RequestError(f"the target is {text!r}; accepted: SCALE@MACHINES, such as 1@8:64")
    return parse_number(scale, "scale of the target"), parse_counts(machines, "target machines")


def collect(
    command: list[str] | None = None,
    *,
    design: Path,
    out: Path = Path("points.csv"),
    repeats: int = 1,
    parallel: int = 1,
    timeout: str | None = None,
    logs: Path | None = None,
) -> None:
    """Run a command at every point of a design, and keep how long each run took.

    Parameters
    ----------
    command : -- COMMAND…
        What to run, after --; {scale}, {machines} and other columns of the design, and {repeat},
        stand for their values.
    design : FILE
        CSV with the columns machines, scale and others, and maybe repeats.
    out : FILE
        CSV of measured points; continued if it is there.
    repeats
        Runs of each point.
    parallel
        Runs at the same time; they must not share machines.
    timeout : TIME
        End a run after this time, such as 90s or 2h.
    logs : FOLDER
        Keep the output of the runs.
    """
    console = options.messages()
    kept: list[Experiment] = []

    def tell(experiment: Experiment, outcome: Outcome, done: int, count: int) -> None:
        if outcome.outcome == "ok":
            kept.append(experiment)
        say(console, f"{done} of {count}: {experiment.name}: {described(outcome)}")

    try:
        collected = sizing.collect(
            sizing.read_design(design),
            command or [],
            out,
            repeats=repeats,
            parallel=parallel,
            timeout=timeout,
            logs=logs,
            report=tell,
        )
    except KeyboardInterrupt:
        if kept:
            new = f"{counted(len(kept), 'new points')} kept in {out}"
            say(console, f"{new}; the same command goes on from there")
        raise
    skipped = f", {collected.skipped} were there already" if collected.skipped else ""
    options.say(f"{counted(len(collected.measured), 'points')} measured{skipped}: {out}")
    if collected.failed:
        first, outcome = collected.failed[0]
        count = len(collected.failed)
        raise JobError(
            f"{count} of {count + len(collected.measured)} runs did not succeed; the first, "
            f"{first.name}, {described(outcome)}; the same command runs them again"
        )


def described(outcome: Outcome) -> str:
    """Return what became of a run, in words."""
    if outcome.outcome == "ok":
        return readable_seconds(outcome.seconds)
    last = f", last line: {outcome.last_line}" if outcome.last_line else ""
    if outcome.outcome == "timeout":
        return f"ended by --timeout after {readable_seconds(outcome.seconds)}{last}"
    return f"failed with exit status {outcome.exit_status}{last}"


def next_(
    runs: Path,
    command: list[str] | None = None,
    *,
    output: Pages,
    columns: Columns,
    candidates: Path | None = None,
    goal: str = "cheapest",
    machines: str | None = None,
    prior: list[Path] | None = None,
    like: str | None = None,
    scale: float | None = None,
    uses: int = 10,
    parallel: int = 1,
    run: bool = False,
    max_runs: int | None = None,
    timeout: str | None = None,
    logs: Path | None = None,
) -> None:
    """Say which configuration of a job to measure next, or measure until that does not pay.

    Parameters
    ----------
    runs : RUNS.csv
        Measured runs: machine type (of several), machines, seconds; may be empty.
    command : -- COMMAND…
        With --run, what to run, after --; {machine_type}, {machines} and {scale} stand for their
        values.
    candidates : TYPES.csv, default counts of machines of one type
        Machine types with cores, memory_gb, price_per_hour and maybe machines.
    goal
        cheapest, fastest, or deadline=TIME: the cheapest within it.
    machines : N:M
        Machine counts, of every type: 2:16, 2,4,8.
    prior : HISTORY
        Runs of past jobs of the cluster; repeatable.
    like : JOB
        With --prior, a past job that is expected to scale like this one.
    scale
        Scale of the job, of several.
    uses
        How often the job will run as chosen; measuring must pay in these.
    parallel
        Configurations to measure at a time.
    run
        Measure, and go on until it does not pay.
    max_runs
        With --run, runs after which to end.
    timeout : TIME
        With --run, end a run after this time.
    logs : FOLDER
        With --run, keep the output of the runs.
    """
    from predict_graph.sizing.fitting.fit_runs import past_jobs
    from predict_graph.sizing.planning.candidates import read_candidates, read_tried
    from predict_graph.sizing.planning.next_run import advise, parse_goal

    if run != bool(command):
        both = "such as: --run -- python job.py {machine_type} {machines}"
        raise RequestError(f"--run needs a command, and a command needs --run, {both}")
    if not run:
        measuring = {"max-runs": max_runs, "timeout": timeout, "logs": logs}
        options.refuse(measuring, "goes with --run only")
    if max_runs is not None and max_runs < 1:
        raise RequestError(f"--max-runs is {max_runs}; accepted: 1 or more")
    limit = None if timeout is None else parse_duration(timeout, "timeout")
    wanted = parse_goal(goal)
    there = read_candidates(candidates, None if machines is None else parse_counts(machines))
    if like is not None and not prior:
        raise RequestError("--like names a past job; accepted: with --prior HISTORY")
    past = past_jobs(prior, there.described, like, **vars(columns)) if prior else None

    def advice() -> Advice:
        found = read_tried(runs, there, scale, missing_ok=run, **vars(columns))
        return advise(there, found, wanted, past=past, parallel=parallel, uses=uses)

    now, tell = advice(), partial(say, options.messages())
    if run:
        # Refuses a command that does not use what varies.
        _design(there, there.entries, scale).experiments(command or [])
        ended = 0
        while now.stop is None and (max_runs is None or ended < max_runs):
            chosen = now.next[: None if max_runs is None else max_runs - ended]
            if not output.quiet:
                sentence = replace(now, next=chosen).answer.sentence
                tell(sentence.replace("measure next", "measuring", 1))
            sizing.collect(
                _design(there, now.options.loc[chosen], scale),
                command or [],
                runs,
                parallel=parallel,
                timeout=limit,
                logs=logs,
                report=lambda one, outcome, *_: tell(f"{one.name}: {described(outcome)}"),
            )
            ended += len(chosen)
            now = advice()
    output.show(now)
    if run and ended and now.options["measured"].isna().all():
        raise JobError(
            f"none of the {ended} runs succeeded; --logs FOLDER keeps what the command prints"
        )


def _design(there: Candidates, entries: pd.DataFrame, scale: float | None) -> sizing.Design:
    """Return a design of one run each of some machine types and counts."""
    given = {} if scale is None else {"scale": repr(scale).removesuffix(".0")}
    varied = ["machine_type", "machines"] if there.described else ["machines"]
    points = entries[varied].astype(str)
    return sizing.Design(there.path, points.assign(**given, repeats=1))
