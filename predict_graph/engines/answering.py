"""Lines of a run's report: runtime, phases and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from predict_graph.answers import Answer, cell_text, graph_text
from predict_graph.durations import counted, readable_seconds

if TYPE_CHECKING:
    from predict_graph.engines.profile import RunProfile

PHASE_NAMES = {
    "setup": "setting up",
    "read": "reading",
    "superstep": "supersteps",
    "write": "writing",
    "convert": "converting the graph",
    "call": "the call",
}
"""Labels of the phases of a run."""


def answer_of_run(profile: RunProfile) -> Answer:
    """Return the answer of a run."""
    graph = profile.graph
    ended = "until it converged" if profile.converged else "its limit"
    counted = f": {profile.iterations} iterations, {ended}" if profile.iterations else ""
    return Answer(
        f"{profile.algorithm} on {graph['name']} took "
        f"{readable_seconds(profile.runtime_seconds)}{counted}",
        [
            ("graph", graph_text(graph)),
            ("phases", phases_said(profile.phases)),
            *_first(profile),
            *((name.replace("_", " "), _short(value)) for name, value in profile.result.items()),
        ],
        details=[
            ("parameters", ", ".join(f"{k}={v}" for k, v in profile.parameters.items())),
            ("engine", engine_said(profile.engine)),
            *(
                (name.replace("_", " "), f"{value:,}")
                for name, value in profile.features_total().items()
            ),
        ],
    )


def engine_said(engine: Mapping[str, Any]) -> str:
    """Describe an engine: its name, and the machines that it has.

    Examples
    --------
    >>> engine_said({"name": "spark", "master": "local", "machines": 4, "cores": 1, "memory": "1g"})
    'spark, master local: 4 machines of 1 core and 1g of memory'
    """
    if not {"master", "machines", "cores", "memory"} <= engine.keys():
        return ", ".join(
            f"{k} {v}" if k != "name" else str(v) for k, v in engine.items() if v is not None
        )
    name, master, memory = engine["name"], engine["master"], engine["memory"]
    machines, cores = (counted(engine[what], what) for what in ("machines", "cores"))
    said = f"{name}, master {master}: {machines} of {cores} and {memory} of memory"
    lost = engine.get("executors_lost")
    return f"{said}; {counted(lost, 'executors')} lost" if lost else said


def phases_said(phases: Mapping[str, float]) -> str:
    """Describe the phases of a run with their shares, the longest first, without those of 0%.

    Examples
    --------
    >>> phases_said({"setup": 0.0, "read": 3.0, "superstep": 1.0, "write": 0.0})
    'reading 3 s (75%), supersteps 1 s (25%)'
    """
    total = sum(phases.values())
    return ", ".join(
        f"{PHASE_NAMES[name]} {readable_seconds(phases[name])} ({phases[name] / total:.0%})"
        for name in sorted(phases, key=lambda name: -phases[name])
        if total and f"{phases[name] / total:.0%}" != "0%"
    )


def _first(profile: RunProfile) -> list[tuple[str, str]]:
    """Describe the algorithm that ran first in a chain."""
    if profile.prior is None:
        return []
    spent = profile.prior.phases["setup"] + profile.prior.phases["superstep"]
    said = f"{profile.prior.iterations} iterations, {readable_seconds(spent)}"
    return [(f"includes {profile.prior.algorithm}", said)]


def _short(value: Any, most: int = 6) -> str:
    """Format a value of the result; a list of more than `most` as its length and its ends."""
    if isinstance(value, list) and len(value) > most:
        ends = ", ".join(cell_text(part) for part in (*value[:2], "…", value[-1]))
        return f"{ends} ({len(value)} values)"
    return ", ".join(map(cell_text, value)) if isinstance(value, list) else cell_text(value)
