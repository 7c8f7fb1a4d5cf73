"""The errors that reach a user, each with the exit status of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any

from predict_graph.printable import printable

_LONG_WORD = re.compile(r"(\S{40})\S{260,}?([^\s\w]{0,2})(?=\s|$)")  # no name of a file is longer


class PredictGraphError(Exception):
    """Base of every error that we raise on purpose; its text is one clear sentence.

    Whatever a file has in it is quoted in part only, so that it stays one.

    Examples
    --------
    >>> print(RequestError("the column " + 400 * "x" + " is unknown"))
    the column xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… is unknown
    >>> print(RequestError(f"unknown graph {400 * 'x'!r}; accepted: y"))
    unknown graph 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'; accepted: y
    >>> len(str(RequestError(250 * "word "))), len(str(RequestError(2500 * "word ")))
    (1250, 1503)
    """

    exit_status = 1

    def __init__(self, text: object = "") -> None:
        short = _LONG_WORD.sub(r"\1…\2", str(text))
        if len(short) > 1500:
            short = f"{short[:1100]} … {short[-400:]}"
        super().__init__(printable(short))


class RequestError(PredictGraphError, ValueError):
    """The request is wrong: a bad value, file or name (exit status 2)."""

    exit_status = 2


class JobError(PredictGraphError, RuntimeError):
    """The request was right, but the job failed: disk full, worker lost (exit status 1)."""


def check_installed(package: str, what: str, *, extra: str) -> None:
    """Refuse what a package of one of our extras does where it is not installed."""
    if find_spec(package) is None:
        raise RequestError(
            f"{what} needs {package}, which is not installed; "
            f"install it with: pip install 'predict-graph[{extra}]'"
        )


def error_text(error: object) -> str:
    r"""Return the text of an error on one line, whatever its class makes of it.

    Examples
    --------
    >>> class Odd(Exception):
    ...     def __str__(self):
    ...         raise SystemExit
    >>> error_text(ValueError("one\nline")), error_text(Odd())
    ('one line', '(without a text)')
    """
    try:
        return " ".join(str(error).split())
    except BaseException:  # of another's class, which may raise anything
        return "(without a text)"


@contextmanager
def explained(said: str, kind: Any = RequestError, of: Any = BaseException) -> Iterator[None]:
    """Turn an error of a library, about what a user gave, into a sentence and the reason.

    That a reader has gone, as ``head`` does, is passed on.

    Examples
    --------
    >>> with explained("g.json is not JSON"):
    ...     {}["a"]
    Traceback (most recent call last):
    predict_graph.errors.RequestError: g.json is not JSON: 'a'
    >>> with explained_by_system("cannot read a file"):
    ...     open("no/such/file")
    Traceback (most recent call last):
    predict_graph.errors.RequestError: cannot read a file: No such file or directory
    """
    try:
        yield
    except (PredictGraphError, MemoryError, KeyboardInterrupt, GeneratorExit, BrokenPipeError):
        raise
    except of as error:  # which may also end the program
        given = (getattr(error, name, None) for name in ("reason", "strerror"))
        reason = error_text(next(filter(None, given), error))[:200]
        raise kind(f"{said}: {reason or type(error).__name__}") from error


explained_by_system = partial(explained, of=OSError)
"""The same for errors of the operating system alone."""


def comes_from(error: BaseException | None, kind: type[BaseException]) -> bool:
    """Return whether an error is of a kind, or was raised while such a one was handled.

    Examples
    --------
    >>> comes_from(KeyError(), LookupError), comes_from(None, LookupError)
    (True, False)
    """
    while error is not None and not isinstance(error, kind):
        error = error.__context__
    return error is not None


def described_error(error: BaseException) -> str:
    r"""Return type and text of an error, on one line.

    Examples
    --------
    >>> described_error(ValueError("too\nlong")), described_error(KeyError())
    ('ValueError: too long', 'KeyError')
    """
    return f"{type(error).__name__}: {error_text(error)}".removesuffix(": ")


def unknown_name(kind: str, name: object, accepted: Iterable[str]) -> RequestError:
    """Build the error for a name that no plug-in has.

    Parameters
    ----------
    kind : str
        What was asked for, such as ``"sampler"``.
    name : object
        The value given.
    accepted : iterable of str
        The legal names.

    Returns
    -------
    RequestError
        Names the wrong value and the legal ones.

    Examples
    --------
    >>> print(unknown_name("sampler", "rjj", ["rj", "mhrw"]))
    unknown sampler 'rjj'; did you mean rj? accepted: mhrw, rj
    """
    names = sorted(accepted)
    asked = did_you_mean(name, names)
    return RequestError(f"unknown {kind} {name!r};{asked} accepted: {', '.join(names)}")


def did_you_mean(name: object, accepted: Iterable[str], most: int = 200) -> str:
    """Return the question whether a name that is like this one was meant; empty if none is.

    Of the name, so many characters count at most: comparing is quadratic in them.

    Examples
    --------
    >>> did_you_mean("pageranks", ["pagerank", "neighborhood"])
    ' did you mean pagerank?'
    >>> did_you_mean("components", ["connected-components", "pagerank"])
    ' did you mean connected-components?'
    >>> did_you_mean("pagerank", ["neighborhood"])
    ''
    """
    from difflib import get_close_matches

    by_plain = {each.lower().replace("_", "-"): each for each in accepted}
    plain = str(name).lower().replace("_", "-")[:most]
    near = get_close_matches(plain, by_plain, n=2, cutoff=0.7)  # one of four letters may differ
    if not near and len(plain) >= 4:
        near = [each for each in by_plain if plain in each][:2]
    return f" did you mean {' or '.join(by_plain[each] for each in near)}?" if near else ""
