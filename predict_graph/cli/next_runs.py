"""The command next: which configuration of a job to measure next, and measuring it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from predict_graph.cli import options
from predict_graph.cli.output import Pages
from predict_graph.cli.plans import Columns
from predict_graph.errors import JobError, RequestError
from predict_graph.reports.tables import say

if TYPE_CHECKING:
    import pandas as pd

    from predict_graph.sizing.measuring.collecting import Outcome
    from predict_graph.sizing.measuring.experiments import Design, Experiment
    from predict_graph.sizing.planning.candidates import Candidates
    from predict_graph.sizing.planning.next_run import Advice


def next_run(
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
        Measured runs: machine type, machines, seconds; may be empty.
    command : -- COMMAND…
        With --run, what to run, after --; {machine_type}, {machines} and {scale} stand for their
        values.
    candidates : TYPES.csv
        Machine types with cores, memory_gb, price_per_hour and maybe machines.
    goal
        cheapest, fastest, or deadline=TIME: the cheapest within it.
    machines : N:M
        Machine counts of every type: 2:16, 2,4,8.
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
    from predict_graph.durations import parse_duration
    from predict_graph.sizing.fitting.fit_runs import past_jobs
    from predict_graph.sizing.planning.candidates import read_candidates, read_tried
    from predict_graph.sizing.planning.next_run import advise, parse_goal
    from predict_graph.sizing.quantities import parse_counts

    if run != bool(command):
        raise RequestError(
            "--run needs a command, such as: --run -- python job.py {machine_type} {machines}"
            if run
            else "there is a command, but no --run; accepted: both or none"
        )
    if not run:
        measuring = {"--max-runs": max_runs, "--timeout": timeout, "--logs": logs}
        options.refuse(measuring, "goes with --run only")
    if max_runs is not None and max_runs < 1:
        raise RequestError(f"--max-runs is {max_runs}; accepted: 1 or more")
    if candidates is None:
        raise RequestError(
            "next needs --candidates TYPES.csv; accepted: a table with machine_type, cores, "
            "memory_gb and price_per_hour"
        )
    wanted = parse_goal(goal)
    counts = None if machines is None else parse_counts(machines)
    there = read_candidates(candidates, counts)
    if like is not None and not prior:
        raise RequestError("--like names a past job; accepted: with --prior HISTORY")
    past = past_jobs(prior, there.types, like) if prior else None

    def advice() -> Advice:
        found = read_tried(runs, there, scale, missing_ok=run, **vars(columns))
        return advise(there, found, wanted, past=past, parallel=parallel, uses=uses)

    now = advice()
    if run:
        from predict_graph.sizing import collect

        # Refuses a command that does not use what varies.
        _design(there, there.entries, scale).experiments(command or [])
        ended = 0
        limit = None if timeout is None else parse_duration(timeout, "timeout")
        while now.stop is None and (max_runs is None or ended < max_runs):
            chosen = now.next[: None if max_runs is None else max_runs - ended]
            if not output.quiet:
                sentence = replace(now, next=chosen).answer.sentence
                say(options.messages(), sentence.replace("measure next", "measuring", 1))
            collect(
                _design(there, now.options.loc[chosen], scale),
                command or [],
                runs,
                parallel=parallel,
                timeout=limit,
                logs=logs,
                report=_reported,
            )
            ended += len(chosen)
            now = advice()
    output.show(now)
    if run and ended and now.options["measured"].isna().all():
        raise JobError(
            f"none of the {ended} runs succeeded; --logs FOLDER keeps what the command prints"
        )


def _design(there: Candidates, entries: pd.DataFrame, scale: float | None) -> Design:
    """Return a design of one run each of some machine types and counts."""
    from predict_graph.sizing.measuring.experiments import Design

    given = {} if scale is None else {"scale": repr(scale).removesuffix(".0")}
    points = entries[["machine_type", "machines"]].astype(str)
    return Design(there.path, points.assign(**given, repeats=1))


def _reported(experiment: Experiment, outcome: Outcome, done: int, count: int) -> None:
    from predict_graph.cli.designing import described

    say(options.messages(), f"{experiment.name}: {described(outcome)}")
