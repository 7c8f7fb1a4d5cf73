"""The expected runtime of a run before its start, from a prediction."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from predict_graph.arrays import FloatArray
from predict_graph.documents import read_document
from predict_graph.errors import RequestError
from predict_graph.intervals import Interval


@dataclass(frozen=True)
class ExpectedPart:
    """The expected work of one algorithm of a chain."""

    algorithm: str
    iterations: float
    iterations_std: float
    seconds: FloatArray = field(default_factory=lambda: np.empty(0))
    seconds_std: float = 0.5


@dataclass(frozen=True)
class Expected:
    """The expected runtime and iterations of a run."""

    parts: tuple[ExpectedPart, ...]
    before: float = 0.0
    total: Interval | None = None
    after: float = 0.0
    source: str = ""

    def read_by(self, elapsed: float) -> Expected:
        """Return what is expected once the graph is read, which may have taken longer."""
        late = elapsed - self.before
        if late <= 0.0 or self.total is None:
            return self
        total = Interval(*(each + late for each in (self.total.predicted, *self.total)))
        return replace(self, before=elapsed, total=total)


def read_expected(path: str | PathLike[str]) -> tuple[Expected, Mapping[str, Any]]:
    """Read a prediction that ``predict --json`` wrote."""
    document = read_document(Path(path), "prediction", "a file that predict --json wrote")
    return expected_of(document, str(path)), document


def expected_of(document: Any, name: str) -> Expected:
    """Return the expected values in a prediction's JSON."""
    try:
        parts: list[ExpectedPart] = []
        part: Any = document
        while part is not None:
            parts.insert(0, _part(part))
            part = part["prior"]
        phases = {each: _seconds(document["phases"][each]) for each in ("setup", "read", "write")}
        total = Interval(*(_seconds(document["runtime_seconds"][each]) for each in _ENDS))
    except (LookupError, TypeError, ValueError, AttributeError):
        raise RequestError(
            f"{name} is not a prediction of an algorithm; accepted: a file that "
            "predict --json wrote"
        ) from None
    before = phases["setup"] + phases["read"]
    return Expected(tuple(parts), before, total, phases["write"], name)


_ENDS = ("predicted", "low", "high")


def _part(document: Mapping[str, Any]) -> ExpectedPart:
    count = Interval(*(max(_seconds(document["iterations"][each]), 1.0) for each in _ENDS))
    runtime = Interval(*(max(_seconds(document["runtime_seconds"][each]), 1e-9) for each in _ENDS))
    rows = document["per_iteration"]
    seconds = np.array([_seconds(row["seconds"]) for row in rows])
    # Equal runs differ by 5% at least (docs/studies/overhead.md).
    rest = math.sqrt(max(runtime.log_std**2 - count.log_std**2, 0.05**2))
    name = str(document["algorithm"]["name"])
    return ExpectedPart(name, count.predicted, count.log_std, seconds, rest)


def _seconds(value: Any) -> float:
    number = float(value)
    if not (math.isfinite(number) and number >= 0.0):
        raise ValueError(value)
    return number
