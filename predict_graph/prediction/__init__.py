"""Predicting a run, and comparing the prediction with the real run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from predict_graph.prediction.pipeline import predict
    from predict_graph.prediction.seconds import COST_MODELS
    from predict_graph.prediction.validation import run, validate
    from predict_graph.prediction.work import Extrapolator

__all__ = [
    "COST_MODELS",
    "Extrapolator",
    "predict",
    "run",
    "validate",
]

# Imported when first used: a prediction does not need what follows and compares runs.
_LAZY = {
    "COST_MODELS": "seconds",
    "Extrapolator": "work",
    "predict": "pipeline",
    "run": "validation",
    "validate": "validation",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
