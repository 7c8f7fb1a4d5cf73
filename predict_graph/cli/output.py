"""Where an answer goes: the screen, JSON, a picture, a page; one group of options for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predict_graph.cli import options
from predict_graph.cli.commands import GIVEN
from predict_graph.cli.declaring import Group
from predict_graph.clock.display import Display
from predict_graph.errors import RequestError
from predict_graph.reports.json_output import write_json
from predict_graph.reports.tables import show_answer

if TYPE_CHECKING:
    from predict_graph.answers import Answer
    from predict_graph.results import Result


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

    def display(self) -> Display:
        """Return a display of progress, which shows nothing if only the answer is wanted."""
        return Display(options.messages(), quiet=self.quiet)

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
        from predict_graph.files import write_text
        from predict_graph.pictures import draw_together
        from predict_graph.reports.page import command_to_repeat, page

        title, drawn = result.title, result.pictures()
        if self.plot is not None:
            draw_together(drawn, title, self.plot)
        if self.report is not None:
            command = command_to_repeat(GIVEN, getattr(result, "seed", None))
            text = page(title, result.answer, drawn, command=command, packages=packages)
            write_text(self.report, text)
