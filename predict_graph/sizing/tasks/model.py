"""The model of a task across unlike machines, the table of its runs, and its file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from costmodels.occupancy.model import SHAPES, OccupancyModel
from predict_graph.answers import Answer
from predict_graph.arrays import FloatArray
from predict_graph.documents import DocumentKind, usable
from predict_graph.durations import readable_seconds
from predict_graph.errors import RequestError
from predict_graph.graph import Graph, check_graph
from predict_graph.pictures import Picture
from predict_graph.pictures.panels import dot_picture
from predict_graph.results import Result
from predict_graph.sizing.fitting.model import predicted, ranking_text
from predict_graph.sizing.measuring.measurements import MEASURED, varying_columns
from predict_graph.sizing.measuring.outcomes import read_outcomes
from predict_graph.sizing.table_file import TextTable, appended_table, name_key
from predict_graph.texts import to_number

TASK_MODELS = {"nimo" if shape == "auto" else f"nimo-{shape}": shape for shape in SHAPES}
"""Name of each model of a task, and the shape of its occupancies."""

TASK = DocumentKind(
    "predict-graph task model", "model of a task", "fit --model nimo --out", sealed=True
)


@dataclass(frozen=True, eq=False, repr=False)
class TaskModel(Result):
    """A model of a task that was fitted to its runs.

    Attributes
    ----------
    name : str
        Of ``TASK_MODELS``.
    runs : DataFrame
        What it was fitted to: what was observed of each run, and attributes.
    source : str
        Name of the measured file.
    estimator : OccupancyModel
    warnings : tuple of str
        On columns of the file that it does not see.
    """

    name: str
    runs: pd.DataFrame
    source: str
    estimator: OccupancyModel
    warnings: tuple[str, ...] = ()

    @property
    def known(self) -> pd.DataFrame:
        """The attributes of each run."""
        return self.runs.drop(columns=list(OBSERVED))

    @property
    def attributes(self) -> list[str]:
        """Names of the attributes that an assignment must have: those that differed."""
        return list(self.estimator.feature_names_in_)

    @property
    def answer(self) -> Answer:
        """How good the model is, and its formulas."""
        errors = self.estimator.loocv_.to_dict()
        mean, most = errors["mean_percent_error"], errors["max_percent_error"]
        rows = [
            ("model", f"{self.name}, shape {self.estimator.shape_}"),
            ("runs", f"{len(self.runs)}"),
            ("attributes", ", ".join(self.attributes)),
        ]
        counted = bool((self.runs["data_bytes"] != 1.0).any())  # else times of the whole run
        for name, formula in self.estimator.formulas_.items():
            unit = "bytes" if name == "data" else "s/byte" if counted else "s"
            if counted or name != "data":
                rows.append((f"f_{name}", f"{formula} {unit}"))
        over = ", ".join(f"{name} {value:.4g}" for name, value in self.estimator.reference_.items())
        rows += [
            ("in the formulas", f"each attribute over {over}"),
            ("left-out AE", f"mean {readable_seconds(errors['mean_absolute_error'])}"),
            ("left-out PE", f"mean {mean:.1f}%, max {most:.1f}%"),
            ("left-out ranking", ranking_text(errors)),
        ]
        said = (
            f"the model {self.name} of {self.source} has a mean error of {mean:.0f}% (at most "
            f"{most:.0f}%) on runs that were left out"
        )
        return Answer(said, rows, warnings=self.warnings)

    @property
    def title(self) -> str:
        """What the model is of."""
        return f"model of {self.source}"

    def to_dict(self) -> dict[str, Any]:
        """Return formulas and errors, ready for JSON."""
        return {
            "schema": 1,
            "model": self.name,
            "shape": self.estimator.shape_,
            "formulas": dict(self.estimator.formulas_),
            "attributes": self.attributes,
            "runs": len(self.runs),
            "left_out": self.estimator.loocv_.to_dict(),
            "left_out_errors": dict(self.estimator.left_out_errors_),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the attributes of each run, and its seconds as measured and as left out."""
        return self.known.assign(**vars(self.estimator.loocv_))

    def pictures(self) -> list[Picture]:
        """Return the error of each run when it was left out."""
        left_out = self.estimator.loocv_
        percent = 100.0 * (left_out.predicted / left_out.actual - 1.0)
        said = (
            f"Errors of {len(percent)} runs left out: {percent.min():.0f}% to {percent.max():.0f}%."
        )
        names = [f"run {number + 1}" for number in range(len(percent))]
        unit = "predicted / measured - 1, %"
        return [dot_picture("Errors of runs left out", said, names, percent, xlabel=unit)]

    def document(self) -> dict[str, Any]:
        """Return the model as plain values: its runs, to which it is fitted again when read."""
        about = {"version": version("predict-graph"), **self.to_dict(), "source": self.source}
        return TASK.complete({**about, "table": self.runs.to_dict("list")})

    def seconds(self, assignments: pd.DataFrame, confidence: float) -> FloatArray:
        """Return predicted, least and most seconds of each assignment, shape (3, n)."""
        return predicted(self.estimator, assignments[self.attributes], confidence)

    def beyond(self, assignments: pd.DataFrame) -> pd.DataFrame:
        """Return which attributes of each assignment lie outside of all measured runs."""
        known = self.known[[name for name in self.known if name in assignments]]
        wanted = assignments[list(known)]
        return (wanted < known.min()) | (wanted > known.max())


def fit_task(
    runs: pd.DataFrame, name: str = "nimo", source: str = "runs", fewest: int = 4
) -> TaskModel:
    """Fit a model of a task; with fewer runs than `fewest` resources are not identifiable.

    Raises
    ------
    RequestError
        If there is no model of this name, or there are too few runs.
    """
    if name not in TASK_MODELS:
        raise RequestError(f"the model is {name!r}; accepted: {', '.join(TASK_MODELS)}")
    if len(runs) < fewest:
        raise RequestError(
            f"{source} has {len(runs)} runs; accepted: at least {fewest}, on different resources"
        )
    known = runs.drop(columns=list(OBSERVED))
    used = known.columns[known.nunique() > 1]
    if used.empty:
        raise RequestError(
            f"no attribute differs between the runs of {source}; accepted: runs on different "
            "resources, or on different data"
        )
    seconds, utilization, data, share = runs[list(OBSERVED)].to_numpy().T
    estimator = OccupancyModel(shape=TASK_MODELS[name]).fit(
        runs[used], seconds, utilization=utilization, data=data, network_share=share
    )
    return TaskModel(name, runs, source, estimator)


def load_task(path: Path) -> TaskModel:
    """Read a model; it is fitted again, by the same steps to the same runs.

    Raises
    ------
    RequestError
        If the file is no model of a task, of a newer version, or was changed.
    """
    document = TASK.read(path)
    with usable(path, "model"):
        table = pd.DataFrame(document["table"], dtype=np.float64)
        return fit_task(table, document["model"], document["source"])


# Columns that were observed of a run, and what is accepted of each, numbers above 0 by default; all
# others are attributes of resources and data.
_SHARE = {"accepted": "a number from 0 to 1", "least": 0.0, "most": 1.0}
OBSERVED: dict[str, dict[str, Any]] = {
    "seconds": {},
    "utilization": _SHARE,
    "data_bytes": {},
    "network_share": _SHARE,
}
_STARTED = "started"


def add_run(
    path: Path, observed: Mapping[str, object] | None, attributes: Mapping[str, float]
) -> None:
    """Append a run to the table, then on the disk; without one, check that the table has room."""
    with appended_table(path, [_STARTED, *OBSERVED, *attributes], wait=True) as append:
        if observed is not None:
            append({**observed, **attributes})


def read_runs(table: TextTable) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return runs: of the table of `profile`, or of any with a column ``seconds`` and attributes.

    And sentences on columns of texts that differ and do not follow from an attribute.

    One row a run: ``seconds``, ``utilization``, ``data_bytes`` and ``network_share``, without which
    the whole time is modelled at once, then attributes of the resources and of the data. Columns
    without any number are left out, and so are runs that failed.
    """
    table.needs("the time of each run", "seconds")
    outcome, judged = read_outcomes(table)
    beside = {"", *judged, *MEASURED} - {"seconds"}
    cells = table.cells[outcome == "ok"]
    table = replace(table, cells=cells.drop(columns=[name for name in cells if name in beside]))
    found = {name: pd.Series(1.0, table.cells.index) for name in OBSERVED}
    keys = {name_key(name): name for name in OBSERVED}
    for name in table.columns:
        if (key := keys.get(name_key(name))) is not None:
            found[key] = table.numbers(name, **OBSERVED[key])
        elif table.plain(name).map(to_number).map(math.isfinite).any():
            found[name] = table.numbers(name, "a number from 0", least=0.0)
    if len(found) == len(OBSERVED):
        raise RequestError(f"{table.path} has no column of numbers besides {', '.join(OBSERVED)}")
    attributes = [name for name in found if name not in OBSERVED]
    observed = [name for name in table.columns if name_key(name) in keys]
    unseen = varying_columns(table.cells, {*attributes, *observed}, attributes)
    said = "the column {!r} has {} values, texts that the model does not see"
    runs = pd.DataFrame(found).reset_index(drop=True)
    return runs, tuple(said.format(*each) for each in unseen.items())


def file_attributes(path: Path) -> dict[str, float]:
    """Return ``input_bytes`` of a file, or of all files below a folder.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     Path(folder, ".b").write_text("12345")
    ...     Path(folder, "c").symlink_to("nowhere")
    ...     file_attributes(Path(folder))
    5
    {'input_bytes': 5.0}

    Raises
    ------
    RequestError
        If nothing is there.
    """
    if not (path.is_file() or path.is_dir()):
        raise RequestError(f"there is no file {path} to take the size of")
    files = [each for each in (path, *path.rglob("*")) if each.is_file()]
    return {"input_bytes": float(sum(each.stat().st_size for each in files))}


def graph_attributes(source: str | Graph) -> dict[str, float]:
    """Return ``vertices``, ``edges``, and ``skew``: standard deviation of out-degrees over mean.

    Examples
    --------
    >>> {name: round(value, 3) for name, value in graph_attributes("star:n=4").items()}
    {'vertices': 4.0, 'edges': 6.0, 'skew': 0.577}

    Raises
    ------
    RequestError
        If the graph cannot be read.
    """
    graph = check_graph(source)
    degrees = graph.out_degrees.astype(np.float64)
    mean = float(degrees.mean())
    return {
        "vertices": float(graph.vertices),
        "edges": float(graph.edges),
        "skew": float(degrees.std()) / mean if mean else 0.0,
    }
