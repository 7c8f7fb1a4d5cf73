"""Options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predict_graph.cli.completing import algorithms, graphs, names_of
from predict_graph.errors import RequestError
from predict_graph.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

    from predict_graph.clock import Moment


AlgorithmName = Annotated[
    str,
    typer.Argument(metavar="ALGORITHM", help="Such as pagerank.", autocompletion=algorithms),
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
Ids = Annotated[
    str | None,
    typer.Option(help="Ids of a file: integer (from 0 on) or string.", show_default="as they are"),
]
Engine = Annotated[
    str, typer.Option(help="Engine that runs the job.", autocompletion=names_of("engines"))
]
Workers = Annotated[
    int | None, typer.Option(help="Workers that messages are counted for.", show_default="4")
]
Threads = Annotated[
    int | None, typer.Option(help="Threads of the local engine.", show_default="all cores")
]
HistoryFile = Annotated[
    str | None,
    typer.Option(
        "--history",
        metavar="FILE|none",
        help="Where runs are kept and learned from.",
        show_default="the user's data folder",
    ),
]
Seed = Annotated[
    int | None, typer.Option(help="Same seed, same result.", show_default="a fresh one")
]
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


def ratios(text: str | None) -> list[float] | None:
    """Return ratios from ``0.05,0.1``.

    Raises
    ------
    RequestError
        If one is not a number.
    """
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise RequestError(
            f"ratios are {text!r}; accepted: numbers with commas between, such as 0.05,0.1"
        ) from None


def counts(text: str | None) -> list[int] | None:
    """Return machine counts from ``1,2,4``.

    Raises
    ------
    RequestError
        If one is not a whole number.
    """
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise RequestError(
            f"train machines are {text!r}; accepted: whole numbers with commas between, such as 1,2"
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
