"""Runs as the history keeps them."""

from __future__ import annotations

from dataclasses import replace

from predict_graph.engines import RunProfile
from predict_graph.history import RunRecord


def record_of(profile: RunProfile) -> RunRecord:
    """Return the record of a run."""
    return RunRecord(
        kind="run",
        algorithm=profile.algorithm,
        parameters=profile.parameters,
        graph=str(profile.graph["name"]),
        fingerprint=str(profile.graph["fingerprint"]),
        vertices=int(profile.graph["vertices"]),
        edges=int(profile.graph["edges"]),
        directed=bool(profile.graph["directed"]),
        engine=profile.engine,
        phases=profile.phases,
        iterations=profile.iterations,
        converged=profile.converged,
        rows=profile.rows,
    )


def records_of(profile: RunProfile) -> list[RunRecord]:
    """Return the records of a run and of those that made its input, each with its own phases."""
    own = record_of(profile)
    if profile.prior is None:
        return [own]
    shared = ("setup", "superstep", "write")
    phases = {
        name: max(seconds - (profile.prior.phases[name] if name in shared else 0.0), 0.0)
        for name, seconds in profile.phases.items()
    }
    return [*records_of(profile.prior), replace(own, phases=phases)]
