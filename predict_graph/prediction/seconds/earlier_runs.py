"""Runtime estimates from earlier runs of the same graph on the same engine, the best evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from predict_graph.calibration import cold_seconds, log_std
from predict_graph.engines import Engine, Evidence, RuntimeEstimate, Workload, per_iteration
from predict_graph.engines.runtime_model import std_of_next
from predict_graph.evidence import EARLIER_RUNS
from predict_graph.history import RunRecord, machine_identity


def of_this_engine(records: Sequence[RunRecord], engine: Engine) -> list[RunRecord]:
    """Return the runs by the same engine, with the same settings and quota, on this machine.

    In a session of the user, those with the same JVM warm-up as a run would have now.
    """
    settings = engine.describe()

    def value(record: RunRecord, name: str) -> Any:  # without cores: kept by an earlier version
        return record.engine.get(name, record.engine.get("threads") if name == "cores" else None)

    is_warm = getattr(engine, "is_warm", lambda name: False)  # Spark may have an open session
    return [
        record
        for record in records
        if record.machine == machine_identity()
        and all(value(record, name) == own for name, own in settings.items())
        and bool(record.engine.get("warm")) == is_warm(record.algorithm)
    ]


def earlier_runtimes(
    runs: Sequence[Sequence[RunRecord]], workloads: Sequence[Workload], source: str = EARLIER_RUNS
) -> list[RuntimeEstimate]:
    """Return the estimate of each workload of a chain from earlier runs of it; the first reads."""
    found = [_earlier(own, each, source) for own, each in zip(runs, workloads, strict=True)]
    return [found[0], *(replace(each, phases={**each.phases, "read": 0.0}) for each in found[1:])]


def _earlier(records: Sequence[RunRecord], workload: Workload, source: str) -> RuntimeEstimate:
    seconds = [per_iteration(record.rows).floats("seconds") for record in records]
    shortest = min(len(each) for each in seconds)
    mean = np.mean([each[:shortest] for each in seconds], axis=0)
    at = np.minimum(np.arange(workload.iterations), shortest - 1)
    cold, equal = cold_seconds(), log_std("equal runs", workload.algorithm.name)
    totals = np.log([max(float(each.sum()), cold) for each in seconds])
    once = np.hypot(equal, cold / np.exp(totals.mean()))
    std = std_of_next(totals, float(once))
    phases = {
        name: float(np.mean([record.phases[name] for record in records]))
        for name in ("setup", "read", "write")
    }
    engine = records[0].engine
    ours = not workload.algorithm.java_works and not engine.get("checkpoint_interval")
    if engine.get("name") == "local" or (engine.get("name") == "spark" and ours):
        phases["write"] = 0.0  # only run --out writes, which no prediction asks
    return workload.runtime(Evidence(source, mean[at], std), equal, **phases)
