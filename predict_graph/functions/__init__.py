"""Any graph function of a Python library, or one's own, predicted before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from predict_graph.functions.naming import is_function
from predict_graph.functions.prediction import FunctionPrediction

if TYPE_CHECKING:
    from predict_graph.functions.predictor import predict_function
    from predict_graph.functions.track import track

__all__ = ["FunctionPrediction", "is_function", "predict_function", "track"]

# Imported when first used: they need compiled code, which importing must not.
_LAZY = {
    "predict_function": "predict_graph.functions.predictor",
    "track": "predict_graph.functions.track",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)
