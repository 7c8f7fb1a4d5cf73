"""Moments of a run as JSON, a line each, for other programs to read as they come."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

from predict_graph.errors import JobError, RequestError
from predict_graph.files import check_writable

if TYPE_CHECKING:
    from predict_graph.clock import Moment


STANDARD_OUTPUT = "-"


def check_events_target(target: str | None, json_target: str | None = None) -> str | None:
    """Return where events go if that can be written, before any work is done."""
    if target == STANDARD_OUTPUT and json_target == STANDARD_OUTPUT:
        raise RequestError(
            "--events - and --json - would both write to standard output; accepted: a file for one"
        )
    if target is not None and target != STANDARD_OUTPUT:
        check_writable(Path(target))
    return target


class Events:
    """Writes moments to a file that grows as the run goes on, or to standard output."""

    def __init__(self, target: str | None) -> None:
        self._target = target
        self._stream: IO[str] | None = None
        if target == STANDARD_OUTPUT:
            self._stream = sys.stdout
        elif target is not None:
            try:
                self._stream = open(target, "w", encoding="utf-8")  # noqa: SIM115
            except OSError as error:
                raise JobError(f"cannot write {target}: {error.strerror}") from error

    def write(self, moment: Moment) -> None:
        """Write a moment, at once."""
        if self._stream is None:
            return
        try:
            self._stream.write(json.dumps(_finite(moment.to_dict()), allow_nan=False) + "\n")
            self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise JobError(f"cannot write {self._target}: {error.strerror}") from error

    def __enter__(self) -> Events:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._stream is not None and self._target != STANDARD_OUTPUT:
            self._stream.close()


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return float(value) if hasattr(value, "dtype") else value
