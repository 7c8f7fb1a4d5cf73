"""Runs on a Spark cluster, as the history keeps them, and bundled reference runs.

The cost of a superstep depends on the algorithm and the cluster, not on the graph: runs on one
graph serve for others, and for any machine count. Without any, the reference runs are the model:
sample runs of each algorithm, as in a prediction, on two workers of one machine, created by
``python -m benchmarks.cluster_training``. Another cluster differs by a factor that is estimated
from its runs (:mod:`predict_graph.prediction.seconds.cluster.costs`); the growth of costs is
assumed to be the same.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.algorithms import Algorithm, VertexProgram
from predict_graph.arrays import FloatArray
from predict_graph.durations import counted
from predict_graph.engines import SampleSummary, critical_worker
from predict_graph.engines.spark import SparkEngine
from predict_graph.engines.spark.session.settings import is_local
from predict_graph.graph import Graph
from predict_graph.history import History, RunRecord, machine_identity
from predict_graph.prediction.seconds.learned import STEADY_ITERATIONS
from predict_graph.prediction.work import records_of
from predict_graph.table import Table

WARM_UP = "warm-up"
"""Purpose of runs that warm up the JVM, from which no costs are taken."""
REAL = "run"
"""Purpose of real runs on whole graphs."""
_CLUSTER = ("name", "master", "cores", "session")  # by definition: settings that identify a cluster
# Parameters that do not affect supersteps.
_STOPPING = ("epsilon", "max_iterations", "tau", "tolerance", "tol", "maxIterations", "maxSteps")


@dataclass(frozen=True)
class ClusterRun:
    """A run on a cluster: one of the history, or one made for this prediction."""

    record: RunRecord
    machines: int
    cold: bool
    session_seconds: float
    purpose: str
    doubt: str
    """Why its supersteps may not be those of the job."""
    elsewhere: bool
    again: bool
    before: int | None = None
    """The supersteps that its session had run before it; None where that is not known."""

    @property
    def edges(self) -> int:
        """The edges of its graph, or of its sample."""
        return self.record.edges

    @property
    def summary(self) -> SampleSummary:
        """What a prediction says of it."""
        record, drawn = self.record, self.record.sample or {"sampler": "none", "ratio": 1.0}
        note = f"{counted(self.machines, 'machines')}{', cold' if self.cold else ''}"
        note += f", run on {record.time:%F}" if self.again else ""
        seconds = 0.0 if self.again else record.seconds
        sizes = (float(drawn["ratio"]), record.vertices, record.edges, record.iterations)
        return SampleSummary(str(drawn["sampler"]), *sizes, seconds, self.purpose, note)

    @property
    def real(self) -> bool:
        """Whether it is a real run rather than a sample run."""
        return self.purpose == REAL

    @property
    def informative(self) -> bool:
        """Whether its supersteps show usual costs: those of real runs and of warm sample runs."""
        return self.real or (not self.cold and self.purpose != WARM_UP)

    @property
    def disturbed(self) -> bool:
        """Whether the run lost an executor, so that its times are not representative."""
        return int(self.record.engine.get("executors_lost", 0)) > 0

    @property
    def seen_by_log(self) -> bool:
        """Whether it is known from an event log alone, without parameters or cached memory."""
        return "storage_bytes" not in self.record.rows


def by_session(runs: Sequence[ClusterRun]) -> list[list[ClusterRun]]:
    """Group runs by session, in order: each starts with a cold run.

    The cold run may be of another algorithm; all runs of a session use the same machines.
    """
    sessions: list[list[ClusterRun]] = []
    for run in runs:
        if run.cold or not sessions or run.machines != sessions[-1][-1].machines:
            sessions.append([])
        sessions[-1].append(run)
    return sessions


def cluster_settings(engine: SparkEngine) -> dict[str, Any]:
    """Return the settings that must match between runs; the machine count need not.

    Runs in a session of the user, with other settings, are not comparable to ours.
    """
    described = {"session": None, **engine.describe()}
    return {name: described[name] for name in described if name not in ("machines", "workers")}


def cluster_runs(
    history: History | None, engine: SparkEngine, name: str, graph: Graph | None = None, **how: Any
) -> list[ClusterRun]:
    """Return the newest undisturbed runs of an algorithm on a cluster, in order of execution.

    `how` may have what :meth:`~predict_graph.history.History.training_runs` `accepts`.
    Standalone, YARN and Kubernetes clusters are identified by their master, regardless of the
    driver's machine; local Spark is identified by this machine.
    """
    if history is None:
        return []
    here = machine_identity() if engine.settings.local else None
    settings = cluster_settings(engine)
    found = history.training_runs(
        name, {key: settings[key] for key in _CLUSTER}, here, kinds=("run", "sample"), **how
    )
    runs = [cluster_run(record, graph) for record in reversed(found)]
    return [run for run in runs if not run.disturbed and (run.edges or not run.seen_by_log)]


def runs_of_job(
    history: History | None, engine: SparkEngine, algorithm: Algorithm, graph: Graph
) -> list[ClusterRun]:
    """Return those with the settings of an engine, and the supersteps of an algorithm."""
    settings, own = cluster_settings(engine), _of_supersteps(algorithm.to_dict())
    return [
        run
        for run in cluster_runs(history, engine, algorithm.name, graph)
        if all(run.record.engine.get(name) == value for name, value in settings.items())
        and (run.seen_by_log or _of_supersteps(run.record.parameters) == own)
    ]


def _of_supersteps(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters except stopping criteria, and the numbers of vertices they name."""
    left_out = (*_STOPPING, "vertices")
    return {name: value for name, value in parameters.items() if name not in left_out}


def cluster_run(record: RunRecord, graph: Graph | None = None, *, again: bool = True) -> ClusterRun:
    """Return a run of the history; one of another graph than `graph` is from elsewhere."""
    sample = record.sample or {
        "machines": record.engine["machines"],
        "before": None if "follows" in record.engine else 0,
    }
    before = sample.get("before", 0 if sample.get("cold") else None)
    source = record.sample_of if record.sample else record.fingerprint
    return ClusterRun(
        record,
        int(sample["machines"]),
        bool(sample.get("cold", True)),
        float(sample.get("opening_seconds", 0.0)),  # included in the setup of a real run
        str(sample.get("purpose", REAL)),
        str(sample.get("doubt", "")),
        elsewhere=graph is None or source != graph.fingerprint,
        again=again,
        before=None if record.engine.get("warm") else before,
    )


def supersteps_run(algorithm: Algorithm, most: int = 15) -> int:
    """Return the limit of supersteps of a sample run; a call cannot be stopped."""
    if algorithm.java_works:
        return algorithm.max_iterations
    return STEADY_ITERATIONS if algorithm.steady else most


def sample_run(
    engine: SparkEngine, algorithm: Algorithm, graph: Graph, sample: Graph, before: int, **how: Any
) -> list[ClusterRun]:
    """Run a chain of algorithms on a sample in a session that has run so many supersteps before.

    `how` has the sampler, its seed, the purpose, and the seconds in which the session opened.
    """
    most, threshold = supersteps_run(algorithm), 0.0 if algorithm.steady else None
    profile = engine.run(algorithm, sample, max_iterations=most, threshold=threshold)
    doubtful = profile.result.get("certainty") == "doubtful"
    drawn = {
        **how,
        "ratio": sample.vertices / graph.vertices,
        "machines": engine.workers,
        "cold": before == 0,
        "doubt": profile.result.get("reason") if doubtful else "",
    }
    runs = []
    for record in records_of(profile):
        own = replace(record, kind="sample", sample_of=graph.fingerprint)
        own = replace(own, sample={**drawn, "before": before})
        runs.append(cluster_run(own, graph, again=False))
        before += record.iterations
    return runs


FEATURES = ("vertices", "messages", "remote_bytes")
"""Features: vertices, messages and received bytes of the critical worker."""


CLOCK = 1e-3  # seconds, the resolution of Spark's clock, by definition


def warming(supersteps: int, before: int = 0, power: float = 0.65) -> FloatArray:
    """Return what is left of the warm-up of a session in each of some supersteps: 1 in its first.

    Java compiles what it has run often: on four workers of 0.4 of a core the driver's part of a
    superstep fell from 0.48 s in the first to 0.22 in the sixth, 0.16 in the 20th, and 0.10 in the
    70th, after which it stayed. Powers of 0.5 to 1 were tried on 35 runs that followed `learn`.

    Examples
    --------
    >>> warming(3).round(2).tolist(), warming(1, before=70).round(2).tolist()
    ([1.0, 0.64, 0.49], [0.06])
    """
    return np.arange(before + 1.0, before + supersteps + 1.0) ** -power


def rows_of_run(run: ClusterRun) -> pd.DataFrame:
    """Return the features and the seconds of each iteration of a run.

    On a local master one process has the threads of all machines, which share its work equally.
    """
    engine, rows = run.record.engine, run.record.rows
    alone = len(np.unique(rows["worker"])) == 1
    local = is_local(str(engine.get("master", ""))) and alone
    shared = run.machines if local else 1
    cores = int(engine.get("cores", 1)) * shared
    rows = rows.take(rows["worker"] == critical_worker(rows))
    seconds = rows.floats("seconds")
    working = np.fmax(np.minimum(rows.floats("task_seconds") / cores, seconds), CLOCK)
    return pd.DataFrame(
        {
            "vertices": rows.floats("total_vertices") / shared,
            "messages": rows.floats("local_messages", "remote_messages") / shared,
            "remote_bytes": rows.floats("remote_message_bytes") / shared,
            "seconds": seconds,
            "working": working,
            "driver": seconds - working,
            "warming": 0.0 if run.before is None else warming(len(rows), run.before),
            # An imported table may lack the column
            "spilled": rows.floats("spilled_bytes") if "spilled_bytes" in rows else 0.0,
        }
    ).fillna(0.0)


def typical_rows(run: ClusterRun) -> pd.DataFrame:
    """Return the rows of a run that did not spill, or all if each did.

    Of a cold run they are from its second half, as the JVM warms up in the first one.
    """
    rows = rows_of_run(run)
    if run.cold:
        rows = rows.iloc[len(rows) // 2 :]
    dry = rows[rows["spilled"] == 0.0]
    return dry if len(dry) else rows


FILE = "reference_runs.json.gz"
"""The file of reference runs in this folder."""

KEPT = "a state that is kept"
"""The name of the reference runs with checkpoints (`--checkpoint`)."""

PROGRAM = "a vertex program"
"""The name of the reference runs that represent all vertex programs."""

# Substitutes for an algorithm without reference runs: one with equal supersteps, one without.
_STEADY, _SPREADING = "pagerank", "connected-components"


def shipped_runs(name: str) -> list[ClusterRun]:
    """Return the bundled sample runs of an algorithm.

    Examples
    --------
    >>> sorted({run.machines for run in shipped_runs("pagerank")})
    [1, 2]
    """
    return [cluster_run(record) for record in shipped_records()[name]]


def shipped_names() -> list[str]:
    """Return the algorithms with reference runs."""
    return [name for name in shipped_records() if name != KEPT]


def shipped_name(algorithm: Algorithm) -> str:
    """Return the algorithm whose reference runs apply: its own, or those of a similar one.

    GraphFrames runs most of its algorithms by GraphX.

    Examples
    --------
    >>> from predict_graph.algorithms import check_algorithm
    >>> shipped_name(check_algorithm("semi-clustering"))
    'semi-clustering'
    >>> shipped_name(check_algorithm("graphframes:pageRank"))
    'graphx:pageRank'
    """
    if isinstance(algorithm, VertexProgram):
        return PROGRAM
    name: str = (getattr(algorithm, "ran_by", None) or algorithm).name
    if name in shipped_names():
        return name
    return _STEADY if algorithm.steady else _SPREADING


@lru_cache(maxsize=1)
def shipped_records() -> dict[str, list[RunRecord]]:
    """Return the runs of each name as history records."""
    packed = files("predict_graph.prediction.seconds.cluster").joinpath(FILE).read_bytes()
    by_algorithm: dict[str, list[RunRecord]] = {}
    for row in json.loads(gzip.decompress(packed)):
        time = datetime.fromisoformat(row.pop("time"))
        rows = Table(row.pop("table"))
        record = RunRecord(kind="sample", rows=rows, time=time, machine="shipped", **row)
        by_algorithm.setdefault(record.algorithm, []).append(record)
    return by_algorithm
