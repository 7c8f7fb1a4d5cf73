"""Models of jobs in JSON files: exact, checked, and never half written.

Floats are written with the digits that give the same float back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from costmodels.scaling import TERMS
from costmodels.scaling.cliffs import Cliff, CliffLaw
from costmodels.scaling.laws import Law, LinearLaw, PowerFit, ProductFit
from costmodels.scaling.leftout import LeaveOneOut
from costmodels.scaling.points import Points
from costmodels.scaling.pooled import PooledLaw
from costmodels.scaling.priors import prior_from_plain, prior_to_plain
from costmodels.scaling.shapes import MISFITS, NAMES, NOISES, Prior
from predict_graph.documents import DocumentKind
from predict_graph.errors import RequestError
from predict_graph.sizing.fitting.model import JobModel, make_estimator
from predict_graph.sizing.planning.candidates import MachineType

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
        "cliffs": [asdict(cliff) for cliff in estimator.cliffs_],
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


def law_to_plain(law: Law) -> dict[str, Any]:
    """Return a law as nested mappings.

    Raises
    ------
    RequestError
        If it has terms of the user's own, which are Python functions.
    """
    if isinstance(law, LinearLaw):
        own = [term.name for term in law.terms if TERMS.get(term.name) is not term]
        if own:
            raise RequestError(
                f"a model with the term {own[0]!r} of your own cannot be saved; "
                f"accepted: terms of the library: {', '.join(TERMS)}"
            )
        return {"kind": "linear", "terms": _floats(law.coefficients)}
    if isinstance(law, PowerFit):
        return {"kind": "power", **_floats(law.coefficients)}
    if isinstance(law, ProductFit):
        return {"kind": "product", **_floats(law.coefficients)}
    if isinstance(law, CliffLaw):
        pressed = None if law.pressed is law.smooth else law_to_plain(law.pressed)
        return {
            "kind": "cliff",
            "edge": float(law.edge),
            "factor": float(law.factor),
            "smooth": law_to_plain(law.smooth),
            "pressed": pressed,
        }
    if isinstance(law, PooledLaw):
        return {
            "kind": "pooled",
            "names": list(NAMES),
            "misfits": list(MISFITS),
            "noises": list(NOISES),
            "shapes": law.shapes.tolist(),
            "spreads": law.spreads.tolist(),
            "pressed": law.pressed,
            "middle": law.middle.tolist(),
            "points": points_to_plain(law.points),
        }
    raise RequestError(f"a law of the kind {type(law).__name__} cannot be saved")


def law_from_plain(plain: Mapping[str, Any]) -> Law:
    """Return the law that :func:`law_to_plain` made `plain` of.

    Parameters
    ----------
    plain : mapping

    Raises
    ------
    RequestError
        If the kind or a term is unknown, or of a version with other shapes.

    Examples
    --------
    >>> law = PowerFit(1.5, 0.1, 2.0)
    >>> law_from_plain(law_to_plain(law)) == law
    True
    """
    kind = plain["kind"]
    rest = {name: value for name, value in plain.items() if name != "kind"}
    if kind == "linear":
        unknown = [name for name in rest["terms"] if name not in TERMS]
        if unknown:
            raise RequestError(f"unknown term {unknown[0]!r}; accepted: {', '.join(TERMS)}")
        terms = tuple(TERMS[name] for name in rest["terms"])
        return LinearLaw(terms, tuple(rest["terms"].values()))
    if kind == "power":
        return PowerFit(**rest)
    if kind == "product":
        return ProductFit(**rest)
    if kind == "cliff":
        smooth = law_from_plain(rest["smooth"])
        pressed = smooth if rest["pressed"] is None else law_from_plain(rest["pressed"])
        return CliffLaw(smooth, rest["edge"], pressed, rest["factor"])
    if kind == "pooled":
        if (rest["names"], rest["misfits"], rest["noises"]) != (
            list(NAMES),
            list(MISFITS),
            list(NOISES),
        ):
            raise RequestError("the model has shapes of another version; accepted: a new fit")
        return PooledLaw(
            np.array(rest["shapes"], np.float64),
            np.array(rest["spreads"], np.intp),
            points_from_plain(rest["points"]),
            rest["pressed"],
            np.array(rest["middle"], np.float64),
        )
    raise RequestError(f"unknown kind of law {kind!r}")


def points_to_plain(points: Points) -> dict[str, Any]:
    """Return measured points as nested mappings."""
    return {
        "columns": {name: column.tolist() for name, column in points.columns.items()},
        "seconds": points.seconds.tolist(),
        "weight": points.weight.tolist(),
        "repeats": points.repeats.tolist(),
        "noise": float(points.noise),
    }


def points_from_plain(plain: Mapping[str, Any]) -> Points:
    """Return the points that :func:`points_to_plain` made `plain` of."""
    return Points(
        {name: np.array(column, np.float64) for name, column in plain["columns"].items()},
        seconds=np.array(plain["seconds"], np.float64),
        weight=np.array(plain["weight"], np.float64),
        repeats=np.array(plain["repeats"], np.float64),
        noise=plain["noise"],
    )


def _floats(values: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in values.items()}
