"""``%load_ext predict_graph``: ``%predict`` and ``%track`` for a call, ``%%watch`` for Spark.

    %%track
    scores = nx.betweenness_centrality(G, k=60)

runs the cell's call with its progress and the remaining time; ``%%predict`` says before what it
will take. ``%%watch`` runs any cell, and shows what remains of the loop that it starts on Spark.
What follows the name of a cell's magic are options, such as ``budget="10s"``.
"""

from __future__ import annotations

import ast
import threading
import time
from contextlib import suppress
from functools import partial
from typing import Any

from predict_graph.errors import PredictGraphError, RequestError


def load_ipython_extension(shell: Any) -> None:
    """Add the magics to IPython."""
    for name in ("predict", "track"):
        shell.register_magic_function(partial(_call, shell.user_ns, name), "line_cell", name)
    shell.register_magic_function(
        lambda line, cell: _watch(shell, cell, _options(line, shell.user_ns)), "cell", "watch"
    )


def _call(names: dict[str, Any], magic: str, line: str, cell: str | None = None) -> Any:
    """Predict or track the call of a line, or of a cell whose line has options."""
    code, options = (line, "") if cell is None else (cell, line)
    target, call = _parsed(code)
    inner = [*ast.walk(call.func), *ast.walk(call.args[0])]
    if calls := [ast.unparse(each) for each in inner if isinstance(each, ast.Call)]:
        raise RequestError(
            f"the cell calls a function on what {calls[-1]} returns; accepted: that call alone, or "
            "its result under a name"
        )
    (function, graph, *positional), keywords = _evaluated(call, names)
    given = _options(options, names)
    if magic == "predict":
        from predict_graph.prediction.pipeline import predict

        return predict(function, graph, arguments=positional, keywords=keywords, **given)
    from predict_graph.functions.track import track

    found = track(function, graph, *positional, **keywords, **given)
    if not target:
        return found
    names[target] = found
    return None


def _watch(shell: Any, cell: str, given: dict[str, Any]) -> None:
    """Run a cell while a thread shows what remains of the loop that it starts on Spark."""
    from rich.console import Console

    from predict_graph.clock.applications import Watch
    from predict_graph.clock.display import Display
    from predict_graph.engines.spark.log.status import running_applications
    from predict_graph.history import check_history

    iterations, history = (given.pop(name, None) for name in ("iterations", "history"))
    if given:
        raise RequestError(f"%%watch has no option {min(given)!r}; accepted: iterations, history")
    application = running_applications(_address_of_session(), since=time.time())[-1]
    watched = Watch(application, iterations=iterations, history=check_history(history))
    over = threading.Event()

    def follow() -> None:
        with suppress(PredictGraphError):
            for moment in watched.moments():
                if over.is_set():
                    return
                display.show(moment)

    with Display(Console(stderr=True)) as display:
        threading.Thread(target=follow, daemon=True).start()
        shell.run_cell(cell)
        over.set()


def _address_of_session() -> str:
    """Return the address of the active session's web page."""
    address = None
    with suppress(ImportError, AttributeError):  # no session, or one of Spark Connect
        from pyspark.sql import SparkSession

        session: Any = SparkSession.getActiveSession()
        address = session.sparkContext.uiWebUrl
    if address is None:
        raise RequestError(
            "no active Spark session has a web page; accepted: one with spark.ui.enabled=true"
        )
    return str(address)


def _options(line: str, names: dict[str, Any]) -> dict[str, Any]:
    """Return the options that follow the name of a magic."""
    found, given = _evaluated(_parsed(f"dict(None, {line})", "what follows the magic")[1], names)
    if len(found) > 2:  # the function, and its None
        raise RequestError(f"the option {found[2]!r} has no name; accepted: NAME=VALUE, …")
    return given


def _evaluated(call: ast.Call, names: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the function and the arguments of a call."""
    noted = ast.Call(ast.Name("_noted", ast.Load()), [call.func, *call.args], call.keywords)
    code = compile(ast.fix_missing_locations(ast.Expression(noted)), "<cell>", "eval")
    found: tuple[tuple[Any, ...], dict[str, Any]] = eval(
        code, {**names, "_noted": lambda *positional, **keywords: (positional, keywords)}
    )
    return found


def _parsed(code: str, what: str = "the cell") -> tuple[str, ast.Call]:
    """Return the name that a cell assigns, empty for none, and its one call."""
    try:
        lines = ast.parse(code.strip()).body
    except SyntaxError as error:
        raise RequestError(f"{what} is no Python: {error.msg} (line {error.lineno})") from None
    match lines:
        case [ast.Expr(value=ast.Call(args=[_, *_]) as call)]:
            return "", call
        case [ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[_, *_]) as call)]:
            return name, call
    raise RequestError(
        "the cell is not one call with a graph; accepted: FUNCTION(GRAPH, …), or NAME = "
        "FUNCTION(GRAPH, …)"
    )
