"""``%load_ext predict_graph``: the magics ``%predict`` and ``%track``, of a line or a cell.

    %%track
    scores = nx.betweenness_centrality(G, k=60)

runs the cell's call with its progress and the remaining time; ``%%predict`` says before what it
will take. What follows the name of a cell's magic are options, such as ``budget="10s"``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from predict_graph.errors import RequestError

Row = dict[str, Any]


def load_ipython_extension(shell: Any) -> None:
    """Add the magics to IPython."""
    for name, magic in {"predict": _predict, "track": _track}.items():
        shell.register_magic_function(_of(shell, magic), "line_cell", name)


def _of(shell: Any, magic: Callable[..., Any]) -> Callable[..., Any]:
    """Return a magic as IPython calls it: with a line, or with options and a cell."""

    def run(line: str, cell: str | None = None) -> Any:
        code, options = (line, "") if cell is None else (cell, line)
        names, (target, call) = shell.user_ns, _parsed(code)
        (function, graph, *positional), keywords = _evaluated(call, names)
        _, given = _evaluated(_parsed(f"dict(None, {options})")[1], names)
        found = magic(function, graph, positional, keywords, given)
        if target and magic is _track:
            names[target] = found
            return None
        return found

    return run


def _predict(
    function: Any, graph: Any, positional: Sequence[Any], keywords: Row, given: Row
) -> Any:
    from predict_graph.prediction import predict

    return predict(function, graph, arguments=positional, keywords=keywords, **given)


def _track(function: Any, graph: Any, positional: Sequence[Any], keywords: Row, given: Row) -> Any:
    from predict_graph.functions.track import track

    return track(function, graph, *positional, **keywords, **given)


def _evaluated(call: ast.Call, names: Row) -> tuple[tuple[Any, ...], Row]:
    """Return the function and the arguments of a call."""
    noted = ast.Call(ast.Name("_noted", ast.Load()), [call.func, *call.args], call.keywords)
    code = compile(ast.fix_missing_locations(ast.Expression(noted)), "<cell>", "eval")
    found: tuple[tuple[Any, ...], Row] = eval(
        code, {**names, "_noted": lambda *positional, **keywords: (positional, keywords)}
    )
    return found


def _parsed(code: str) -> tuple[str, ast.Call]:
    """Return the name that a cell assigns, empty for none, and its one call."""
    try:
        lines = ast.parse(code.strip()).body
    except SyntaxError as error:
        raise RequestError(f"the cell is no Python: {error.msg} (line {error.lineno})") from None
    match lines:
        case [ast.Expr(value=ast.Call(args=[_, *_]) as call)]:
            return "", call
        case [ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[_, *_]) as call)]:
            return name, call
    raise RequestError(
        "the cell is not one call with a graph; accepted: FUNCTION(GRAPH, …), or NAME = "
        "FUNCTION(GRAPH, …)"
    )
