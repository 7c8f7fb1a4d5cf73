"""Runs on a Spark cluster, as the history keeps them: sample runs, real runs and event logs.

The cost of a superstep depends on the algorithm and the cluster, not on the graph: runs on one
graph serve for others, and for any machine count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile, per_iteration
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph import Graph
from predict_graph.history import History, RunRecord, machine_identity
from predict_graph.iterations import SampleSummary
from predict_graph.prediction.run_records import records_of

WARM_UP = "warm-up"
"""Purpose of runs that warm up the JVM, and measure the warm-up."""
REAL = "run"
"""Purpose of real runs on whole graphs."""
_CLUSTER = ("name", "master", "cores", "session")  # by definition: settings that identify a cluster
# Parameters that do not affect supersteps.
_STOPPING = ("epsilon", "max_iterations", "tau", "tolerance", "tol", "maxIterations", "maxSteps")


@dataclass(frozen=True)
class ClusterRun:
    """A run on the cluster."""

    machines: int
    cold: bool
    session_seconds: float
    profile: RunProfile
    summary: SampleSummary
    again: bool = False
    elsewhere: bool = False
    seen_by_log: bool = False
    combined: float = 0.0
    """Messages combined by vertex and partition, if each edge of its graph carries one."""

    @property
    def edges(self) -> int:
        """The edges of its graph, or of its sample."""
        return int(self.profile.graph["edges"])

    @property
    def edge_visits(self) -> float:
        """The edges processed over all iterations; 0 if it was not run for this prediction."""
        return 0.0 if self.again else float(self.summary.edges * self.summary.iterations)

    @property
    def real(self) -> bool:
        """Whether it is a real run rather than a sample run."""
        return self.summary.purpose == REAL

    @property
    def informative(self) -> bool:
        """Whether its supersteps show usual costs: those of real runs and of warm sample runs."""
        return self.real or (not self.cold and self.summary.purpose != WARM_UP)

    @property
    def disturbed(self) -> bool:
        """Whether the run lost an executor, so that its times are not representative."""
        return int(self.profile.engine.get("executors_lost", 0)) > 0


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
    history: History | None, engine: SparkEngine, name: str, graph: Graph | None = None
) -> list[ClusterRun]:
    """Return the newest undisturbed runs of an algorithm on a cluster, in order of execution.

    Standalone, YARN and Kubernetes clusters are identified by their master, regardless of the
    driver's machine; local Spark is identified by this machine.
    """
    if history is None:
        return []
    here = machine_identity() if engine.settings.local else None
    settings = cluster_settings(engine)
    found = history.training_runs(
        name,
        {key: settings[key] for key in _CLUSTER},
        here,
        kinds=("run", "sample"),
    )
    runs = [cluster_run(record, graph) for record in reversed(found)]
    return [run for run in runs if not run.disturbed]


def runs_of_job(
    history: History | None, engine: SparkEngine, algorithm: Algorithm, graph: Graph
) -> list[ClusterRun]:
    """Return those with the settings of an engine, and the supersteps of an algorithm."""
    settings, own = cluster_settings(engine), _of_supersteps(algorithm.to_dict())
    return [
        run
        for run in cluster_runs(history, engine, algorithm.name, graph)
        if all(run.profile.engine.get(name) == value for name, value in settings.items())
        and (run.seen_by_log or _of_supersteps(run.profile.parameters) == own)
    ]


def _of_supersteps(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters except stopping criteria."""
    return {name: value for name, value in parameters.items() if name not in _STOPPING}


def sample_records(run: ClusterRun, graph: Graph, seed: int) -> list[RunRecord]:
    """Return the history records of a sample run and of the runs that made its input."""
    sample = {
        "sampler": run.summary.sampler,
        "ratio": run.summary.ratio,
        "seed": seed,
        "purpose": run.summary.purpose,
        "machines": run.machines,
        "cold": run.cold,
        "opening_seconds": run.session_seconds,
    }
    return [
        replace(record, kind="sample", sample=sample, sample_of=graph.fingerprint)
        for record in records_of(run.profile)
    ]


def cluster_run(record: RunRecord, graph: Graph | None = None) -> ClusterRun:
    """Return a run of the history; one of another graph than `graph` is from elsewhere."""
    sample = record.sample or {
        "sampler": "none",
        "ratio": 1.0,
        "purpose": REAL,
        "machines": record.engine["machines"],
        "cold": True,
        "opening_seconds": 0.0,  # included in its setup
    }
    machines, cold = int(sample["machines"]), bool(sample["cold"])
    described = ("vertices", "edges", "directed", "fingerprint")
    profile = RunProfile(
        algorithm=record.algorithm,
        parameters=record.parameters,
        graph={"name": record.graph, **{name: getattr(record, name) for name in described}},
        engine=record.engine,
        phases=record.phases,
        rows=record.rows,
        convergence=per_iteration(record.rows).floats("convergence"),
        converged=bool(record.converged),
        values=np.empty(0),
    )
    summary = SampleSummary(
        sampler=str(sample["sampler"]),
        ratio=float(sample["ratio"]),
        vertices=record.vertices,
        edges=record.edges,
        iterations=record.iterations,
        seconds=0.0,
        purpose=str(sample["purpose"]),
        note=f"{machines} machines{', cold' if cold else ''}, run on {record.time:%F}",
    )
    source = record.sample_of if record.sample else record.fingerprint
    return ClusterRun(
        machines,
        cold,
        float(sample["opening_seconds"]),
        profile,
        summary,
        again=True,
        elsewhere=graph is None or source != graph.fingerprint,
        # A log has neither parameters nor a convergence test.
        seen_by_log=not record.parameters and record.converged is None,
    )
