"""Models of jobs in JSON files: checked, and never half written.

A file holds the runs and the options of the fit, which is repeated when the file is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from costmodels.scaling import TERMS, shipped_prior
from costmodels.scaling.priors import prior_from_plain, prior_to_plain
from predict_graph.documents import DocumentKind
from predict_graph.errors import RequestError
from predict_graph.sizing.fitting.model import JobModel, fit_job
from predict_graph.sizing.measuring.measurements import RUN_COLUMNS, Measurements
from predict_graph.sizing.planning.candidates import MachineType

MODEL = DocumentKind("predict-graph scaling model", "model", "fit --out", sealed=True)


def save_model(model: JobModel, path: Path) -> None:
    """Write a model.

    Raises
    ------
    RequestError, JobError
        If it has terms that no file can hold, or the file cannot be written; what was there stays.
    """
    MODEL.write(model_document(model), path)


def model_document(model: JobModel) -> dict[str, Any]:
    """Return a model as plain values, with its checksum."""
    options, measured = model.estimator.get_params(), model.measurements
    terms = list(options.get("extra_terms", ()))
    if own := [term.name for term in terms if not isinstance(term, str)]:
        raise RequestError(
            f"a model with the term {own[0]!r} of your own cannot be saved; "
            f"accepted: terms of the library: {', '.join(TERMS)}"
        )
    prior, runs = options.get("prior"), measured.runs.astype(object)
    content = {
        "version": version("predict-graph"),
        "source": model.source,
        "model": model.name,
        "formula": model.estimator.formula_,
        "weights": options.get("weights", "relative"),
        "terms": terms,
        "iterations": model.iterations,
        "prior": None if prior is None else prior_to_plain(prior),
        "types": [asdict(kind) for kind in model.types.values()],
        "columns": measured.columns,
        "varying": measured.varying,
        "notes": list(measured.notes),
        "warnings": list(model.warnings),
        "lines": runs.index.tolist(),
        "runs": runs.where(runs.notna(), None).to_dict("list"),
    }
    return MODEL.complete(content)


def load_model(path: Path) -> JobModel:
    """Read a model: it is fitted again, by the same steps to the same runs.

    Raises
    ------
    RequestError
        If the file is missing, no model, of a newer version, or was changed after it was written.
    """
    document = MODEL.read(path)
    with usable(path):
        prior = document["prior"]
        runs = pd.DataFrame(document["runs"], document["lines"])[list(RUN_COLUMNS)]
        measured = Measurements(
            runs.astype(dict.fromkeys(RUN_COLUMNS[:3], float)),
            document["columns"],
            document["varying"],
            tuple(document["notes"]),
            Path(document["source"]),
        )
        fitted = fit_job(
            measured,
            document["model"],
            prior=prior and replace(prior_from_plain(prior), parent=shipped_prior()),
            types={kind["name"]: MachineType(**kind) for kind in document["types"]} or None,
            **{name: document[name] for name in ("weights", "terms", "iterations")},
        )
        return replace(fitted, warnings=tuple(document["warnings"]))


@contextmanager
def usable(path: Path) -> Iterator[None]:
    """Refuse a file whose content is not what was expected."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise RequestError(f"{path} holds no usable model: {error}") from error
