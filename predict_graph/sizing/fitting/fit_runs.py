"""Fitting a model to a table of runs: of a job on many machines, or of a task on unlike ones."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predict_graph.errors import RequestError
from predict_graph.sizing.fitting.model import JobModel, fit_job
from predict_graph.sizing.fitting.past_jobs import PastJobs, read_past_jobs, rest_of_file
from predict_graph.sizing.measuring.measurements import Measurements, read_measurements
from predict_graph.sizing.planning.candidates import MachineType, read_types

if TYPE_CHECKING:
    import pandas as pd

    from predict_graph.sizing.tasks.model import TaskModel


def fit(
    runs: pd.DataFrame | str | PathLike[str],
    model: str = "auto",
    *,
    scale_column: str | None = None,
    machines_column: str | None = None,
    seconds_column: str | None = None,
    where: Mapping[str, Any] | None = None,
    weights: str = "relative",
    terms: Sequence[str] = (),
    iterations: int | None = None,
    history: Sequence[str | PathLike[str]] | str | PathLike[str] | None = None,
    types: Mapping[str, MachineType] | str | PathLike[str] | None = None,
) -> JobModel | TaskModel:
    """Fit a model to measured runs of a job.

    Parameters
    ----------
    runs : DataFrame or path
        One row a run, with machines, seconds and maybe the scale.
    model : str, default "auto"
        ``auto``, ``ernest`` or ``masha``; ``nimo`` for runs of a task on unlike machines.
    scale_column, machines_column, seconds_column : str, optional
        Names of the columns; inferred by default.
    where : mapping, optional
        Only rows with these values of columns.
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
    with _as_file(runs) as path:
        if model.startswith("nimo"):
            given = {
                "term": terms,
                "where": where,
                "scale-column": scale_column,
                "machines-column": machines_column,
                "seconds-column": seconds_column,
                "iterations": iterations,
                "history": history,
                "types": types,
                "weights": weights != "relative",
            }
            return _fitted_task(path, model, given)
        conditions = {name: str(value) for name, value in (where or {}).items()}
        measured = read_measurements(
            path,
            scale_column=scale_column,
            machines_column=machines_column,
            seconds_column=seconds_column,
            where=conditions,
        )
        kinds = read_types(Path(types)) if isinstance(types, str | PathLike) else types
        past = _past_jobs(history, model, measured, conditions, kinds)
        fitted = fit_job(
            measured,
            model,
            weights=weights,
            terms=terms,
            iterations=iterations,
            prior=past.prior(),
            types=kinds,
        )
        return replace(fitted, warnings=(*fitted.warnings, *past.warnings))


@contextmanager
def _as_file(runs: pd.DataFrame | str | PathLike[str]) -> Iterator[Path]:
    """Give the path of a table; one in memory is written to a file, which errors do not name."""
    if isinstance(runs, str | PathLike):
        yield Path(runs)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        runs.to_csv(path, index=False)
        try:
            yield path
        except RequestError as error:
            raise RequestError(str(error).replace(f"{folder}/", "")) from error


def _fitted_task(path: Path, model: str, given: Mapping[str, Any]) -> TaskModel:
    from predict_graph.sizing.tasks.model import fit_task
    from predict_graph.sizing.tasks.runs import read_runs

    for name, value in given.items():
        if value:
            raise RequestError(f"--{name} is no option of the model {model!r}")
    return fit_task(read_runs(path), model)


def _past_jobs(
    history: Sequence[str | PathLike[str]] | str | PathLike[str] | None,
    model: str,
    measured: Measurements,
    where: Mapping[str, str],
    types: Mapping[str, MachineType] | None,
) -> PastJobs:
    """Return the past jobs that a model learns from: those named, or the rest of the file."""
    if history and model != "auto":
        raise RequestError(f"--history is no option of the model {model!r}; accepted: --model auto")
    if model != "auto" or (history is None and not where):
        return PastJobs({})
    if history is None:
        return rest_of_file(measured.path, where, measured.columns, types)
    paths = [Path(one) for one in ([history] if isinstance(history, str | PathLike) else history)]
    return PastJobs({}) if paths == [Path("none")] else read_past_jobs(paths, types)
