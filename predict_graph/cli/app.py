"""The program: its commands, and how errors become one sentence and an exit status."""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any

import typer

from predict_graph.cli.catalogue import datasets_app, list_plugins
from predict_graph.cli.history import history_app
from predict_graph.cli.predicting import predict, run, validate
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
    debug = "--debug" in given
    given = [argument for argument in given if argument != "--debug"]
    try:
        status = app(args=given, prog_name="predict-graph", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = _INTERRUPTED
    except PredictGraphError as error:
        sys.exit(_explain(str(error), error.exit_status, debug))
    except MemoryError:
        sys.exit(_explain("there is not enough memory for this graph", _FAILED, debug))
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(_FAILED)
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else str(error)
        sys.exit(_explain(reason, _FAILED, debug))
    except Exception as error:
        # The errors of typer have no public base class, and moved between its versions.
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
            sys.exit(_WRONG_REQUEST)
        if hasattr(error, "format_message"):
            sys.exit(_explain(_sentence(error, given), _WRONG_REQUEST, debug))
        text = f"internal error, please report it: {type(error).__name__}: {error}"
        sys.exit(_explain(text, _FAILED, debug))
    if status == _INTERRUPTED:
        sys.exit(_explain("interrupted; nothing is half written", _INTERRUPTED, debug))
    sys.exit(status if isinstance(status, int) else 0)


def _sentence(error: Any, given: Sequence[str]) -> str:
    """Return the text of an error of typer, with the value that it is about."""
    text = str(error.format_message())
    options = getattr(getattr(error, "param", None), "opts", ())
    parts = [part for word in given for part in word.split("=", 1 if word[:2] == "--" else 0)]
    for option, value in pairwise(parts):
        if option in options and value not in text:
            text = f"{text} (given: {value!r})"
    return text


def _explain(text: str, status: int, debug: bool) -> int:
    """Print an error as one line on standard error, with its traceback when asked."""
    if debug and sys.exc_info()[0] is not None:
        traceback.print_exc()
    line = " ".join(text.split())
    sys.stderr.write(f"error: {line}\n")
    return status
