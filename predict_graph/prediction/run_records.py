"""Runs as the history keeps them."""

from __future__ import annotations

from predict_graph.engines import RunProfile
from predict_graph.history import RunRecord


def records_of(profile: RunProfile) -> list[RunRecord]:
    """Return the records of a run and of those that made its input, each with its own phases."""
    before = [] if profile.prior is None else records_of(profile.prior)
    taken = {} if profile.prior is None else {**profile.prior.phases, "read": 0.0}
    own = RunRecord(
        kind="run",
        algorithm=profile.algorithm,
        parameters=profile.parameters,
        graph=str(profile.graph["name"]),
        fingerprint=str(profile.graph["fingerprint"]),
        vertices=int(profile.graph["vertices"]),
        edges=int(profile.graph["edges"]),
        directed=bool(profile.graph["directed"]),
        engine=profile.engine,
        phases={
            name: max(seconds - taken.get(name, 0.0), 0.0)
            for name, seconds in profile.phases.items()
        },
        iterations=profile.iterations,
        converged=profile.converged,
        rows=profile.rows,
    )
    return [*before, own]
