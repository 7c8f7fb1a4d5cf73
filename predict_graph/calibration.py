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


SAMPLED = 1e6  # edges, from which each takes samples longer; measured on R-MAT of scale 18 to 22


@dataclass(frozen=True)
class Usual:
    """Medians of the compiled runs of an algorithm.

    Parameters
    ----------
    iterations : float
    setup_ns, iteration_ns : float
        Nanoseconds on two cores, per edge and vertex; the reverse of the graph is not included.
    """

    iterations: float
    setup_ns: float
    iteration_ns: float


@dataclass(frozen=True)
class Sampling:
    """What samples for the iterations of an algorithm take.

    Parameters
    ----------
    fixed : float
        Seconds.
    edge_ns, sampled_edge_ns : float
        Nanoseconds per edge of the graph, in cache, and per edge of all samples.
    """

    fixed: float
    edge_ns: float
    sampled_edge_ns: float

    def seconds(self, edges: int, level: float) -> float:
        """Return the seconds of samples with so many edges per edge of the graph."""
        per_edge = self.edge_ns * beyond_cache(edges, SAMPLED) + level * self.sampled_edge_ns
        return self.fixed + 1e-9 * edges * per_edge


@cache
def calibration() -> dict[str, Any]:
    """Return all of it."""
    text = files("predict_graph").joinpath(FILE).read_text(encoding="utf-8")
    return dict(json.loads(text))


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


def sampling_of(algorithm: str) -> Sampling:
    """Return what samples take; of an algorithm that was not calibrated, the most of all."""
    known = calibration()["sampling"]
    return Sampling(**known.get(algorithm, known[""]))


def beyond_cache(work: int, cached: float = 1e7, power: float = 0.35) -> float:
    """Return how many times as long an edge or vertex takes where all do not fit in a cache.

    From so many edges and vertices on, by a power: measured on R-MAT of scale 14 to 22. Samples
    look up at random: from :data:`SAMPLED` on.
    """
    return float(max(work / cached, 1.0) ** power)


def reverse_ns() -> float:
    """Return the nanoseconds, per edge and vertex in cache, of turning all edges round."""
    return float(calibration()["reverse_ns"])


def cold_seconds() -> float:
    """Return what the first of two equal runs takes more: cold caches, waking threads."""
    return float(calibration()["cold_seconds"])
