"""Models of jobs in JSON files: checked, and never half written.

A file holds the runs and the options of the fit, which is repeated when the file is read.
"""

from __future__ import annotations

from dataclasses import asdict, replace
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
        "version": model.version,
        "model": model.name,
        "formula": model.estimator.formula_,
        "weights": options.get("weights", "relative"),
        "terms": terms,
        "iterations": model.iterations,
        "prior": None if prior is None else prior_to_plain(prior),
        "types": [asdict(kind) for kind in model.types.values()],
        "machine_type": model.machine_type,
        "source": model.source,
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
    try:
        runs = pd.DataFrame(document["runs"], document["lines"])[list(RUN_COLUMNS)]
        fitted = fit_job(
            Measurements(
                runs.astype(dict.fromkeys(RUN_COLUMNS[:3], float)),
                document["columns"],
                document["varying"],
                tuple(document["notes"]),
                Path(document["source"]),
            ),
            document["model"],
            weights=document["weights"],
            terms=document["terms"],
            iterations=document["iterations"],
            prior=document["prior"]
            and replace(prior_from_plain(document["prior"]), parent=shipped_prior()),
            types={kind["name"]: MachineType(**kind) for kind in document["types"]} or None,
        )
        return replace(
            fitted,
            machine_type=document["machine_type"],
            warnings=tuple(document["warnings"]),
            version=document["version"],
        )
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise RequestError(f"{path} holds no usable model: {error}") from error
