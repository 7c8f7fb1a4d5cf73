"""Past jobs of a cluster: measured tables from which a model learns what to expect of the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from costmodels.scaling.points import Points, gather_points
from costmodels.scaling.priors import learn_prior
from costmodels.scaling.shapes import Prior
from predict_graph.errors import RequestError
from predict_graph.sizing.fitting.typed_runs import arrays, type_columns
from predict_graph.sizing.measuring.measurements import (
    OWN_COLUMNS,
    TYPE_NAMES,
    job_runs,
    measured_columns,
    same_values,
)
from predict_graph.sizing.measuring.outcomes import outcome_columns
from predict_graph.sizing.planning.candidates import MachineType
from predict_graph.sizing.table_file import TextTable, name_key, read_table

JOB_NAMES = ("job", "workload", "application", "program", "task")


@dataclass(frozen=True)
class PastJobs:
    """Past jobs of a history."""

    # Contexts of each job.
    jobs: dict[str, list[Points]]
    warnings: tuple[str, ...] = ()

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
    """
    jobs: dict[str, list[Points]] = {}
    said: list[str] = []
    for path in paths:
        found, warnings = _jobs(read_table(path), types)
        for name, sets in found.items():
            jobs.setdefault(f"{path}: {name}", []).extend(sets)
        said += warnings
    if not jobs and not said:
        named = ", ".join(str(path) for path in paths)
        raise RequestError(
            f"no job in {named} was measured at two machine counts, so the history teaches "
            "nothing; accepted: tables of measured runs of past jobs"
        )
    return PastJobs(jobs, tuple(said))


def rest_of_file(
    path: Path,
    where: Mapping[str, str],
    columns: Mapping[str, str],
    types: Mapping[str, MachineType] | None = None,
) -> PastJobs:
    """Return the rows that ``--where`` left out, as past jobs of the same cluster."""
    table = read_table(path)
    chosen = pd.concat([same_values(table.cells[n], v) for n, v in where.items()], axis=1)
    rest = table.cells.index[~chosen.all(axis=1)]
    return PastJobs(_jobs(table, types, columns, rest)[0])


def _jobs(
    table: TextTable,
    types: Mapping[str, MachineType] | None,
    columns: Mapping[str, str] | None = None,
    rows: pd.Index | None = None,
) -> tuple[dict[str, list[Points]], list[str]]:
    names = measured_columns(table) if columns is None else columns
    runs, _ = job_runs(table, names, rows)
    done = runs[runs["outcome"] == "ok"]
    kind_name, job_name = table.find(TYPE_NAMES), table.find(JOB_NAMES)
    warnings = []
    pooled = types if kind_name is not None else None
    if pooled is not None:
        known = done[done["machine_type"].isin(list(pooled))]
        unknown = ", ".join(sorted(set(done["machine_type"]) - set(pooled))[:5])
        if known.empty and len(done):
            return {}, [
                f"{table.path} was measured on {unknown}, which no candidate is: it is taken for "
                "the history of another cluster and not used"
            ]
        if unknown:
            warnings.append(
                f"{len(done) - len(known)} runs of {table.path} are on {unknown}, "
                "which is no candidate; they are left out"
            )
        done = known
    keys = [name for name in (job_name, None if pooled else kind_name) if name is not None]
    own = {*names.values(), *OWN_COLUMNS, *outcome_columns(table)}
    others = [
        name
        for name in table.columns
        if name not in own and name_key(name) not in map(name_key, (*TYPE_NAMES, *JOB_NAMES))
    ]
    cells = table.cells.loc[done.index]
    finer = _contexts(done, cells, [*keys, *others])
    contexts = finer if sum(map(len, finer)) >= len(done) / 2 else _contexts(done, cells, keys)
    found: dict[str, list[Points]] = {}
    for context in contexts:
        job = str(cells.at[context.index[0], job_name]) if job_name else "the job"
        measured = arrays(type_columns(context, pooled or {}))
        found.setdefault(job, []).append(gather_points(measured, context["seconds"]))
    return found, warnings


def _contexts(done: pd.DataFrame, cells: pd.DataFrame, keys: Sequence[str]) -> list[pd.DataFrame]:
    """Return the runs by their texts in some columns, as far as there are two machine counts."""
    groups = cells.groupby(list(keys), sort=False).groups.values() if keys else [cells.index]
    found = [done.loc[lines] for lines in groups]
    return [runs for runs in found if runs["machines"].nunique() > 1]
