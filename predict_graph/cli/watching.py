"""The command watch: the remaining time of an application that someone else started."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from predict_graph.cli import options
from predict_graph.clock.display import Display
from predict_graph.durations import counted, parse_duration
from predict_graph.errors import RequestError
from predict_graph.reports import json_output


def watch(
    app: str,
    *,
    expect: Path | None = None,
    iterations: int | None = None,
    run: str | None = None,
    patience: str = "10m",
    serve: str | None = None,
    history: str | None = None,
    events: str | None = None,
) -> None:
    """Show what remains of a Spark application that runs, from outside.

    Parameters
    ----------
    app : APP
        Address of a running Spark application, its event log, or a folder of logs.
    expect : FILE.json
        What predict --json wrote of what runs there.
    iterations
        Supersteps in all, where they are known.
    run : NAME, default the last
        Of the runs that job groups name, this one.
    patience : TIME
        After so long without anything new it is dead.
    serve : [HOST:]PORT
        Serve a page and Prometheus metrics of all that run there, until Ctrl-C.
    """
    from predict_graph.clock import applications, service, supersteps
    from predict_graph.history import check_history

    if iterations is not None and iterations < 1:
        raise RequestError(f"iterations are {iterations}; accepted: at least 1")
    if iterations is not None and expect is not None:
        raise RequestError("--iterations and --expect both say how many; accepted: one of them")
    longest = parse_duration(patience, "patience")
    expected = None if expect is None else supersteps.read_expected(expect)[0]
    kept = check_history(history)

    def watching(application: applications.Application) -> applications.Watch:
        return applications.Watch(application, expected, iterations, kept, run, longest)

    if serve is not None:
        options.refuse({"events": events}, "and --serve both say where to; accepted: one of them")
        board = service.Board(app, watching)
        board.look()
        with suppress(KeyboardInterrupt), service.served(board, serve) as address:
            options.note(f"serving {address} (metrics: {address}/metrics)")
            service.serve(board)
        return
    application, others = applications.open_application(app)
    watched = watching(application)
    more = f", the last of {others + 1} that run" if others else ""
    console = options.messages()
    with json_output.events(events) as write, Display(console) as display:
        for number, moment in enumerate(watched.moments()):
            if not number:
                options.note(f"watching {application.name}{more}", console)
            display.show(moment)
            write(moment)
    done = counted(moment.done, "supersteps") if moment.done else "no supersteps recognised"
    options.note(f"{application.name} has ended: {done}")
    options.conclude(application.name, moment)
