"""The command collect: measuring any job."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from predict_graph.cli import options
from predict_graph.durations import readable_seconds
from predict_graph.errors import JobError
from predict_graph.reports.tables import say

if TYPE_CHECKING:
    from predict_graph.sizing.measuring.collecting import Outcome
    from predict_graph.sizing.measuring.experiments import Experiment


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
