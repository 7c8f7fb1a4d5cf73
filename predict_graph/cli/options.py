"""What several commands do with their options, and where they print."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from predict_graph.clock.display import Display
from predict_graph.clock.moment import Moment, closing_words
from predict_graph.errors import RequestError
from predict_graph.printable import printable

if TYPE_CHECKING:
    from rich.console import Console


def named_values(texts: list[str] | None, refused: str, twice: str | None = None) -> dict[str, str]:
    """Return ``NAME=VALUE`` texts as a mapping.

    The sentences are of a text that is something else, and of a name that comes twice.
    """
    found: dict[str, str] = {}
    for text in texts or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise RequestError(refused.format(text))
        if twice is not None and name in found:
            raise RequestError(twice.format(name))
        found[name] = value
    return found


def refuse(given: Mapping[str, object], reason: str) -> None:
    """Raise an error for the first option that is given although nothing would read it."""
    for name, value in given.items():
        if value is not None:
            raise RequestError(f"{name} {reason}")


def check_parameters(texts: list[str] | None) -> dict[str, str]:
    """Return the parameters of an algorithm."""
    refused = "parameter {!r}; accepted: NAME=VALUE, such as epsilon=0.001"
    return named_values(texts, refused, "the parameter {} is given twice")


def prepare(plugins: list[Path] | None, *graphs: str) -> None:
    """Load the plug-in files of a command, and download datasets that are not here yet."""
    from predict_graph.graph.datasets import dataset_names, dataset_path
    from predict_graph.plugin_files import load_plugin

    for file in plugins or []:
        load_plugin(file)
    for graph in graphs:
        named = graph in dataset_names() and not Path(graph).is_file()
        if named and dataset_path(graph) is None:
            fetched(graph)


def listed(text: str | None) -> list[str] | None:
    """Return the parts of ``a, b``, without the blanks around them."""
    return None if text is None else [part.strip() for part in text.split(",")]


def numbers(text: str | None, what: str) -> list[float] | None:
    """Return the numbers of ``0.05,0.1``."""
    parts = listed(text)
    try:
        return None if parts is None else [float(part) for part in parts]
    except ValueError:
        raise RequestError(
            f"{what} are {text!r}; accepted: numbers with commas between, such as 0.05,0.1"
        ) from None


def amount(text: str, what: str) -> float:
    """Return a number such as ``5e7``, ``50M``, ``50 million`` or ``50,000,000``."""
    number = text.strip().lower().replace(",", "").replace("_", "")
    letters = re.search(r" *([kmgb]|thousand|million|billion)$", number)
    scale = {"k": 3, "t": 3, "m": 6, "g": 9, "b": 9}[letters[1][0]] if letters else 0
    try:
        return float(number[: letters.start()] if letters else number) * float(10**scale)
    except ValueError:
        raise RequestError(
            f"{what} are {text!r}; accepted: a number such as 5e7, 50M or '50 million'"
        ) from None


def fetched(name: str) -> Path:
    """Return the local copy of a dataset, downloaded under a bar if need be."""
    from predict_graph.graph.datasets import fetch
    from predict_graph.reports.console import Download

    with Display(messages()) as display:
        return fetch(name, progress=Download(display.step, name))


def results(*targets: str | None) -> Console:
    """Return the console for results: standard error when JSON goes to standard output."""
    from predict_graph.reports.console import SafeConsole

    return SafeConsole(stderr="-" in targets)


def messages() -> Console:
    """Return the console for progress."""
    return results("-")


def conclude(name: str, moment: Moment) -> None:
    """Print the last line of a run on standard error: how good the first prediction was."""
    note(f"{name} {closing_words(moment.elapsed, moment.first, moment.by)}")


def note(text: str, console: Console | None = None) -> None:
    """Print a line on standard error."""
    (console or messages()).print(text, markup=False, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """Print a line on standard output."""
    typer.echo(printable(text))
