"""Cluster-scaling models: seconds of a job from its scale and its machines.

Examples
--------
>>> import pandas as pd
>>> from costmodels.scaling import Ernest
>>> runs = pd.DataFrame({"scale": [1, 1, 2, 2, 4], "machines": [1, 2, 2, 4, 4]})
>>> model = Ernest().fit(runs, 4 + 30 * runs["scale"] / runs["machines"])
>>> model.predict(pd.DataFrame({"scale": [8], "machines": [16]})).round(2)
array([19.])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from costmodels.scaling.auto import AutoScaling
    from costmodels.scaling.base import ScalingModel
    from costmodels.scaling.check import (
        FitCheck,
        check_fit,
        masha_score,
        occupation,
        sampling_cost,
    )
    from costmodels.scaling.cliffs import Cliff
    from costmodels.scaling.leftout import LeaveOneOut
    from costmodels.scaling.models import (
        Ernest,
        LinearScaling,
        Masha,
        PowerLaw,
        ProductLaw,
        UniversalScalability,
    )
    from costmodels.scaling.points import gather_points
    from costmodels.scaling.priors import learn_prior, shipped_prior
    from costmodels.scaling.shapes import Prior
    from costmodels.scaling.terms import TERMS, Term

__all__ = [
    "SCALING_MODELS",
    "TERMS",
    "AutoScaling",
    "Cliff",
    "Ernest",
    "FitCheck",
    "LeaveOneOut",
    "LinearScaling",
    "Masha",
    "PowerLaw",
    "Prior",
    "ProductLaw",
    "ScalingModel",
    "Term",
    "UniversalScalability",
    "check_fit",
    "gather_points",
    "learn_prior",
    "masha_score",
    "occupation",
    "sampling_cost",
    "shipped_prior",
]

SCALING_MODELS = {
    "auto": "costmodels.scaling.auto:AutoScaling",
    "ernest": "costmodels.scaling.models:Ernest",
    "masha": "costmodels.scaling.models:Masha",
    "power-law": "costmodels.scaling.models:PowerLaw",
    "product": "costmodels.scaling.models:ProductLaw",
    "usl": "costmodels.scaling.models:UniversalScalability",
}
"""Name of each scaling model, and where it is: ``"module:attribute"``."""

# scikit-learn takes a second to import: only who fits a model, not who lists them, waits for it.
_PLACES = {
    "auto": ("AutoScaling",),
    "base": ("ScalingModel",),
    "check": ("FitCheck", "check_fit", "masha_score", "occupation", "sampling_cost"),
    "cliffs": ("Cliff",),
    "leftout": ("LeaveOneOut",),
    "models": (
        "Ernest",
        "LinearScaling",
        "Masha",
        "PowerLaw",
        "ProductLaw",
        "UniversalScalability",
    ),
    "points": ("gather_points",),
    "priors": ("learn_prior", "shipped_prior"),
    "shapes": ("Prior",),
    "terms": ("TERMS", "Term"),
}


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"costmodels.scaling.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
