"""The engine that runs algorithms on Apache Spark; needs the extra ``spark``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from predict_graph.engines.spark.engine import SparkEngine
    from predict_graph.engines.spark.session.settings import SparkSettings

__all__ = ["SparkEngine", "SparkSettings"]

# Imported on first use: predictions for the local engine do not need Spark.
_LAZY = {
    "SparkEngine": "predict_graph.engines.spark.engine",
    "SparkSettings": "predict_graph.engines.spark.session.settings",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)
