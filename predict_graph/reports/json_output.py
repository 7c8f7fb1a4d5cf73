"""Results, and moments of a run line by line, as JSON: in a file, or on standard output."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from predict_graph.clock.moment import Moment
from predict_graph.errors import JobError, explained_by_system
from predict_graph.files import write_text

STANDARD_OUTPUT = "-"


@contextmanager
def events(target: str | None) -> Iterator[Callable[[Moment], None]]:
    """Give a function that writes a moment of a run as a line of JSON, at once.

    The target is a file, ``-`` for standard output, or None for nowhere.
    """
    failure = f"cannot write {'standard output' if target == STANDARD_OUTPUT else target}"
    with ExitStack() as stack:
        stream: IO[str] = sys.stdout
        if target not in (None, STANDARD_OUTPUT):
            with explained_by_system(failure, JobError):
                stream = stack.enter_context(open(target, "w", encoding="utf-8"))

        def write(moment: Moment) -> None:
            with explained_by_system(failure, JobError):
                print(json.dumps(_finite(moment.to_dict())), file=stream, flush=True)

        yield write if target is not None else lambda moment: None


def to_json(value: Any) -> str:
    """Return `value` as JSON; numpy numbers become plain, what is not finite becomes null.

    Examples
    --------
    >>> print(to_json({"a": float("inf"), "b": 1}))
    {
      "a": null,
      "b": 1
    }
    """
    return json.dumps(_finite(value), indent=2)


def write_json(value: Any, target: str | None) -> None:
    """Write `value` to a file, to standard output if `target` is ``-``, nowhere if it is None."""
    if target == STANDARD_OUTPUT:
        print(to_json(value))
    elif target is not None:
        write_text(Path(target), to_json(value) + "\n")


def _finite(value: Any) -> Any:
    """Return what JSON has of a value."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    if value is None or isinstance(value, str | int):
        return value
    from predict_graph.results import plain  # which takes long to import

    return _finite(plain(value))
