"""A run that someone else's Spark job left behind in its event log, as the history keeps it."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import re
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from predict_graph.errors import RequestError
from predict_graph.history.machine import machine_identity
from predict_graph.history.record import RunRecord
from predict_graph.table import Table

if TYPE_CHECKING:
    from predict_graph.engines.spark.log.eventlog import EventLog
    from predict_graph.engines.spark.recognition import Recognised

__all__ = ["record_of_log"]

_OUR_RUN = re.compile(r"(.+)-[0-9a-f]{8}$")


def record_of_log(
    path: str | os.PathLike[str],
    *,
    algorithm: str | None = None,
    graph: str | None = None,
    vertices: int | None = None,
    edges: int | None = None,
    run: str | None = None,
) -> tuple[RunRecord, Recognised]:
    """Read the event log of a Spark job and recognise its supersteps.

    Parameters
    ----------
    path : path
        A log, or the folder of a rolled one.
    algorithm : str, optional
        What the history calls it; by default as the run is called if job groups name it, else as
        the application is.
    graph : str, optional
        Name of the graph; ``unknown`` by default.
    vertices, edges : int, optional
        Of the graph; 0 by default, as a log does not know.
    run : str, optional
        Of several runs that job groups name, this one; the longest by default.

    Returns
    -------
    record : RunRecord
        Its `uid` comes from the application, so that the same log is the same run.
    found : Recognised

    Raises
    ------
    RequestError
        If it is no event log, or shows no supersteps.
    """
    from pathlib import Path

    from predict_graph.engines.spark.log.eventlog import read_event_log
    from predict_graph.engines.spark.recognition import recognise

    for name, size in (("vertices", vertices), ("edges", edges)):
        if size is not None and size < 1:
            raise RequestError(f"{name} is {size}; accepted: at least 1")
    log = read_event_log(Path(path))
    if log.tasks.empty:
        raise RequestError(f"the event log {path} has no tasks: nothing ran, or it was cut off")
    try:
        found = recognise(log, run=run)
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from error
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise _not_as_written(path, error) from error
    try:
        return _record(log, found, algorithm, graph, vertices, edges), found
    except RequestError:
        raise
    except (LookupError, TypeError, ValueError, ArithmeticError, OSError) as error:
        raise _not_as_written(path, error) from error


def _not_as_written(path: str | os.PathLike[str], error: Exception) -> RequestError:
    return RequestError(
        f"the event log {path} is not as Spark writes it: {type(error).__name__}: {error!s:.100}"
    )


def _record(
    log: EventLog,
    found: Recognised,
    algorithm: str | None,
    graph: str | None,
    vertices: int | None,
    edges: int | None,
) -> RunRecord:
    from predict_graph.engines.spark.recognition import observed_phases, observed_table

    application = dict(log.application)
    name = graph or "unknown"
    began = float(application.get("started") or found.started)
    return RunRecord(
        kind="run",
        algorithm=algorithm or _algorithm(found, application),
        parameters={},
        graph=name,
        fingerprint=_digest("graph", name, vertices, edges),
        vertices=vertices or 0,
        edges=edges or 0,
        directed=True,
        engine=_engine(log, found),
        phases=observed_phases(log, found),
        iterations=found.iterations,
        converged=None,
        rows=Table(observed_table(log, found, vertices or 0)),
        machine=_machine(log),
        time=datetime.fromtimestamp(began, UTC),
        uid=_digest(
            "spark", application.get("id"), began, found.name if found.by == "names" else ""
        ),
    )


def _algorithm(found: Recognised, application: Mapping[str, Any]) -> str:
    if found.by == "names":
        ours = _OUR_RUN.match(found.name)
        return ours.group(1) if ours else found.name
    return str(application.get("name") or "spark job")


def _engine(log: EventLog, found: Recognised) -> dict[str, Any]:
    """Return the settings that our own engine would describe itself by."""
    conf = log.conf
    master = conf.get("spark.master", "unknown")
    local = master == "local" or master.startswith("local[")
    busy = log.executors[log.executors["executor"].isin(log.tasks["executor"].unique())]
    cores = int(busy["cores"].max()) if len(busy) else int(conf.get("spark.executor.cores", "1"))
    machines = log.tasks["executor"].nunique()
    if local:
        machines, cores = cores, 1  # one process, whose threads count as machines
    partitions = conf.get("spark.default.parallelism") or conf.get("spark.sql.shuffle.partitions")
    per_core = int(partitions) // (machines * cores) if partitions else 1
    return {
        "name": "spark",
        "master": "local" if local else master,
        "machines": machines,
        "cores": cores,
        "memory": conf.get("spark.executor.memory", "1g"),
        "partitions_per_core": max(per_core, 1),
        "workers": machines,
        "executors_lost": _lost(log, found),
    }


def _lost(log: EventLog, found: Recognised) -> int:
    """Return how many executors went away between the first superstep and the end of the last."""
    removed = log.executors["removed"]
    return int(((removed >= found.started) & (removed < found.finished)).sum())


def _machine(log: EventLog) -> str:
    """Return this machine if all executors ran on it; a log does not know their processors."""
    hosts = sorted(set(log.tasks["host"]))
    if all(_is_here(host) for host in hosts):
        return machine_identity()
    return f"Spark executors on {len(hosts)} host{'s' if len(hosts) > 1 else ''}"


def _is_here(host: str) -> bool:
    if host in ("localhost", socket.gethostname()) or host.startswith("127."):
        return True
    try:
        with socket.socket() as own:
            own.bind((str(ipaddress.ip_address(host)), 0))  # only addresses of this machine can be
    except (OSError, ValueError):
        return False
    return True


def _digest(*parts: object) -> str:
    text = "\0".join(str(part) for part in parts)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
