"""Which algorithms run on a completed sample, and how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.algorithms import Algorithm
from predict_graph.iterations.completion.completed import CompletedSample
from predict_graph.plugins import Registry

__all__ = ["CURVES", "completed_curve"]

Curve = Callable[[Any, CompletedSample, float], npt.NDArray[np.float64]]

CURVES: Registry[Curve] = Registry(
    "algorithm that runs on completed samples",
    "predict_graph.completion_curves",
    {"pagerank": "predict_graph.iterations.completion.power:pagerank_curve"},
)


def completed_curve(
    algorithm: Algorithm, sample: CompletedSample, threshold: float
) -> npt.NDArray[np.float64]:
    """Return the convergence curve of an algorithm on a completed sample.

    Raises
    ------
    RequestError
        If the algorithm has no form for completed samples.
    """
    return CURVES.get(algorithm.name)(algorithm, sample, threshold)
