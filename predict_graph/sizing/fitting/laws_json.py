"""Fitted laws as plain values for JSON, and back to the same numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from costmodels.scaling import TERMS
from costmodels.scaling.cliffs import CliffLaw
from costmodels.scaling.laws import Law, LinearLaw, PowerFit, ProductFit
from costmodels.scaling.points import Points
from costmodels.scaling.pooled import PooledLaw
from costmodels.scaling.shapes import MISFITS, NAMES, NOISES
from predict_graph.errors import RequestError

__all__ = ["law_from_plain", "law_to_plain", "points_from_plain", "points_to_plain"]


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
