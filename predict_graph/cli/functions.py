"""Functions of Python libraries on the command line: predict, run, compare-functions."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from predict_graph.answers import Answer, graph_text
from predict_graph.cli import ORDINARY_COLLECTION, options
from predict_graph.cli.groups import Case, Cluster, Reading, Sampling, takes
from predict_graph.cli.output import Output, Pages
from predict_graph.durations import readable_seconds
from predict_graph.errors import JobError, RequestError, error_text

if TYPE_CHECKING:
    from predict_graph.results import Result


Args = Annotated[
    list[str] | None,
    typer.Option(
        "--arg",
        metavar="NAME=VALUE",
        help="Argument of a function such as networkx:betweenness_centrality; repeatable.",
    ),
]
GraphForm = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="FORM",
        help="Graph that the function takes: networkx, igraph, networkit, scipy, edges, graph.",
        show_default="as the function says",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE|TIME",
        help="What predicting a function may take, such as 5% of its run, 30s, or none.",
        show_default="5% and at least 5s, at most 2m",
    ),
]


def predict_call(
    case: Case,
    cluster: Cluster,
    sampling: Sampling,
    output: Pages,
    arg: list[str] | None,
    form: str | None,
) -> None:
    """Predict a call of a function, and show that."""
    from predict_graph.functions import predict_function

    found = _asked(predict_function, case, cluster, sampling, output, arg, form)
    _show(found, case, output)


def validate_call(
    case: Case,
    cluster: Cluster,
    sampling: Sampling,
    output: Pages,
    arg: list[str] | None,
    form: str | None,
) -> None:
    """Predict a call of a function, call it, and compare."""
    from predict_graph.functions.validation import validate_function

    found = _asked(validate_function, case, cluster, sampling, output, arg, form)
    _show(found, case, output)


def _asked(
    ask: Callable[..., Any],
    case: Case,
    cluster: Cluster,
    sampling: Sampling,
    output: Pages,
    arg: list[str] | None,
    form: str | None,
) -> Any:
    """Call what predicts or validates with the options of a command."""
    _refuse_options(case, cluster, replace(sampling, budget=None))
    output.check()
    options.fetch_if_missing(case.graph)
    positional, keywords = _arguments_of_call(arg)
    with output.watched() as progress:
        return ask(
            case.algorithm,
            case.source,
            arguments=positional,
            keywords=keywords,
            graph_form=form,
            budget=sampling.budget,
            directed=case.directed,
            ids=case.ids,
            history=case.history,
            seed=case.seed,
            progress=progress,
        )


def _show(found: Result, case: Case, output: Pages) -> None:
    output.show(found, packages=[case.algorithm.partition(":")[0].partition(".")[0]])


def run_call(
    case: Case,
    cluster: Cluster,
    output: Output,
    arg: list[str] | None,
    form: str | None,
    expect: Path | None = None,
) -> None:
    """Run a function under a bar with the time that remains, and keep the run."""
    _refuse_options(case, cluster)
    output.check()
    options.fetch_if_missing(case.graph)
    from predict_graph.functions.child import processor_seconds
    from predict_graph.functions.forms import as_graph, build, missing_library
    from predict_graph.functions.naming import check_function, with_seed
    from predict_graph.functions.records import read_call
    from predict_graph.functions.track import run_tracked
    from predict_graph.history import check_history

    positional, keywords = _arguments_of_call(arg)
    function = check_function(case.algorithm, positional, keywords, form=form)
    function = with_seed(function, case.seed)
    problem = missing_library(function.form)
    if problem is not None:
        raise problem
    expected = None if expect is None else read_call(expect, function)
    source = as_graph(
        case.source, function, directed=case.directed, ids=case.ids, seed=case.seed or 0
    )
    started, clock = processor_seconds(), time.perf_counter()
    graph = build(source, function.form)
    converted, converting = processor_seconds() - started, time.perf_counter() - clock
    here = os.getpid()
    try:
        tracked = run_tracked(
            function,
            graph,
            source=source,
            history=check_history(case.history),
            convert_seconds=converted,
            keep=False,
            expected=expected,
        )
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        said = f"{type(error).__name__}: {error_text(error)}"
        raise JobError(f"{function.name} fails on {source.name}: {said}") from error
    finally:
        if os.getpid() != here:  # forked by the function
            os._exit(0)
    drawn = tracked.generator
    result = f"iterator of {tracked.result:,}" if drawn else _short(tracked.result)
    facts = {
        "function": function.describe(),
        "graph": source.describe(),
        "runtime_seconds": tracked.seconds + converting,
        "phases": {"convert": converting, "call": tracked.seconds},
        "processor_seconds": tracked.processor_seconds,
        "first_prediction_seconds": tracked.first or None,
        "result": result,
    }
    answer = Answer(
        f"{function.name} on {source.name}: {tracked.sentence}",
        [("graph", graph_text(source.describe())), ("result", result)],
        details=[
            ("conversion", readable_seconds(converting)),
            ("processor", readable_seconds(tracked.processor_seconds)),
        ],
    )
    output.give(answer, facts)


@takes(reading=Reading, output=Pages)
def compare_functions(
    graph: options.GraphSource,
    functions: Annotated[
        list[str], typer.Argument(metavar="FUNCTION…", help="Such as igraph:betweenness.")
    ],
    *,
    reading: Reading,
    output: Pages,
    arg: Args = None,
    budget: Budget = None,
    history: options.HistoryFile = None,
    seed: options.Seed = None,
) -> None:
    """Predict several functions on one graph, side by side.

    A function of networkx is predicted by each installed backend that offers it as well.
    """
    from predict_graph.functions import comparing
    from predict_graph.functions.naming import check_function
    from predict_graph.graph import check_graph

    output.check()
    options.fetch_if_missing(graph)
    positional, keywords = _arguments_of_call(arg)
    for name in functions:  # before a graph is read that may be large
        check_function(name, positional, keywords)
    source = check_graph(reading.of(graph), directed=reading.directed, ids=reading.ids, seed=seed)
    with output.watched() as progress:
        found = comparing.compare_functions(
            functions,
            source,
            arguments=positional,
            keywords=keywords,
            budget=budget,
            history=history,
            seed=seed,
            progress=progress,
        )
    output.show(found, packages=[name.partition(":")[0].partition(".")[0] for name in functions])


def check_no_call_options(arg: Any, form: Any, algorithm: str) -> None:
    """Refuse options of functions for an algorithm."""
    given = {"--arg": arg, "--as": form}
    for name, value in given.items():
        if value is not None:
            raise RequestError(
                f"{name} is for functions such as networkx:betweenness_centrality, but "
                f"{algorithm!r} is an algorithm; accepted: -p NAME=VALUE for its parameters"
            )


def _arguments_of_call(arg: list[str] | None) -> tuple[list[Any], dict[str, Any]]:
    """Read the arguments of a call, which runs under Python's own garbage collection from here."""
    from predict_graph.functions.naming import check_arguments

    gc.set_threshold(*ORDINARY_COLLECTION)
    return check_arguments(arg)


def _refuse_options(case: Case, *groups: Cluster | Sampling) -> None:
    """Refuse options that say nothing to a function."""
    if case.parameter:
        raise RequestError(
            f"-p {case.parameter[0]!r} is for algorithms; accepted: --arg NAME=VALUE for the "
            f"arguments of {case.algorithm}"
        )
    for group in groups:
        for name, value in vars(group).items():
            if value != getattr(type(group), name):
                option = name.replace("_", "-")
                raise RequestError(
                    f"--{option} is no option of a function such as {case.algorithm}"
                )
    options.load_plugins(case.plugin)


def _short(result: Any) -> str:
    text = " ".join(repr(result).split()) if not hasattr(result, "__len__") else ""
    if text:
        return text[:80]
    return f"{type(result).__name__} of {len(result):,}"
