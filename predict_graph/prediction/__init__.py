"""Predicting a run, and comparing the prediction with the real run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from predict_graph.lazy import lazily

if TYPE_CHECKING:
    from predict_graph.prediction.pipeline import predict as predict
    from predict_graph.prediction.seconds import COST_MODELS as COST_MODELS
    from predict_graph.prediction.validation import run as run
    from predict_graph.prediction.validation import validate as validate
    from predict_graph.prediction.work import Extrapolator as Extrapolator

# Imported when first used: a prediction does not need what follows and compares runs.
__getattr__, __all__ = lazily(
    __name__,
    {
        "pipeline": "predict",
        "seconds": "COST_MODELS",
        "validation": "run validate",
        "work": "Extrapolator",
    },
)
