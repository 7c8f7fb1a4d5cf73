"""Past jobs of a cluster: measured tables from which a model learns what to expect of the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from costmodels.scaling.points import Points, gather_points
from costmodels.scaling.priors import learn_prior
from costmodels.scaling.shapes import Prior
from predict_graph.errors import RequestError
from predict_graph.sizing.fitting.typed_runs import type_columns
from predict_graph.sizing.measuring.measurements import (
    OWN_COLUMNS,
    TYPE_NAMES,
    JobRun,
    job_runs,
    measured_columns,
    same_value,
)
from predict_graph.sizing.measuring.outcomes import outcome_columns
from predict_graph.sizing.planning.candidates import MachineType
from predict_graph.sizing.table_file import Row, TextTable, name_key, read_table

JOB_NAMES = ("job", "workload", "application", "program", "task")


@dataclass(frozen=True)
class PastJobs:
    """Past jobs of a history.

    Attributes
    ----------
    jobs : dict of str to list of Points
        Contexts of each job.
    warnings : tuple of str
    """

    jobs: dict[str, list[Points]]
    warnings: tuple[str, ...]

    def prior(self) -> Prior | None:
        """Return what these jobs have in common; None when there are none to learn from."""
        try:
            return learn_prior(self.jobs) if self.jobs else None
        except ValueError:
            return None


def read_past_jobs(
    paths: Sequence[Path], types: Mapping[str, MachineType] | None = None
) -> PastJobs:
    """Read the runs of past jobs.

    A column ``job``, ``workload``, ``application``, ``program`` or ``task`` identifies jobs; else
    each file is one. Where the types are known, those of a job are taken together, with their cores
    and memory; else each type, and each setting of other columns, is a context of its own.

    Parameters
    ----------
    paths : sequence of Path
        Tables as :func:`read_measurements` reads them.
    types : mapping of str to MachineType, optional

    Raises
    ------
    RequestError
        If a file cannot be read, or none of its runs succeeded.
    """
    jobs: dict[str, list[Points]] = {}
    said: list[str] = []
    for path in paths:
        table = read_table(path)
        found, warning = _jobs(table, table.rows, types)
        for name, sets in found.items():
            jobs.setdefault(f"{path}: {name}", []).extend(sets)
        if warning:
            said.append(warning)
    return PastJobs(jobs, tuple(said))


def rest_of_file(
    path: Path,
    where: Mapping[str, str],
    columns: Mapping[str, str],
    types: Mapping[str, MachineType] | None = None,
) -> PastJobs:
    """Return the rows that ``--where`` left out, as past jobs of the same cluster."""
    table = read_table(path)
    rest = [
        row
        for row in table.rows
        if any(not same_value(row.cells[name], v) for name, v in where.items())
    ]
    found, _ = _jobs(table, rest, types, columns)
    return PastJobs({f"{path}: {name}": sets for name, sets in found.items()}, ())


def _jobs(
    table: TextTable,
    rows: Sequence[Row],
    types: Mapping[str, MachineType] | None,
    columns: Mapping[str, str] | None = None,
) -> tuple[dict[str, list[Points]], str | None]:
    names = measured_columns(table) if columns is None else columns
    done = [run for run in job_runs(table, names, rows)[0] if run.outcome == "ok"]
    kind_name, job_name = table.find(TYPE_NAMES), table.find(JOB_NAMES)
    warning = None
    pooled = types is not None and kind_name is not None
    if types is not None and kind_name is not None:
        known = [run for run in done if run.machine_type in types]
        if not known and done:
            theirs = ", ".join(sorted({str(run.machine_type) for run in done})[:5])
            return {}, (
                f"{table.path} was measured on {theirs}, which no candidate is: it is taken for "
                "the history of another cluster and not used"
            )
        if len(known) < len(done):
            unknown = sorted({str(run.machine_type) for run in done} - set(types))
            warning = (
                f"{len(done) - len(known)} runs of {table.path} are on {', '.join(unknown[:5])}, "
                "which is no candidate; they are left out"
            )
        done = known
    keys = [name for name in (job_name, None if pooled else kind_name) if name is not None]
    others = [
        name
        for name in table.columns
        if name not in {*names.values(), *OWN_COLUMNS, *outcome_columns(table)}
        and name_key(name) not in map(name_key, (*TYPE_NAMES, *JOB_NAMES))
    ]
    finer = _groups(done, [*keys, *others])
    groups = finer if _useful(finer) >= len(done) / 2 else _groups(done, keys)
    found: dict[str, list[Points]] = {}
    for group in groups:
        job = group[0].row.cells[job_name] if job_name is not None else "the job"
        kinds = [str(run.machine_type) for run in group] if pooled else []
        measured = type_columns(
            np.array([run.scale for run in group]),
            np.array([run.machines for run in group]),
            kinds,
            types if pooled and types else {},
        )
        seconds = np.array([run.seconds for run in group])
        if len(np.unique(measured["machines"])) > 1:
            found.setdefault(job, []).append(gather_points(measured, seconds))
    return found, warning


def _groups(runs: Sequence[JobRun], keys: Sequence[str]) -> list[list[JobRun]]:
    found: dict[tuple[str, ...], list[JobRun]] = {}
    for run in runs:
        found.setdefault(tuple(run.row.cells[key] for key in keys), []).append(run)
    return list(found.values())


def _useful(groups: Sequence[Sequence[JobRun]]) -> int:
    """Return how many runs are in groups with two machine counts or more."""
    return sum(len(group) for group in groups if len({run.machines for run in group}) > 1)


def check_taught(past: PastJobs, paths: Sequence[Path]) -> None:
    """Refuse a history that was asked for and has nothing to teach.

    Raises
    ------
    RequestError
        If no job has runs at two machine counts, and no warning says why.
    """
    if not past.jobs and not past.warnings:
        named = ", ".join(str(path) for path in paths)
        raise RequestError(
            f"no job in {named} was measured at two machine counts, so the history teaches "
            "nothing; accepted: tables of measured runs of past jobs"
        )
