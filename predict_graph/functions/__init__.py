"""Any graph function of a Python library, or one's own, predicted before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from predict_graph.functions.naming import is_function
from predict_graph.functions.prediction import FunctionPrediction
from predict_graph.lazy import lazily

if TYPE_CHECKING:
    from predict_graph.functions.predictor import predict_function
    from predict_graph.functions.track import track

__all__ = ["FunctionPrediction", "is_function", "predict_function", "track"]

# Imported when first used: they need compiled code, which importing must not.
__getattr__, _ = lazily(__name__, {"predictor": "predict_function", "track": "track"})
