"""What benchmark runs showed of the sources of evidence: their errors, and usual figures.

``make calibration`` runs the jobs of the accuracy study and writes ``calibration.json``; its page,
docs/studies/calibration.md, says how often intervals hold on graphs that are left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

FILE = "calibration.json"


@dataclass(frozen=True)
class Usual:
    """Medians of the compiled runs of an algorithm.

    Parameters
    ----------
    iterations : float
    setup_ns, iteration_ns : float
        Nanoseconds on two cores, per edge and vertex.
    """

    iterations: float
    setup_ns: float
    iteration_ns: float


@cache
def calibration() -> dict[str, Any]:
    """Return all of it."""
    text = files("predict_graph").joinpath(FILE).read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def log_std(source: str, algorithm: str = "") -> float:
    """Return the standard deviation of the logarithm of predicted / true by a source of evidence.

    Of an algorithm that was not calibrated, it is that of all of them.

    Examples
    --------
    >>> log_std("iterations by completion", "mine") == log_std("iterations by completion")
    True
    """
    known: dict[str, float] = calibration()["log_std"][source]
    return known.get(algorithm, known[""])


def usual_of(algorithm: str) -> Usual:
    """Return the usual figures of an algorithm; of one that was not calibrated, of all."""
    known = calibration()["usual"]
    return Usual(**known.get(algorithm, known[""]))


def cold_seconds() -> float:
    """Return what the first of two equal runs takes more: cold caches, waking threads."""
    return float(calibration()["cold_seconds"])
