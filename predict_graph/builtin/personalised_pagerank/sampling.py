"""Personalised PageRank on a completed sample."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from predict_graph.builtin.personalised_pagerank.definition import PersonalisedPageRank
from predict_graph.iterations.completion.completed import CompletedSample


def personalised_curve(
    algorithm: PersonalisedPageRank, sample: CompletedSample, threshold: float
) -> npt.NDArray[np.float64]:
    """Return the mean change of rank per vertex after each iteration, for the whole graph.

    The source is in the sample if it is a hub. Otherwise a vertex with about as many out-edges
    represents it, and all vertices that this one represents share the rank of the source.
    """
    damping, weights = algorithm.damping, sample.weights
    place = _place_of_source(algorithm, sample)
    leaking = np.where(sample.dangling, weights, 0.0)
    rank = np.zeros(len(weights))
    rank[place] = 1.0 / weights[place]
    curve = []
    for _ in range(algorithm.max_iterations):
        updated = damping * (sample.operator @ rank)
        gets = 1.0 - damping
        if algorithm.spread_dangling:
            gets += damping * float((leaking * rank).sum())
        updated[place] += gets / weights[place]
        # Not a dot product: a threaded one is slow on short vectors, and its rounding may vary.
        curve.append(float((weights * np.abs(updated - rank)).sum()) / float(weights.sum()))
        rank = updated
        if curve[-1] < threshold:
            break
    return np.array(curve)


def _place_of_source(algorithm: PersonalisedPageRank, sample: CompletedSample) -> int:
    """Return the vertex of a sample that is the source or represents it."""
    degrees = sample.graph.out_degrees
    source = algorithm.source_in(degrees)
    at = np.flatnonzero(sample.vertices == source)
    if len(at):
        return int(at[0])
    distance = np.abs(np.log1p(degrees[sample.vertices]) - np.log1p(degrees[source]))
    return int(np.lexsort((sample.weights, distance))[0])
