"""Training runs: the sample runs of one prediction on a cluster, stored for later predictions.

The cost of a superstep depends on the algorithm and the cluster, not on the graph: training runs on
one graph serve for others, and for any machine count. Sessions and sample runs take nearly all of
the prediction time on a cluster, which stored training runs save.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from predict_graph.algorithms import Algorithm
from predict_graph.engines import RunProfile, per_iteration
from predict_graph.engines.spark import SparkEngine
from predict_graph.graph.on_cluster import AnyGraph
from predict_graph.history import History, RunRecord, machine_identity
from predict_graph.iterations import SampleSummary
from predict_graph.prediction.run_records import records_of
from predict_graph.prediction.seconds.cluster.sample_runs import REAL, ClusterRun

_NEWEST_RUNS = 20  # limits old data
_MOST_GRAPHS = 5  # newest graphs whose training runs are combined: limits old data
# Parameters that do not affect supersteps.
_STOPPING = ("epsilon", "max_iterations", "tau", "tolerance", "tol", "maxIterations", "maxSteps")


def new_training_run() -> str:
    """Return an identifier for the sample runs of one prediction."""
    return uuid.uuid4().hex


def cluster_settings(engine: SparkEngine) -> dict[str, Any]:
    """Return the settings that must match between runs; the machine count need not.

    Runs in a session of the user, with other settings, are not comparable to ours.
    """
    described = {"session": None, **engine.describe()}
    return {name: described[name] for name in described if name not in ("machines", "workers")}


def training_records(
    run: ClusterRun, training_run: str, graph: AnyGraph, seed: int
) -> list[RunRecord]:
    """Return the history records of a sample run and of the runs that made its input."""
    sample = {
        "sampler": run.summary.sampler,
        "ratio": run.summary.ratio,
        "seed": seed,
        "purpose": run.summary.purpose,
        "training_run": training_run,
        "machines": run.machines,
        "cold": run.cold,
        "opening_seconds": run.session_seconds,
    }
    return [
        replace(record, kind="sample", sample=sample, sample_of=graph.fingerprint)
        for record in records_of(run.profile)
    ]


def recall(
    history: History | None, algorithms: list[Algorithm], engine: SparkEngine, graph: AnyGraph
) -> list[list[ClusterRun]] | None:
    """Return the best training runs for each algorithm of a chain; None if there are none.

    The newest on samples of this graph; else the newest of each of the newest other graphs, which
    separates what differs between graphs from the rest.
    """
    if history is None:
        return None
    found = [_training_runs(history, algorithm, engine) for algorithm in algorithms]
    shared = [name for name in found[0] if all(name in trainings for trainings in found)]
    if not shared:
        return None
    newest: dict[str, str] = {}  # training runs of each graph
    for name in shared:
        newest.setdefault(found[0][name][0].sample_of or "", name)
    own = graph.fingerprint in newest
    chosen = [newest[graph.fingerprint]] if own else [*newest.values()][:_MOST_GRAPHS]
    return [
        [
            cluster_run(run, first=number == 0, elsewhere=not own)
            for name in chosen
            for run in trainings[name]
        ]
        for number, trainings in enumerate(found)
    ]


def real_runs(
    history: History | None, algorithm: Algorithm, engine: SparkEngine, graph: AnyGraph
) -> list[ClusterRun]:
    """Return the newest real runs of an algorithm on a cluster, at any machine count.

    Standalone, YARN and Kubernetes clusters are identified by their master, regardless of the
    driver's machine; local Spark is identified by this machine.
    """
    if history is None:
        return []
    here = machine_identity() if engine.settings.local else None
    found = history.training_runs(
        algorithm.name, cluster_settings(engine), here, limit=_NEWEST_RUNS
    )
    runs = []
    for record in found:
        # A log does not contain the parameters.
        if record.parameters and not same_superstep(record.parameters, algorithm.to_dict()):
            continue
        other = record.fingerprint != graph.fingerprint
        runs.append(cluster_run(record, first=True, elsewhere=other))
    return runs


def _training_runs(
    history: History, algorithm: Algorithm, engine: SparkEngine
) -> dict[str, list[RunRecord]]:
    """Return the runs of each complete training set of an algorithm on a cluster, newest first."""
    found = history.training_runs(
        algorithm.name,
        cluster_settings(engine),
        machine_identity(),
        kinds=("sample",),
    )
    asked = algorithm.to_dict()
    trainings: dict[str, list[RunRecord]] = {}
    for run in found:
        name = (run.sample or {}).get("training_run")
        if name is not None and same_superstep(run.parameters, asked):
            # The history is newest first; this restores execution order.
            trainings.setdefault(name, []).insert(0, run)
    usable = {name: _complete(runs) for name, runs in trainings.items()}
    whole = {name: runs for name, runs in trainings.items() if len(usable[name]) == len(runs)}
    return whole or {name: runs for name, runs in usable.items() if runs}


def same_superstep(parameters: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether supersteps are the same: all parameters except stopping criteria are equal."""
    one, other = (
        {name: value for name, value in each.items() if name not in _STOPPING}
        for each in (parameters, others)
    )
    return one == other


def _complete(runs: list[RunRecord]) -> list[RunRecord]:
    """Return the runs at machine counts that include a run after JVM warm-up.

    An interrupted training set is used as far as it got, unless there is a complete one.
    """
    samples = [run.sample or {} for run in runs]
    warm = {sample["machines"] for sample in samples if not sample["cold"]}
    return [run for run, sample in zip(runs, samples, strict=True) if sample["machines"] in warm]


def cluster_run(record: RunRecord, *, first: bool, elsewhere: bool) -> ClusterRun:
    """Return a run of the history; the first algorithm of a chain includes session start and
    reading.
    """
    sample = dict(record.sample or _as_sample(record))
    machines = int(sample["machines"])
    graph = ("vertices", "edges", "directed", "fingerprint")
    profile = RunProfile(
        algorithm=record.algorithm,
        parameters=record.parameters,
        graph={"name": record.graph, **{name: getattr(record, name) for name in graph}},
        engine=record.engine,
        phases=record.phases if first else {**record.phases, "read": 0.0},
        rows=record.rows,
        convergence=per_iteration(record.rows).floats("convergence"),
        converged=bool(record.converged),
        values=np.empty(0),
    )
    kind = f"{machines} machines{', cold' if sample['cold'] else ''}"
    summary = SampleSummary(
        sampler=str(sample["sampler"]),
        ratio=float(sample["ratio"]),
        vertices=record.vertices,
        edges=record.edges,
        iterations=record.iterations,
        seconds=0.0,
        purpose=str(sample["purpose"]),
        note=f"{kind}, run on {record.time:%F}",
    )
    opening = float(sample["opening_seconds"]) if first else 0.0
    return ClusterRun(
        machines,
        summary.ratio,
        bool(sample["cold"]),
        opening,
        profile,
        summary,
        again=True,
        elsewhere=elsewhere,
        seen_by_log=not record.parameters and record.converged is None,
        time=record.time,
    )


def _as_sample(record: RunRecord) -> dict[str, Any]:
    """Return a real run in the form of a sample of the whole graph in its own session."""
    return {
        "sampler": "none",
        "ratio": 1.0,
        "purpose": REAL,
        "machines": int(record.engine["machines"]),
        "cold": True,
        "opening_seconds": 0.0,  # included in its setup
    }
