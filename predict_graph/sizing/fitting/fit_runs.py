"""Fitting a model to runs: of a table, or again to those of a model file."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.special import bdtr

from costmodels.scaling import SCALING_MODELS, shipped_prior
from costmodels.scaling.points import Points, gather_points
from costmodels.scaling.pooled import PooledLaw, fit_pooled
from costmodels.scaling.priors import MOST_CONTEXTS, learn_prior, prior_from_plain
from costmodels.scaling.shapes import Prior
from predict_graph.documents import usable
from predict_graph.durations import counted
from predict_graph.errors import RequestError, unknown_name
from predict_graph.sizing.fitting.model import MODEL, JobModel
from predict_graph.sizing.measuring.measurements import RUN_COLUMNS, Measurements, measurements_of
from predict_graph.sizing.planning import candidates
from predict_graph.sizing.planning.candidates import MachineType, Types
from predict_graph.sizing.quantities import check_count
from predict_graph.sizing.table_file import TextTable, read_table
from predict_graph.sizing.tasks.model import TaskModel, fit_task, read_runs
from predict_graph.texts import named_values

# Options that not every scaling model reads; models of tasks read none of them.
READ_BY = {
    "weights": ("ernest", "masha"),
    "terms": ("ernest", "masha"),
    "history": ("auto",),
    "types": ("auto",),
}
JOB_NAMES = ("job", "workload", "application", "program", "task")


def fit(
    runs: pd.DataFrame | Mapping[str, Any] | Sequence[Any] | str | PathLike[str],
    model: str = "auto",
    *,
    scale_column: str | None = None,
    machines_column: str | None = None,
    seconds_column: str | None = None,
    type_column: str | None = None,
    where: Mapping[str, Any] | Sequence[str] | str | None = None,
    weights: str = "relative",
    terms: Sequence[str] = (),
    iterations: int | None = None,
    history: Sequence[str | PathLike[str]] | str | PathLike[str] | None = None,
    types: Types | str | PathLike[str] | None = None,
) -> JobModel | TaskModel:
    """Fit a model to measured runs of a job.

    Parameters
    ----------
    runs : DataFrame, path, or what pandas makes a DataFrame of
        One row a run, with machines, seconds and maybe the scale.
    model : str, default "auto"
        ``auto``, ``ernest`` or ``masha``; ``nimo`` for runs of a task on unlike machines.
    scale_column, machines_column, seconds_column, type_column : str, optional
        Names of the columns; inferred by default. ``"none"`` for a scale that no column has.
    where : mapping or texts, optional
        Only rows with these values of columns: ``{"k": 5}``, ``"k=5"`` or several of these.
    weights, terms, iterations
        As for :func:`~predict_graph.sizing.fit_job`.
    history : path or sequence of paths, or "none", optional
        For ``auto``: runs of past jobs of the cluster; by default the rows that `where` leaves out.
    types : mapping of str to MachineType, or path, optional
        For ``auto``: machine types, whose runs one model joins.

    Returns
    -------
    JobModel, or TaskModel for ``nimo``

    Raises
    ------
    RequestError
        If the table or an option cannot be used, or there are too few runs.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"machines": [1, 2, 4, 8], "seconds": [90.0, 50.0, 30.0, 20.0]})
    >>> fitted = fit(runs, "ernest")
    >>> round(float(fitted.seconds(1.0, 4)[0]))
    30
    """
    table = read_table(runs) if isinstance(runs, str | PathLike) else TextTable.of(runs)
    columns: dict[str, str | None] = {"scale": scale_column, "machines": machines_column}
    columns |= {"seconds": seconds_column, "type": type_column}
    options: dict[str, Any] = {"terms": terms, "iterations": iterations}
    if model.startswith("nimo"):
        named = {f"{what}-column": name for what, name in columns.items()}
        others = {"where": where, "history": history, "types": types}
        check_read(model, **named, **options, **others, weights=weights != "relative")
        seen, unseen = read_runs(table)
        return replace(fit_task(seen, model, table.path.name), warnings=unseen)
    if not isinstance(where, Mapping):
        texts = [where] if isinstance(where, str) else where
        where = named_values(texts, "where", "NAME=VALUE, such as machine_type=m4.2xlarge")
    conditions = {name: str(value) for name, value in where.items()}
    measured = measurements_of(table, columns, conditions)
    kinds = candidates.read_types(types) if isinstance(types, str | PathLike) else types
    past = PastJobs()
    if history is not None:
        paths = [history] if isinstance(history, str | PathLike) else [*history]
        check_read(model, history=paths)
        if [*map(str, paths)] != ["none"]:
            past = past_jobs(paths, kinds, **columns)
    elif model == "auto" and conditions:
        # The rows that were left out, as past jobs of the same cluster.
        same = columns | measured.columns
        try:
            past.add(table, measurements_of(table, same, conditions, others=True), kinds)
        except RequestError as error:
            past.warnings.append(f"{error}; the rows that --where leaves out are not used")
    fitted = fit_job(measured, model, weights=weights, prior=past.prior, types=kinds, **options)
    return replace(fitted, warnings=(*fitted.warnings, *past.warnings))


def fit_job(
    measurements: Measurements,
    model: str = "auto",
    *,
    weights: str = "relative",
    terms: Sequence[str] = (),
    iterations: int | None = None,
    prior: Prior | None = None,
    types: Types | None = None,
) -> JobModel:
    """Fit a scaling model to measured runs.

    Parameters
    ----------
    measurements : Measurements
    model : str, default "auto"
        A name of :data:`costmodels.scaling.SCALING_MODELS`.
    weights : {"relative", "none"}, default "relative"
        Whether relative errors or seconds are minimised.
    terms : sequence of str, optional
        Terms of the library added to ``ernest`` or ``masha``.
    iterations : int, optional
        Iterations of each measured run; a plan for another number scales the time (Ernest,
        section 6.2).
    prior : Prior, optional
        For ``auto``: of past jobs of the cluster; by default that of the package.
    types : mapping of str to MachineType, optional
        For ``auto``: cores and memory of the machine types of the runs, which join all types in one
        model.

    Returns
    -------
    JobModel

    Raises
    ------
    RequestError
        If an option is wrong, or the runs are too few for the model.
    """
    if model not in SCALING_MODELS:
        raise unknown_name("model", model, SCALING_MODELS)
    check_read(model, weights=weights != "relative", terms=terms, history=prior, types=types)
    if iterations is not None:
        iterations = check_count("iterations are", iterations)
    path = measurements.path
    if measurements.done.empty:
        raise RequestError(
            f"none of the {len(measurements.runs)} runs in {path} succeeded, so there is nothing "
            "to fit"
        )
    if types is not None:
        measurements = candidates.of_types(measurements, types)
    auto, kinds = model == "auto", dict(types or {})
    options: dict[str, Any] = {"prior": prior} if auto else {"weights": weights}
    if terms:
        options["extra_terms"] = (terms,) if isinstance(terms, str) else tuple(terms)
    runs = measurements.of("ok", "timeout") if auto else measurements.done
    ended = {"ended": runs["outcome"] == "timeout"} if auto else {}
    try:
        estimator = pkgutil.resolve_name(SCALING_MODELS[model])(**options)
        configurations = pd.DataFrame(candidates.columns_of(runs, kinds))
        estimator.fit(configurations, runs["seconds"].to_numpy(), **ended)
    except ValueError as error:
        why = "; ".join((str(error).partition("\n")[0], *measurements.notes))
        raise RequestError(f"{model} cannot be fitted to {path}: {why}") from error
    misfit = _misfit(estimator, measurements, kinds)
    cliffs = {str(cliff): cliff.sentence(measurements.unit) for cliff in estimator.cliffs_}
    warnings = [*([misfit] if misfit else []), *measurements.warnings]
    if late := len(measurements.of("timeout")):
        what = "counted as longer than that" if auto else "left out"
        warnings.append(f"{counted(late)} of {path.name} ended by a timeout: {what}")
    return JobModel(
        name=model,
        estimator=estimator,
        measurements=measurements,
        machine_type=measurements.machine_type if types is None else None,
        iterations=iterations,
        warnings=(*warnings, *(cliffs.get(text, text) for text in estimator.warnings_)),
        types=kinds,
        misfit=misfit,
    )


def check_read(model: str, **given: Any) -> None:
    """Refuse options that a model does not read."""
    for name, value in given.items():
        readers = READ_BY.get(name, SCALING_MODELS)
        if value and model not in readers:
            raise RequestError(
                f"{name} is no option of the model {model!r}; accepted with: {', '.join(readers)}"
            )


def _misfit(estimator: Any, measured: Measurements, types: Types) -> str | None:
    """Say so if the 90% intervals hold too few of the runs that the model was fitted to.

    The binomial test of Kupiec (1995): Techniques for verifying the accuracy of risk measurement
    models, Journal of Derivatives 3(2), at its 5% level.
    """
    done = measured.done
    low, high = estimator.predict_interval(pd.DataFrame(candidates.columns_of(done, types)), 0.9).T
    inside = int(done["seconds"].between(low, high).sum())
    if bdtr(inside, len(done), 0.9) > 0.05:
        return None
    unseen = " or ".join(repr(name) for name in measured.varying) or "something not in the table"
    return (
        f"the model does not fit: its 90% intervals hold {inside} of {len(done)} runs; {unseen} "
        "may explain the others"
    )


def load_model(path: str | PathLike[str], content: Any = None) -> JobModel:
    """Read a model, unless its content was read: it is fitted again, by the same steps.

    Raises
    ------
    RequestError
        If the file is missing, no model, of a newer version, or was changed after it was written.
    """
    document = MODEL.read(path, content)
    with usable(path, "model"):
        prior = document["prior"]
        runs = pd.DataFrame(document["runs"], document["lines"])[list(RUN_COLUMNS)]
        runs = runs.astype(dict.fromkeys(RUN_COLUMNS[:3], float))
        about = document["columns"], Path(document["source"]), document["varying"]
        measured = Measurements(runs, *about, tuple(document["notes"]))
        fitted = fit_job(
            measured,
            document["model"],
            prior=prior and replace(prior_from_plain(prior), parent=shipped_prior()),
            types={kind["name"]: MachineType(**kind) for kind in document["types"]} or None,
            **{name: document[name] for name in ("weights", "terms", "iterations")},
        )
        return replace(fitted, warnings=tuple(document["warnings"]))


@dataclass(frozen=True)
class PastJobs:
    """Measured runs of the past jobs of a cluster; `like` names the one that is most similar."""

    jobs: dict[str, list[Points]] = field(default_factory=dict)  # contexts of each
    warnings: list[str] = field(default_factory=list)
    like: str | None = None

    @cached_property
    def prior(self) -> Prior | None:
        """What they have in common; None without any."""
        return learn_prior(self.jobs) if self.jobs else None

    @cached_property
    def priors(self) -> list[Prior]:
        """What is expected of another job, before it runs."""
        return (self.prior or shipped_prior()).with_parent

    @cached_property
    def laws(self) -> list[PooledLaw]:
        """Those of the most similar job, at each size and setting; none without such a job."""
        sets = [] if self.like is None else sorted(self.jobs[self.like], key=len, reverse=True)
        return [fit_pooled(points, self.priors) for points in sets[:MOST_CONTEXTS]]

    def add(self, table: TextTable, measured: Measurements, types: Types | None) -> None:
        """Add the jobs of a table: where the types are known, those of a job taken together.

        Without a column of jobs it is one, with the name of the file, or its path if that is taken.
        """
        kind_name, job_name = measured.type_column, table.find(JOB_NAMES)
        name = str(table.path) if table.path.stem in self.jobs else table.path.stem
        pooled = types if kind_name is not None else None
        if pooled:
            notes = len(measured.notes)
            try:
                measured = candidates.of_types(measured, pooled)
            except RequestError as error:
                said = "it is taken for the history of another cluster and not used"
                self.warnings.append(f"{error}; {said}")
                return
            self.warnings.extend(measured.notes[notes:])
        done = measured.done
        keys = [name for name in (job_name, None if pooled else kind_name) if name is not None]
        others = [name for name in measured.varying if name not in (job_name, kind_name)]
        cells = table.cells.loc[done.index]
        contexts = _contexts(done, cells, [*keys, *others])
        if sum(map(len, contexts)) < len(done) / 2:
            contexts = _contexts(done, cells, keys)
        for context in contexts:
            job = str(cells.at[context.index[0], job_name]) if job_name else name
            where = candidates.columns_of(context, pooled or {})
            self.jobs.setdefault(job, []).append(gather_points(where, context["seconds"]))


def past_jobs(
    paths: Sequence[str | PathLike[str]],
    types: Types | None = None,
    like: str | None = None,
    **columns: str | None,
) -> PastJobs:
    """Read past jobs, and maybe name one of them as similar; a table may have the named columns.

    A column ``job``, ``workload``, ``application``, ``program`` or ``task`` identifies jobs; else
    each file is one. Where the types are known, those of a job are taken together, with their cores
    and memory; else each type, and each setting of other columns, is a context of its own.
    """
    found, named = PastJobs(like=like), {what: name for what, name in columns.items() if name}
    for table in map(read_table, paths):
        there = {what: name for what, name in named.items() if table.find([name]) or name == "none"}
        found.add(table, measurements_of(table, there, {}), types)
    if not (found.jobs or found.warnings):
        raise RequestError(
            f"no job in {', '.join(map(str, paths))} was measured at two machine counts, so the "
            "history teaches nothing; accepted: tables of measured runs of past jobs"
        )
    if like is not None and like not in found.jobs:
        raise unknown_name("past job", like, found.jobs)
    return found


def _contexts(done: pd.DataFrame, cells: pd.DataFrame, keys: Sequence[str]) -> list[pd.DataFrame]:
    """Return the runs by their texts in some columns, as far as there are two machine counts."""
    groups = cells.groupby(list(keys), sort=False).groups.values() if keys else [cells.index]
    found = [done.loc[lines] for lines in groups]
    return [runs for runs in found if runs["machines"].nunique() > 1]
