"""The engine that runs algorithms on Apache Spark; needs the extra ``spark``."""

from predict_graph.engines.spark.engine import SparkEngine
from predict_graph.engines.spark.session.settings import SparkSettings

__all__ = ["SparkEngine", "SparkSettings"]
