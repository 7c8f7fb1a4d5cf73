"""The commands history list, show, export, import, import-eventlog and prune."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predict_graph.cli import options
from predict_graph.errors import RequestError
from predict_graph.reports.json_output import check_json_target, write_json
from predict_graph.reports.tables import show_facts, show_table

if TYPE_CHECKING:
    from predict_graph.history import History


history_app = typer.Typer(help="Runs that were kept.", no_args_is_help=True)


_SHOWN = {
    "iteration": "iteration",
    "worker": "worker",
    "active_vertices": "active",
    "local_messages": "local",
    "remote_messages": "remote",
    "seconds": "seconds",
    "convergence": "aggregate",
}


def _history(text: str | None) -> History:
    from predict_graph.history import check_history

    found = check_history(text)
    if found is None:
        raise RequestError("the history is 'none'; accepted: a file")
    return found


@history_app.command("list")
def list_runs(
    history: options.HistoryFile = None,
    algorithm: Annotated[str | None, typer.Option(help="Only runs of this algorithm.")] = None,
    graph: Annotated[str | None, typer.Option(help="Only runs of this graph.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only run, or only sample.")] = None,
    limit: Annotated[int, typer.Option(help="The newest so many.")] = 50,
    json: options.Json = None,
) -> None:
    """List runs, newest first."""
    check_json_target(json)
    runs = _history(history).runs(algorithm, graph, kind, limit)
    columns = ["id", "time", "kind", "algorithm", "graph", "vertices", "edges", "iterations"]
    rows = [
        {
            **{column: run[column] for column in columns},
            "time": str(run["time"])[:19],
            "seconds": round(float(run["seconds"]), 4),
        }
        for run in runs.to_dict("records")
    ]
    shown = ["id", "time", "kind", "algorithm", "graph", "edges", "iterations", "seconds"]
    to_the_minute = ({**row, "time": row["time"][:16]} for row in rows)
    cells = ([row[column] for column in shown] for row in to_the_minute)
    show_table(options.results(json), "runs", shown, cells)
    write_json(rows, json)


@history_app.command()
def show(
    run: Annotated[int, typer.Argument(metavar="ID", help="Number of the run, from the list.")],
    history: options.HistoryFile = None,
    json: options.Json = None,
) -> None:
    """Show one run with its table of iterations and workers."""
    check_json_target(json)
    record = _history(history).record(run)
    facts = {
        "kind": record.kind,
        "time": record.time.isoformat(timespec="seconds"),
        "algorithm": record.algorithm,
        "parameters": dict(record.parameters),
        "graph": record.graph,
        "fingerprint": record.fingerprint,
        "vertices": record.vertices,
        "edges": record.edges,
        "engine": dict(record.engine),
        "machine": record.machine,
        "version": record.version,
        "iterations": record.iterations,
        "phases": dict(record.phases),
    }
    console = options.results(json)
    show_facts(console, f"run {run}", facts.items())
    console.print()
    rows = record.rows.records()
    show_table(
        console,
        "iterations and workers (all columns with --json)",
        list(_SHOWN.values()),
        ([row[name] for name in _SHOWN] for row in rows),
    )
    write_json({**facts, "table": rows}, json)


@history_app.command()
def export(
    file: Annotated[Path, typer.Argument(help="Ends in .parquet, .csv or .csv.gz.")],
    history: options.HistoryFile = None,
) -> None:
    """Write all runs to a file."""
    count = _history(history).export(file)
    options.say(f"{count} runs written to {file}")


@history_app.command("import")
def import_runs(
    file: Annotated[Path, typer.Argument(help="A file that export wrote.")],
    history: options.HistoryFile = None,
) -> None:
    """Add the runs of a file; those already here are skipped."""
    imported = _history(history).import_(file)
    options.say(f"{imported.added} runs added, {imported.skipped} were here already")


@history_app.command("import-eventlog")
def import_event_log(
    file: Annotated[Path, typer.Argument(help="An event log of Spark, or the folder of one.")],
    algorithm: Annotated[
        str | None, typer.Option(help="What to call it.", show_default="as in the log")
    ] = None,
    graph: Annotated[str | None, typer.Option(help="Name of the graph that it ran on.")] = None,
    vertices: Annotated[int | None, typer.Option(help="Vertices of the graph.")] = None,
    edges: Annotated[int | None, typer.Option(help="Edges of the graph, as stored.")] = None,
    run: Annotated[
        str | None,
        typer.Option(help="Of several runs that job groups name.", show_default="the longest"),
    ] = None,
    history: options.HistoryFile = None,
) -> None:
    """Add the run of a Spark job by its event log; one already here is skipped."""
    from predict_graph.engines.spark.log.importing import record_of_log

    target = _history(history)
    record, found = record_of_log(
        file, algorithm=algorithm, graph=graph, vertices=vertices, edges=edges, run=run
    )
    imported = target.add_all([record])
    if not imported.added:
        options.say(f"the run of {file} was here already")
        return
    options.say(
        f"{record.algorithm}: {found.iterations} supersteps in {record.phases['superstep']:.1f} s "
        f"added, of {record.seconds:.1f} s of the application; "
        f"{found.certainty}: {found.reason}"
    )


@history_app.command()
def prune(
    keep: Annotated[int | None, typer.Option(help="Keep the newest so many runs.")] = None,
    older_than: Annotated[
        float | None, typer.Option(metavar="DAYS", help="Forget runs older than this.")
    ] = None,
    history: options.HistoryFile = None,
) -> None:
    """Forget old runs."""
    count = _history(history).prune(keep=keep, older_than=older_than)
    options.say(f"{count} runs forgotten")
