"""PageRank on a completed sample."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.iterations.completion.completed import CompletedSample


def pagerank_curve(
    algorithm: PageRank, sample: CompletedSample, threshold: float
) -> npt.NDArray[np.float64]:
    """Return the mean change of rank per vertex after each iteration, for the whole graph.

    Equation 1 of PREDIcT (section 3.1), with each sampled vertex counted as often as the number of
    vertices that it represents.
    """
    damping = algorithm.damping
    weights = sample.weights
    vertices = weights.sum()
    leaking = np.where(sample.dangling, weights, 0.0)
    rank = np.full(len(weights), 1.0 / vertices)
    curve = []
    for _ in range(algorithm.max_iterations):
        updated = damping * (sample.operator @ rank) + (1.0 - damping) / vertices
        if algorithm.spread_dangling:
            updated += damping * float((leaking * rank).sum()) / vertices
        # Not a dot product: a threaded one is slow on short vectors, and its rounding may vary.
        curve.append(float((weights * np.abs(updated - rank)).sum()) / vertices)
        rank = updated
        if curve[-1] < threshold:
            break
    return np.array(curve)
