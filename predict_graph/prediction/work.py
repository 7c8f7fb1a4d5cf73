"""Counters of iterations as whole numbers, and runs as the history keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from predict_graph.engines.profile import COUNTERS, RunProfile, message_bytes
from predict_graph.history import RunRecord
from predict_graph.table import Table


def counted(counters: Table) -> Table:
    """Return counters of iterations as whole numbers, with `iteration` and the size of a message.

    `counters` has one row an iteration: the counters and all vertices.
    """
    if not len(counters):
        return counters
    known = [name for name in (*COUNTERS, "total_vertices") if name in counters]
    whole = {name: np.rint(counters.floats(name)).astype(np.int64) for name in known}
    rows = Table({"iteration": np.arange(1, len(counters) + 1), **whole})
    return rows.assign(average_message_bytes=message_bytes(rows))


def records_of(profile: RunProfile) -> list[RunRecord]:
    """Return the records of a run and of those that made its input, each with its own phases."""
    before = [] if profile.prior is None else records_of(profile.prior)
    taken, engine = {}, profile.engine
    if profile.prior is not None:
        taken = {**profile.prior.phases, "read": 0.0}
        engine = {**engine, "follows": profile.prior.algorithm}
    own = RunRecord(
        kind="run",
        algorithm=profile.algorithm,
        parameters={**profile.parameters, **profile.named},
        graph=str(profile.graph["name"]),
        fingerprint=str(profile.graph["fingerprint"]),
        vertices=int(profile.graph["vertices"]),
        edges=int(profile.graph["edges"]),
        directed=bool(profile.graph["directed"]),
        engine=engine,
        phases={
            name: max(seconds - taken.get(name, 0.0), 0.0)
            for name, seconds in profile.phases.items()
        },
        iterations=profile.iterations,
        converged=profile.converged,
        rows=profile.rows,
    )
    return [*before, own]


def records_to_keep(profile: RunProfile) -> Iterator[RunRecord]:
    """Yield the records of a run for the history: without the time in which it waited for cores.

    A later prediction counts how much the machine is used then.
    """
    for record in records_of(profile):
        phases = {name: each / profile.slowdown for name, each in record.phases.items()}
        rows = record.rows.assign(seconds=record.rows["seconds"] / profile.slowdown)
        yield replace(record, phases=phases, rows=rows)
