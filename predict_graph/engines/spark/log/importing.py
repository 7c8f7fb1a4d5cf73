"""The run of a user's Spark job, from its event log to a record of the history."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from predict_graph.algorithms import SPARK_LIBRARIES
from predict_graph.durations import counted
from predict_graph.engines.spark.log.eventlog import DAMAGED, EventLog, read_event_log
from predict_graph.engines.spark.log.features import observed_phases, observed_table
from predict_graph.engines.spark.recognition import supersteps as recognition
from predict_graph.engines.spark.session.settings import described, is_local, memory_text
from predict_graph.errors import RequestError, described_error
from predict_graph.history.record import RunRecord
from predict_graph.table import Table


def record_of_log(
    path: str | os.PathLike[str],
    *,
    algorithm: str | None = None,
    graph: str | None = None,
    vertices: int | None = None,
    edges: int | None = None,
    run: str | None = None,
) -> tuple[RunRecord, recognition.Recognised]:
    """Read the event log of a Spark job and recognise its supersteps: those of `run`, or of the
    longest run.

    The algorithm is named after the run or else the application. A log does not have the sizes of
    the graph. The same log results in the same `uid` of the record.
    """
    for name, size in (("vertices", vertices), ("edges", edges)):
        if size is not None and size < 1:
            raise RequestError(f"{name} is {size}; accepted: at least 1")
    log = read_event_log(Path(path))
    if log.tasks.empty:
        raise RequestError(f"the event log {path} has no tasks: nothing ran, or it was cut off")
    try:
        runs = recognition.named_runs(log)
        by_library = not (run or runs) and str(algorithm).partition(":")[0] in SPARK_LIBRARIES
        found = recognition.by_messages(log, str(algorithm)) if by_library else None
        found = found or recognition.recognise(log, run=run)
        if log.unread:
            said = f"{found.reason}, but {counted(log.unread, 'lines')} of the log cannot be read"
            found = replace(found, certainty="doubtful", reason=said)
        began = float(log.application.get("started") or log.jobs["started"].min())
        named = found.name if found.by == "names" else ""
        engine = _engine(log, found)
        for each in runs:
            if began < each.finished <= found.started:  # the session was open, and its Java warm
                began, engine["follows"] = each.finished, each.algorithm
        log = replace(log, application={**log.application, "started": began})
        record = RunRecord(
            kind="run",
            algorithm=algorithm or found.algorithm or str(log.application.get("name", "spark job")),
            parameters={},
            graph=graph or "unknown",
            fingerprint=_digest("graph", graph or "unknown", vertices, edges),
            vertices=vertices or 0,
            edges=edges or 0,
            directed=True,
            engine=engine,
            phases=observed_phases(log, found),
            iterations=found.iterations,
            converged=None,
            rows=Table(observed_table(log, found, vertices or 0)),
            machine=f"Spark executors on {counted(log.tasks['host'].nunique(), 'hosts')}",
            time=datetime.fromtimestamp(began, UTC),
            uid=_digest("spark", log.application.get("id"), began, named),
        )
        return record, found
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from error
    except (*DAMAGED, OSError) as error:
        said = f"the event log {path} is not as Spark writes it"
        raise RequestError(f"{said}: {described_error(error)}") from error


def _engine(log: EventLog, found: recognition.Recognised) -> dict[str, Any]:
    """Return the settings of the job, as our own engine describes itself."""
    conf = log.conf
    master = conf.get("spark.master", "unknown")
    busy = log.executors[log.executors["executor"].isin(log.tasks["executor"].unique())]
    cores = int(busy["cores"].max()) if len(busy) else int(conf.get("spark.executor.cores", "1"))
    machines, memory = log.tasks["executor"].nunique(), "spark.executor.memory"
    if is_local(master):  # one process, whose threads count as machines
        machines, cores, memory = cores, 1, "spark.driver.memory"
    partitions = conf.get("spark.default.parallelism") or conf.get("spark.sql.shuffle.partitions")
    per_core = int(partitions) // (machines * cores) if partitions else 1
    lost = int(log.executors["removed"].between(found.started, found.finished).sum())
    resources = (machines, cores, memory_text(conf.get(memory, "1g")))
    return described(master, resources, lost, partitions_per_core=max(per_core, 1))


def _digest(*parts: object) -> str:
    text = "\0".join(str(part) for part in parts)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
