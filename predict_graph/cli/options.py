"""Options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from predict_graph.cli.completing import algorithms, graphs, names_of
from predict_graph.errors import RequestError
from predict_graph.options import FORMS, OPTIONS, Option
from predict_graph.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

    from predict_graph.clock import Moment


def offered(name: str, option: Option, form: Any) -> Any:
    """Return a declared option as the command line offers it."""
    flag = f"--{name.replace('_', '-')}"
    switch = form is bool and option.usual is None
    return typer.Option(
        f"{flag}/--no-{flag[2:]}" if switch else flag,
        help=option.summary,
        show_default=option.usual is not None or option.default or False,
        metavar=option.metavar,
        autocompletion=names_of(option.names) if option.names else None,
    )


def _common(name: str) -> Any:
    return offered(name, OPTIONS[name], FORMS[name])


AlgorithmName = Annotated[
    str, typer.Argument(metavar="ALGORITHM", help="Such as pagerank.", autocompletion=algorithms)
]
GraphSource = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH",
        help="A file, the name of a dataset, or a generator such as rmat:scale=18.",
        autocompletion=graphs,
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option("-p", "--parameter", metavar="NAME=VALUE", help="Parameter of the algorithm."),
]
Plugins = Annotated[
    list[Path] | None,
    typer.Option(
        "--plugin", metavar="FILE.py", help="Python file that registers plug-ins; repeatable."
    ),
]
Undirected = Annotated[
    bool | None,
    typer.Option(
        "--undirected/--directed",
        help="Whether edges have a direction. [default: as the dataset or format says]",
        show_default=False,
    ),
]
Ids = Annotated[str | None, _common("ids")]
Engine = Annotated[str, _common("engine")]
Workers = Annotated[int | None, _common("workers")]
Threads = Annotated[int | None, _common("threads")]
HistoryFile = Annotated[str | None, _common("history")]
Seed = Annotated[int | None, _common("seed")]
SparkReads = Annotated[bool, _common("spark_reads")]
Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Write the result as JSON.")
]

Events = Annotated[
    str | None,
    typer.Option(
        "--events", metavar="FILE|-", help="Write what remains as JSON, a line each time."
    ),
]
Expect = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.json",
        help="What predict --json wrote of this run: the remaining time starts from it.",
        show_default="earlier runs, or a baseline estimate",
    ),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print the answer alone: a sentence.")]
Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="Print what the answer rests on, too.")
]
Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE.html", help="Write a page with the answer, pictures and sources."),
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the result.")]


def check_parameters(texts: list[str] | None) -> dict[str, object]:
    """Return ``NAME=VALUE`` texts as a mapping.

    Raises
    ------
    RequestError
        If a text has no ``=`` or a name comes twice.
    """
    parameters: dict[str, object] = {}
    for text in texts or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise RequestError(f"parameter {text!r}; accepted: NAME=VALUE, such as epsilon=0.001")
        if name.strip() in parameters:
            raise RequestError(f"the parameter {name.strip()} is given twice")
        parameters[name.strip()] = value.strip()
    return parameters


def load_plugins(files: list[Path] | None) -> None:
    """Load the plug-in files of a command.

    Raises
    ------
    RequestError
        If one cannot be loaded.
    """
    from predict_graph.plugin_files import load_plugin

    for file in files or []:
        load_plugin(file)


def numbers(text: str | None, what: str, form: type = float) -> list[Any] | None:
    """Return the numbers of ``0.05,0.1``."""
    if text is None:
        return None
    try:
        return [form(part) for part in text.split(",")]
    except ValueError:
        kind, such = ("whole numbers", "1,2") if form is int else ("numbers", "0.05,0.1")
        raise RequestError(
            f"{what} are {text!r}; accepted: {kind} with commas between, such as {such}"
        ) from None


def fetch_if_missing(source: str) -> None:
    """Download `source` now if it names a dataset that is not here yet."""
    from predict_graph.graph.datasets import dataset_names, dataset_path

    named = source in dataset_names() and not Path(source).is_file()
    if named and dataset_path(source) is None:
        fetched(source)


def fetched(name: str) -> Path:
    """Return the local copy of a dataset, downloaded under a bar if need be."""
    from predict_graph.graph.datasets import dataset_path, fetch, trust
    from predict_graph.reports.bars import DownloadBar

    new = dataset_path(name) is None
    bar = DownloadBar(messages(), name)
    try:
        found = fetch(name, progress=bar)
    finally:
        bar.close()
    if new and trust(name) == "first use":
        messages().print(
            f"nothing is known to check the download of {name} against: it is trusted, and later "
            "ones are compared with it",
            soft_wrap=True,
        )
    return found


def results(*targets: str | None) -> Console:
    """Return the console for results: standard error when JSON goes to standard output."""
    from predict_graph.reports.console import SafeConsole

    return SafeConsole(stderr="-" in targets)


def messages() -> Console:
    """Return the console for progress."""
    from predict_graph.reports.console import SafeConsole

    return SafeConsole(stderr=True)


def conclude(name: str, moment: Moment) -> None:
    """Print the last line of a run on standard error: how good the first prediction was."""
    from predict_graph.clock import closing_words

    text = f"{name} {closing_words(moment.elapsed, moment.first, moment.by)}"
    messages().print(text, markup=False, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """Print a line on standard output."""
    typer.echo(printable(text))
