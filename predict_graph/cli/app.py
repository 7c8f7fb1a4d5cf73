"""The program: its commands, and how errors become one sentence and an exit status."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from types import FrameType
from typing import Annotated, Any

import typer
from typer.main import get_command

from predict_graph import errors
from predict_graph.cli.commands import Program
from predict_graph.limits import ENVIRONMENT, limits
from predict_graph.options import GIVEN
from predict_graph.printable import printable

app = typer.Typer(
    name="predict-graph",
    cls=Program,
    help="Predict, before an iterative graph job runs, how many iterations and how long it takes.",
    epilog="Begin with: predict-graph predict pagerank web-NotreDame, or, for a function of a "
    "library, predict-graph predict networkx:betweenness_centrality FILE.",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,  # plain help: rich takes longer to load than all else together
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_PARAMETERS = {"predict", "run", "validate", "track", "compare-functions"}  # commands with --arg
_INTERRUPTED, _ENDED = signal.SIGINT + 128, signal.SIGTERM + 128  # as a shell has them
# The compiler of numba, its loading of compiled code included; and what logging does around a fork.
_WHOLE = ("numba.core.", "llvmlite.", "logging")


def _show_version(asked: bool) -> None:
    if asked:
        from predict_graph.version import __version__

        typer.echo(f"predict-graph {__version__}")
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
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit",
            metavar="NAME=NUMBER",
            help="Accept more, or less, than by default; such as edges=4e9; repeatable.",
        ),
    ] = None,
) -> None:
    """Predict, before an iterative graph job runs, how many iterations and how long it takes."""
    if limit:  # for the processes that this one starts, too
        os.environ[ENVIRONMENT] = ",".join([os.environ.get(ENVIRONMENT, ""), *limit])
    limits()  # refuses what is no limit


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program and exit: 0 done, 1 the job failed, 2 the request is wrong."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 - closed, as by >&-
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal whose encoding is not UTF-8 shows ?
            stream.reconfigure(errors="replace")
    if os.environ.get("COLUMNS") == "0":  # rich would print nothing
        del os.environ["COLUMNS"]
    end = given.index("--") if "--" in given else len(given)  # what follows is another's command
    debug = "--debug" in given[:end]
    given = [word for number, word in enumerate(given) if word != "--debug" or number > end]
    with _interrupts_seen() as interrupts, warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            GIVEN[:] = given
            program = get_command(app)
            status = program(args=given, prog_name="predict-graph", standalone_mode=False)
            sys.stdout.flush()  # a closed pipe is reported here, not at exit
        except BaseException as error:
            if isinstance(error, SystemExit) and _completes(given):
                status = int(error.code or 0)
            elif interrupts or isinstance(error, KeyboardInterrupt | typer.Abort):
                # Compiled code and Spark turn an interrupt into errors of their own.
                status = _INTERRUPTED
            else:
                status = _failed(error, given, debug)
    if status == _INTERRUPTED:
        ended = signal.SIGTERM in interrupts
        said, status = ("ended", _ENDED) if ended else ("interrupted", _INTERRUPTED)
        _explain(f"{said}; nothing is half written", status, debug)
    sys.exit(status if isinstance(status, int) else 0)


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    sys.stderr.write(f"warning: {printable(' '.join(str(message).split()))}\n")


def _completes(given: Sequence[str]) -> bool:
    """Return whether a shell asks for completion, or how to get it; typer then ends the program."""
    asked = {"--show-completion", "--install-completion"}
    return "_PREDICT_GRAPH_COMPLETE" in os.environ or bool(asked & set(given[:1]))


@contextmanager
def _interrupts_seen(again: float = 0.05) -> Iterator[list[int]]:
    """Give a list that grows with each Ctrl-C or request to end, which raise KeyboardInterrupt.

    So temporary files are removed, and children ended, as on the way out of any error. One that
    comes while code is compiled waits, and is looked at again after some seconds: LLVM cannot be
    left in the middle, the program would crash on its way out.
    """
    seen: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        if _has_to_finish(frame):
            later = threading.Timer(again, os.kill, (os.getpid(), number))
            later.daemon = True
            later.start()
            return
        seen.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield seen
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ignored, children would end unseen
    usual: dict[int, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
    }
    # What another program has set, such as to ignore them, stays.
    changed = [number for number, handler in usual.items() if signal.getsignal(number) is handler]
    for number in changed:
        signal.signal(number, interrupt)
    try:
        yield seen
    finally:
        for number in changed:
            signal.signal(number, usual[number])


def _has_to_finish(frame: FrameType | None) -> bool:
    """Return whether a frame is inside what cannot be left in the middle.

    A kernel that runs has no frame there. Python ignores what is raised around a fork.
    """
    frames = (each for each, _ in traceback.walk_stack(frame))
    return any(str(each.f_globals.get("__name__")).startswith(_WHOLE) for each in frames)


def _failed(error: BaseException, given: Sequence[str], debug: bool) -> int:
    """Explain an error in one line and return the exit status."""
    status = errors.PredictGraphError.exit_status
    try:
        sys.stdout.flush()
    except OSError:  # what is left in the buffers goes nowhere, without a word about it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, errors.PredictGraphError):
        text, status = str(error), error.exit_status
    elif isinstance(error, MemoryError):
        text = ": ".join(filter(None, ("there is not enough memory", errors.error_text(error))))
    elif errors.comes_from(error, BrokenPipeError):  # to a reader that has gone, such as head
        return errors.PredictGraphError.exit_status
    elif isinstance(error, OSError):
        text = "the disk is full" if error.errno == errno.ENOSPC else str(error)
    elif type(error).__name__ == "NoArgsIsHelpError":
        # The errors of typer have no public base class, and moved between its versions.
        error.show()  # type: ignore[attr-defined]
        return errors.RequestError.exit_status
    elif isinstance(error, SystemExit):
        text = f"something that was called ended the program (SystemExit {error.code!r})"
    elif hasattr(error, "format_message"):
        text, status = _sentence(error, given), errors.RequestError.exit_status
    else:
        from predict_graph.plugin_files import blamed_file

        found = errors.described_error(error)
        text = blamed_file(error) or f"internal error, please report it: {found}"
    return _explain(text, status, debug, error)


def _sentence(error: Any, given: Sequence[str]) -> str:
    """Return the text of an error of typer, with the value that it is about."""
    text = str(error.format_message())
    parameter = text.startswith("Got unexpected extra argument") and "=" in text
    if parameter or (text.startswith("No such option") and {*given[:1]} & _PARAMETERS):
        return f"{text}; accepted: -p NAME=VALUE for an algorithm, --arg NAME=VALUE for a function"
    asked = getattr(error, "param", None)
    options, said = getattr(asked, "opts", ()), getattr(asked, "help", None)
    if text.startswith("Missing") and said:
        return f"{text.rstrip('.')}; accepted: {said.rstrip('.')}"
    if not text.startswith("Invalid value"):
        return text
    parts = [part for word in given for part in word.split("=", 1 if word[:2] == "--" else 0)]
    values = [pair for pair in pairwise(parts) if pair[0] in options]  # the last one is read
    said = "{} is {!r}".format(*values[-1]) if values else text.partition(":")[0]  # an argument
    # Versions of typer and click say it otherwise.
    return f"{said}; accepted: a {'whole number' if 'valid integer' in text else 'number'}"


def _explain(text: str, status: int, debug: bool, error: BaseException | None = None) -> int:
    """Print an error as one line on standard error, with its traceback when asked."""
    if debug and error is not None:
        traceback.print_exception(error)
    line = printable(" ".join(text.split()))
    sys.stderr.write(f"error: {line}\n")
    return status
