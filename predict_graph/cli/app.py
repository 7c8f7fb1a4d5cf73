"""The program: its commands, and how errors become one sentence and an exit status."""

from __future__ import annotations

import errno
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Annotated, Any

import typer

from predict_graph.cli.catalogue import datasets_app, list_plugins
from predict_graph.cli.designing import design
from predict_graph.cli.functions import compare_functions
from predict_graph.cli.history import history_app
from predict_graph.cli.jobs import collect
from predict_graph.cli.plans import fit, plan
from predict_graph.cli.predicting import predict, run, validate
from predict_graph.cli.resources import calibrate, profile
from predict_graph.cli.sampling import compare_samplers, sample
from predict_graph.errors import PredictGraphError

__all__ = ["app", "main"]

app = typer.Typer(
    name="predict-graph",
    help="Predict, before an iterative graph job runs, how many iterations and how long it takes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(predict)
app.command()(run)
app.command()(validate)
app.command()(sample)
app.command("compare-samplers")(compare_samplers)
app.command("compare-functions")(compare_functions)
app.command()(design)
app.command()(collect)
app.command()(fit)
app.command()(plan)
app.command()(calibrate)
app.command()(profile)
app.add_typer(history_app, name="history")
app.add_typer(datasets_app, name="datasets")
app.command("list")(list_plugins)

_FAILED, _WRONG_REQUEST, _INTERRUPTED = 1, 2, 130


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"predict-graph {version('predict-graph')}")
        raise typer.Exit


@app.callback()
def _program(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Predict, before an iterative graph job runs, how many iterations and how long it takes."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and exit: 0 done, 1 the job failed, 2 the request is wrong.

    Parameters
    ----------
    arguments : sequence of str, optional
        ``sys.argv[1:]`` by default.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    end = given.index("--") if "--" in given else len(given)  # what follows is another's command
    debug = "--debug" in given[:end]
    given = [word for number, word in enumerate(given) if word != "--debug" or number > end]
    with _interrupts_seen() as interrupts:
        try:
            status = app(args=given, prog_name="predict-graph", standalone_mode=False)
        except (KeyboardInterrupt, typer.Abort):
            status = _INTERRUPTED
        except Exception as error:
            # Compiled code turns an interrupt into errors of its own.
            status = _INTERRUPTED if interrupts else _failed(error, given, debug)
    if status == _INTERRUPTED:
        status = _explain("interrupted; nothing is half written", _INTERRUPTED, debug)
    sys.exit(status if isinstance(status, int) else 0)


@contextmanager
def _interrupts_seen() -> Iterator[list[int]]:
    """Give a list that grows with each Ctrl-C, which raises KeyboardInterrupt as always."""
    seen: list[int] = []

    def interrupt(number: int, frame: Any) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield seen
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)


def _failed(error: Exception, given: Sequence[str], debug: bool) -> int:
    """Explain an error in one line and return the exit status."""
    status = _FAILED
    if isinstance(error, PredictGraphError):
        text, status = str(error), error.exit_status
    elif isinstance(error, MemoryError):
        text = "there is not enough memory for this graph"
    elif isinstance(error, BrokenPipeError):
        sys.stderr.close()
        return _FAILED
    elif isinstance(error, OSError):
        text = "the disk is full" if error.errno == errno.ENOSPC else str(error)
    elif type(error).__name__ == "NoArgsIsHelpError":
        # The errors of typer have no public base class, and moved between its versions.
        error.show()  # type: ignore[attr-defined]
        return _WRONG_REQUEST
    elif hasattr(error, "format_message"):
        text, status = _sentence(error, given), _WRONG_REQUEST
    else:
        text = f"internal error, please report it: {type(error).__name__}: {error}"
    return _explain(text, status, debug, error)


def _sentence(error: Any, given: Sequence[str]) -> str:
    """Return the text of an error of typer, with the value that it is about."""
    text = str(error.format_message())
    options = getattr(getattr(error, "param", None), "opts", ())
    parts = [part for word in given for part in word.split("=", 1 if word[:2] == "--" else 0)]
    for option, value in pairwise(parts):
        if option in options and value not in text:
            text = f"{text} (given: {value!r})"
    return text


def _explain(text: str, status: int, debug: bool, error: Exception | None = None) -> int:
    """Print an error as one line on standard error, with its traceback when asked."""
    if debug and error is not None:
        traceback.print_exception(error)
    line = " ".join(text.split())
    sys.stderr.write(f"error: {line}\n")
    return status
