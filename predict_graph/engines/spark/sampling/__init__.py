"""Sampling graphs that fit on no single machine: the walks are tables, and so is the sample."""

from predict_graph.engines.spark.sampling.sampler import (
    SPARK_SAMPLERS,
    SparkSample,
    SparkSampler,
)
from predict_graph.engines.spark.sampling.subgraph import induced, to_graph

__all__ = ["SPARK_SAMPLERS", "SparkSample", "SparkSampler", "induced", "to_graph"]
