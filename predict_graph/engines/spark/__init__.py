"""The engine that runs algorithms on Apache Spark; needs the extra ``spark``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from costmodels.lazy import lazily

if TYPE_CHECKING:
    from predict_graph.engines.spark.engine import SparkEngine as SparkEngine
    from predict_graph.engines.spark.session.settings import SparkSettings as SparkSettings

# Imported on first use: predictions for the local engine do not need Spark.
__getattr__, __all__ = lazily(__name__)


def is_table(graph: Any) -> bool:
    """Whether an object is a Spark table, without importing Spark."""
    named = (each for each in type(graph).__mro__ if each.__name__ == "DataFrame")
    return any(each.__module__.startswith("pyspark.sql") for each in named)
