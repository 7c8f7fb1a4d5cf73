"""The seconds of a sample run, when it is run again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from predict_graph.engines import per_iteration
from predict_graph.iterations import IterationEstimate

__all__ = ["with_repeats"]

_WORTH_REPEATING = 0.5  # seconds of the repeats before
_MOST_REPEATS = 3


def with_repeats(estimate: IterationEstimate) -> IterationEstimate:
    """Return the estimate with the least seconds of each iteration of its last sample.

    What disturbs one run seldom disturbs all. It is repeated once at least: what is counted
    between the iterations of the first run, and memory that it is the first to use, make them up to
    twice as long.

    Parameters
    ----------
    estimate : IterationEstimate
        As it is, if no sample of it is timed.
    """
    sample = estimate.timed
    if sample is None:
        return estimate
    table = sample.table
    least, spent, repeats = per_iteration(table)["seconds"].to_numpy(np.float64), 0.0, 0
    while repeats < _MOST_REPEATS and spent <= _WORTH_REPEATING:
        seconds = sample.again()
        least, spent = np.minimum(least, seconds), spent + float(seconds.sum())
        repeats += 1
    return replace(
        estimate,
        timed=replace(sample, table=table.assign(seconds=least[table["iteration"].to_numpy() - 1])),
        edge_steps=estimate.edge_steps + repeats * sample.edge_steps,
    )
