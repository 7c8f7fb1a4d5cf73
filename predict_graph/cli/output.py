"""Where an answer goes: the screen, JSON, a picture, a page; one group of options for it.

Outputs that cannot be written, or that would overwrite an input, are refused before any work. Which
arguments of a command are outputs follows from their names; every other argument that names a file
is something that is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predict_graph.answers import Answer
from predict_graph.cli import options
from predict_graph.clock.display import Display
from predict_graph.errors import RequestError
from predict_graph.files import check_writable, write_text
from predict_graph.options import GIVEN, Group
from predict_graph.reports.json_output import STANDARD_OUTPUT, write_json
from predict_graph.reports.tables import show_answer

if TYPE_CHECKING:
    from predict_graph.results import Result

_OUTPUTS = ("out", "json", "plot", "report", "events", "table")


@dataclass(frozen=True, kw_only=True)
class Output(Group):
    """How much is printed, and whether JSON is written.

    Parameters
    ----------
    quiet : -q --quiet
        Print the answer alone: a sentence.
    verbose : -v --verbose
        Print what the answer rests on, too.
    """

    json: str | None = None
    quiet: bool = False
    verbose: bool = False

    def __post_init__(self) -> None:
        if self.quiet and self.verbose:
            raise RequestError("-q and -v are both given; accepted: one of them")

    def display(self, graph: str | None = None) -> Display:
        """Return a display of progress, which shows nothing if only the answer is wanted."""
        text = f"reading {graph}" if graph else "starting"
        return Display(options.messages(), text, quiet=self.quiet)

    def give(self, answer: Answer, content: Any, *others: str | None) -> None:
        """Print an answer, and write its content as JSON where that is asked for.

        It is printed on standard error if JSON, or one of the `others`, goes to standard output.
        """
        console = options.results(self.json, *others)
        show_answer(console, answer, quiet=self.quiet, verbose=self.verbose)
        write_json(content, self.json)


@dataclass(frozen=True, kw_only=True)
class Pages(Output):
    """The same, and a picture and a page.

    Parameters
    ----------
    plot : FILE
        Draw the result.
    report : FILE.html
        Write a page with the answer, pictures and sources.
    """

    plot: Path | None = None
    report: Path | None = None

    def show(self, result: Result, *, packages: Sequence[str] = ()) -> None:
        """Print a result, and write its JSON, picture and page where they are asked for."""
        self.give(result.answer, result.to_dict())
        if self.plot is None and self.report is None:
            return
        from predict_graph.pictures import draw_together
        from predict_graph.reports.page import command_to_repeat, page

        title, drawn = result.title, result.pictures()
        if self.plot is not None:
            draw_together(drawn, title, self.plot)
        if self.report is not None:
            command = command_to_repeat(GIVEN, getattr(result, "seed", None))
            text = page(title, result.answer, drawn, command=command, packages=packages)
            write_text(self.report, text)


def check_outputs(command: str, arguments: Mapping[str, Any], labels: Mapping[str, str]) -> None:
    """Raise an error if an output of a command is an input, another output, or not writable."""
    if arguments.get("plot") is not None:
        from predict_graph.pictures import check_picture

        check_picture(arguments["plot"])
    if arguments.get("report") is not None:
        from predict_graph.reports.page import check_report

        check_report(arguments["report"])
    outputs = (*_OUTPUTS, "file") if command == "export" else _OUTPUTS
    if arguments.get("json") == arguments.get("events") == STANDARD_OUTPUT:
        raise RequestError(
            "--events - and --json - would both write to standard output; accepted: a file for one"
        )
    written = [(labels[name], path) for name in outputs for path in _paths(arguments.get(name))]
    if not written:
        return
    read = [
        (labels[name], path)
        for name in arguments
        if name not in (*outputs, "command")  # the words of another program
        for text in _paths(arguments[name])
        for path in _read_for(name, text)
        if os.path.exists(path) or (path and name == "history")
    ]
    if "history" in arguments and arguments["history"] is None:
        from predict_graph.history import default_path

        read += [("the history", path) for path in _paths(default_path())]
    _check_apart(written, read)
    for option, path in written:
        if (command, option) != ("run", labels.get("out")):  # Spark writes a folder, and checks it
            check_writable(Path(path))


def _read_for(name: str, text: str) -> Iterator[str]:
    """Yield the files that an argument may be read from."""
    yield os.path.expanduser(text)
    yield text.partition("=")[2]  # such as TYPE=MODEL.json
    yield os.path.expanduser(text.rpartition(":")[0])  # such as FILE.py:FUNCTION
    if name == "graph":
        from predict_graph.graph.datasets import CATALOGUE, dataset_path

        if text in CATALOGUE:
            yield str(dataset_path(text) or "")
        yield os.path.splitext(os.path.expanduser(text))[0] + ".properties"  # of a WebGraph


def _check_apart(written: Sequence[tuple[str, str]], read: Sequence[tuple[str, str]]) -> None:
    """Raise an error if an output is one of the inputs or another output."""
    for place, (option, path) in enumerate(written):
        for other, source in read:
            if _same(source, path):
                raise RequestError(
                    f"{option} {path} would overwrite what {other} names, {source}; accepted: "
                    "another name"
                )
        for other, second in written[:place]:
            if _same(second, path):
                raise RequestError(
                    f"{other} and {option} name one file, {path}; accepted: one file for each"
                )


def _paths(value: Any) -> Iterator[str]:
    """Yield the texts of an argument that may name files."""
    for each in value if isinstance(value, list | tuple) else [value]:
        if isinstance(each, str | Path) and str(each) not in (STANDARD_OUTPUT, "none"):
            yield str(each)


def _same(first: str, second: str) -> bool:
    if os.path.realpath(first) == os.path.realpath(second):
        return True
    return os.path.exists(first) and os.path.exists(second) and os.path.samefile(first, second)
