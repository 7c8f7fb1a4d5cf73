"""The command watch: the remaining time of an application that someone else started."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from predict_graph.cli import options
from predict_graph.errors import RequestError
from predict_graph.reports import json_output


def watch(
    app: Annotated[
        str,
        typer.Argument(
            metavar="APP",
            help="Address of a running Spark application, its event log, or a folder of logs.",
        ),
    ],
    *,
    expect: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="What predict --json wrote of what runs there."),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Supersteps in all, where they are known.")
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Of the runs that job groups name, this one.",
            show_default="the last",
        ),
    ] = None,
    patience: Annotated[
        str, typer.Option(metavar="TIME", help="After so long without anything new it is dead.")
    ] = "10m",
    history: options.HistoryFile = None,
    events: options.Events = None,
) -> None:
    """Show what remains of a Spark application that runs, from outside."""
    from predict_graph.clock import read_expected
    from predict_graph.clock.applications import Watch, open_application
    from predict_graph.clock.display import Display
    from predict_graph.durations import parse_duration
    from predict_graph.history import check_history

    if iterations is not None and iterations < 1:
        raise RequestError(f"iterations are {iterations}; accepted: at least 1")
    if iterations is not None and expect is not None:
        raise RequestError("--iterations and --expect both say how many; accepted: one of them")
    json_output.check_events_target(events)
    longest = parse_duration(patience, "patience")
    expected = None if expect is None else read_expected(expect)[0]
    kept = check_history(history)
    application, others = open_application(app)
    watched = Watch(application, expected, iterations, kept, run, longest)
    console = options.messages()
    more = f", the last of {others + 1} that run" if others else ""
    with json_output.events(events) as write, Display(console) as display:
        named = False
        for moment in watched.moments():
            if not named:
                named = True
                console.print(
                    f"watching {application.name}{more}",
                    markup=False,
                    highlight=False,
                    soft_wrap=True,
                )
            display.show(moment)
            write(moment)
    done = f"{moment.done:.0f} supersteps" if moment.done else "no supersteps recognised"
    console.print(
        f"{application.name} has ended: {done}", markup=False, highlight=False, soft_wrap=True
    )
    options.conclude(application.name, moment)
