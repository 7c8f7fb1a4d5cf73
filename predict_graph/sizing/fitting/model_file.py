"""Models of jobs in JSON files: exact, checked, and never half written.

Floats are written with the digits that give the same float back.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from costmodels.scaling.cliffs import Cliff
from costmodels.scaling.leftout import LeaveOneOut
from costmodels.scaling.points import Points
from costmodels.scaling.priors import prior_from_plain, prior_to_plain
from costmodels.scaling.shapes import Prior
from predict_graph.documents import DocumentKind
from predict_graph.errors import RequestError
from predict_graph.sizing.fitting.laws_json import (
    law_from_plain,
    law_to_plain,
    points_from_plain,
    points_to_plain,
)
from predict_graph.sizing.fitting.model import JobModel, make_estimator
from predict_graph.sizing.planning.candidates import MachineType

__all__ = ["MODEL", "load_model", "model_document", "save_model"]

MODEL = DocumentKind("predict-graph scaling model", "model", "fit --out", sealed=True)
# What `fit` of the Universal Scalability Law says beside its law; texts, as they may be infinite.
DERIVED = ("contention_", "coherence_", "peak_machines_")


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
    estimator = model.estimator
    points: Points = estimator.points_
    content: dict[str, Any] = {
        "version": model.version,
        "model": model.name,
        "options": _options(estimator),
        "formula": estimator.formula_,
        "unit": model.unit,
        "columns": dict(model.columns),
        "machine_type": model.machine_type,
        "iterations": model.iterations,
        "source": model.source,
        "warnings": list(model.warnings),
        "types": {
            kind.name: {"cores": kind.cores, "memory": kind.memory, "price": kind.price}
            for kind in model.types.values()
        },
        "failures": {name: column.tolist() for name, column in model.failures.items()},
        "law": law_to_plain(estimator.law_),
        "r2": float(estimator.r2_),
        "derived": {
            name: str(getattr(estimator, name)) for name in DERIVED if hasattr(estimator, name)
        },
        "left_out": {
            "predicted": estimator.loocv_.predicted.tolist(),
            "actual": estimator.loocv_.actual.tolist(),
        },
        "cliffs": [
            {
                "scale": cliff.scale,
                "machines": list(cliff.machines),
                "seconds": list(cliff.seconds),
                "excess": cliff.excess,
            }
            for cliff in estimator.cliffs_
        ],
        "points": points_to_plain(points),
    }
    return MODEL.complete(content)


def load_model(path: Path) -> JobModel:
    """Read a model; its predictions are those of the one that was saved, to the last bit.

    Raises
    ------
    RequestError
        If the file is missing, no model, of a newer version, or was changed after it was written.
    """
    document = MODEL.read(path)
    try:
        return _model(document)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise RequestError(f"{path} holds no usable model: {error}") from error


def _model(document: Mapping[str, Any]) -> JobModel:
    options = dict(document["options"])
    if options.get("prior") is not None:
        options["prior"] = prior_from_plain(options["prior"])
    estimator = make_estimator(document["model"], options)
    estimator.points_ = points_from_plain(document["points"])
    estimator.law_ = law_from_plain(document["law"])
    estimator.terms_ = estimator.law_.coefficients
    estimator.coef_ = np.array(list(estimator.terms_.values()))
    estimator.formula_ = estimator.law_.formula
    estimator.r2_ = document["r2"]
    left_out = document["left_out"]
    estimator.loocv_ = LeaveOneOut(
        np.array(left_out["predicted"], np.float64), np.array(left_out["actual"], np.float64)
    )
    estimator.cliffs_ = [
        Cliff(cliff["scale"], tuple(cliff["machines"]), tuple(cliff["seconds"]), cliff["excess"])
        for cliff in document["cliffs"]
    ]
    estimator.warnings_ = list(document["warnings"])
    types = {name: MachineType(name, **plain) for name, plain in document["types"].items()}
    estimator.n_features_in_ = len(estimator.points_.columns) if types else 2
    if types:
        estimator.feature_names_in_ = np.array(list(estimator.points_.columns), dtype=object)
    for name, text in document["derived"].items():
        if name not in DERIVED:
            raise ValueError(f"it has the unknown figure {name!r}")
        setattr(estimator, name, float(text))
    plain = ("unit", "columns", "machine_type", "iterations", "source", "version")
    return JobModel(
        name=document["model"],
        estimator=estimator,
        warnings=tuple(document["warnings"]),
        types=types,
        failures={
            name: np.array(column, np.float64) for name, column in document["failures"].items()
        },
        **{name: document[name] for name in plain},
    )


def _options(estimator: Any) -> dict[str, Any]:
    return {name: _plain_option(value) for name, value in estimator.get_params().items()}


def _plain_option(value: Any) -> Any:
    if isinstance(value, Prior):
        return prior_to_plain(value)
    return list(value) if isinstance(value, tuple) else value
