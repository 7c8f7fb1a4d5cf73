"""Runs that were kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from predict_graph.answers import Answer, Table, cell_text
from predict_graph.cli import options
from predict_graph.cli.output import Output
from predict_graph.durations import counted
from predict_graph.errors import RequestError
from predict_graph.reports.json_output import write_json
from predict_graph.reports.tables import show_table

if TYPE_CHECKING:
    from predict_graph.history import History


_LISTED = ("id", "time", "kind", "algorithm", "graph", "vertices", "edges", "iterations")
_COUNTED = ("active_vertices", "local_messages", "remote_messages")
_SHOWN = ("iteration", "worker", *_COUNTED, "seconds", "convergence")


def _history(text: str | None) -> History:
    from predict_graph.history import check_history

    found = check_history(text)
    if found is None:
        raise RequestError("the history is 'none'; accepted: a file")
    return found


def list_(
    *,
    history: str | None = None,
    algorithm: str | None = None,
    graph: str | None = None,
    kind: str = "run",
    limit: int = 50,
    json: str | None = None,
) -> None:
    """List runs, newest first.

    Parameters
    ----------
    algorithm
        Only runs of this algorithm.
    graph
        Only runs of this graph.
    kind
        run, sample (of a prediction), or all.
    limit
        The newest so many.
    """
    runs = _history(history).runs(algorithm, graph, kind, limit)
    time, iterations = runs["time"].dt, runs["iterations"].astype(object)
    of_algorithms = iterations.where(iterations != 0, None)  # calls of functions have none
    rows = runs[[*_LISTED, "seconds"]].assign(time=time.strftime("%F %T"), iterations=of_algorithms)
    shown = rows.drop(columns="vertices").assign(time=time.strftime("%F %H:%M")).to_dict("split")
    title = "runs (UTC; seconds without waiting)"
    show_table(options.results(json), title, shown["columns"], shown["data"])
    write_json(rows.assign(schema=1).to_dict("records"), json)


def show(run: int, *, history: str | None = None, json: str | None = None) -> None:
    """Show one run with its table of iterations and workers.

    Parameters
    ----------
    run : ID
        Number of the run, from the list.
    """
    from predict_graph.engines.profile import engine_said, phases_said

    record = _history(history).record(run)
    facts = {name: value for name, value in vars(record).items() if name not in ("rows", "uid")}
    ended = record.time.isoformat(timespec="seconds")
    facts |= {"time": ended, "iterations": record.iterations or None}  # none of functions
    rows = record.rows.records()
    shown = [name for name in _SHOWN if rows and name in rows[0]]  # calls of functions have others
    table = Table(
        "iterations and workers (all columns with --json)",
        [name.replace("_", " ") for name in shown],
        [[row[name] for name in shown] for row in rows],
    )
    words = {name: engine_said(facts[name] or {}) for name in ("engine", "parameters", "sample")}
    said = facts | words | {"phases": phases_said(record.phases)}
    shown_facts = [(name, text) for name, fact in said.items() if (text := cell_text(fact))]
    answer = Answer(f"run {run}", shown_facts, [table])
    Output(json=json).give(answer, {"schema": 1, **facts, "table": rows})


def export(file: Path, *, share: bool = False, history: str | None = None) -> None:
    """Write all runs to a file.

    Parameters
    ----------
    file
        Ends in .sqlite; with --share in .ndjson.
    share
        Only calls of public functions, without names and graphs: for the atlas.
    """
    runs = _history(history)
    if share:
        from predict_graph.functions.records import write_shared

        count = write_shared(file, runs.records())
    else:
        count = runs.export(file)
    options.say(f"{counted(count)} written to {file}")


def import_(file: Path, *, history: str | None = None) -> None:
    """Add the runs of a file; those already here are skipped.

    Parameters
    ----------
    file
        A file that export wrote.
    """
    imported = _history(history).import_(file)
    options.say(f"{counted(imported.added)} added, {imported.skipped} were here already")


def import_eventlog(
    file: Path,
    *,
    algorithm: str | None = None,
    graph: str | None = None,
    vertices: int | None = None,
    edges: int | None = None,
    run: str | None = None,
    history: str | None = None,
) -> None:
    """Add the run of a Spark job by its event log.

    One that is there already is skipped.

    Parameters
    ----------
    file
        An event log of Spark, or the folder of one.
    algorithm : , default as in the log
        What to call it.
    graph
        Name of the graph that it ran on.
    vertices
        Vertices of the graph.
    edges
        Edges of the graph, as stored.
    run : , default the longest
        Of several runs that job groups name.
    """
    from predict_graph.engines.spark.log.importing import record_of_log

    target = _history(history)
    record, found = record_of_log(
        file, algorithm=algorithm, graph=graph, vertices=vertices, edges=edges, run=run
    )
    if not target.add_all([record]).added:
        options.say(f"the run of {file} was here already")
        return
    options.say(
        f"{record.algorithm}: {counted(found.iterations, 'supersteps')} in "
        f"{record.phases['superstep']:.1f} s added, of {record.seconds:.1f} s of the application; "
        f"{found.certainty}: {found.reason}"
    )


def prune(
    *, keep: int | None = None, older_than: float | None = None, history: str | None = None
) -> None:
    """Forget old runs.

    Parameters
    ----------
    keep
        Keep the newest so many runs.
    older_than : DAYS
        Forget runs older than this.
    """
    count = _history(history).prune(keep=keep, older_than=older_than)
    options.say(f"{counted(count)} forgotten")
