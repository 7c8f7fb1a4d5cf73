"""The commands design and collect: which runs of a job to measure, and measuring them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from predict_graph.answers import Answer, Table
from predict_graph.cli import options
from predict_graph.cli.declaring import Group
from predict_graph.cli.output import Output
from predict_graph.durations import counted, readable_seconds
from predict_graph.errors import JobError, RequestError
from predict_graph.reports.tables import say

if TYPE_CHECKING:
    from predict_graph.sizing.measuring.collecting import Outcome
    from predict_graph.sizing.measuring.experiments import Experiment


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
        Cost of a run: time, or machine-time.
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
    from predict_graph.sizing import make_design, write_design
    from predict_graph.sizing.measuring.experiments import design_summary
    from predict_graph.sizing.quantities import parse_counts, parse_range

    made = make_design(
        options.listed(terms or None) or [],
        parse_range(scale, "scale"),
        parse_counts(machines),
        budget,
        target=_target(target),
        **vars(choosing),
    )
    write_design(made, out)
    summary = design_summary(made)
    rows = [list(point.values()) for point in summary["points"]]
    title = f"runs for a model of the terms {', '.join(made.terms)}"
    table = Table(title, ["scale", "machines", "repeats", "cost"], rows)
    unit = "where a run of the smallest scale on one machine costs 1"
    sentence = f"{counted(made.runs)} for {made.cost:.4g} of {budget:.4g}, {unit}: {out}"
    facts = [
        ("precision", f"at least {made.efficiency:.1%} of the best design's for the budget"),
        ("next", f"predict-graph collect --design {out} --out points.csv -- COMMAND"),
    ]
    Output(json=json).give(Answer(sentence, facts, tables=[table]), summary)


def _target(text: str | None) -> tuple[float, list[int]] | None:
    """Return scale and machine counts of ``1@8:64``."""
    from predict_graph.sizing.quantities import parse_counts, parse_number

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
    from predict_graph.durations import parse_duration
    from predict_graph.sizing import collect as collect_points
    from predict_graph.sizing import read_design

    console = options.messages()
    kept = 0

    def tell(experiment: Experiment, outcome: Outcome, done: int, count: int) -> None:
        nonlocal kept
        kept += outcome.outcome == "ok"
        say(console, f"{done} of {count}: {experiment.name}: {described(outcome)}")

    try:
        collected = collect_points(
            read_design(design),
            command or [],
            out,
            repeats=repeats,
            parallel=parallel,
            timeout=None if timeout is None else parse_duration(timeout, "timeout"),
            logs=logs,
            report=tell,
        )
    except KeyboardInterrupt:
        if kept:
            said = f"{kept} new points are kept in {out}; the same command goes on from there"
            say(console, said)
        raise
    skipped = f", {collected.skipped} were there already" if collected.skipped else ""
    options.say(f"{len(collected.measured)} points measured{skipped}: {out}")
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
