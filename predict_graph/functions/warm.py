"""Load compiled code ahead of time: that is no part of what a prediction takes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from predict_graph.functions.drivers import drivers_of
from predict_graph.functions.sampling import SAMPLERS, draw, spread_order
from predict_graph.graph import Graph


@lru_cache(maxsize=2)
def load_compiled(directed: bool) -> None:
    """Draw samples of a ring of 60 vertices, so that their code is compiled and loaded."""
    rng = np.random.default_rng(0)
    ring = np.arange(60, dtype=np.int32)
    ends = np.sort(np.column_stack(((ring - 1) % 60, (ring + 1) % 60)), axis=1)
    graph = Graph(np.arange(61, dtype=np.int64) * 2, ends.ravel(), directed=directed)
    drivers_of(graph, rng)
    spread_order(graph, rng)
    for sampler in SAMPLERS:
        draw(graph, sampler, 20, rng)
