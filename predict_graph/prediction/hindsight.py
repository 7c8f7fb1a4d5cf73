"""How well a cost model would have predicted the runs that it has learned from.

Each run of the history is left out in turn, predicted from the rest, and held against the seconds
that it took: the error that the model makes on graphs it has not seen.
"""

from __future__ import annotations

import math

import numpy as np

from predict_graph.prediction.costs import TrainingSet, fit_costs

__all__ = ["unseen_std"]

_EXPECTED_STD = 0.3  # of a model of which nothing is known, as good as one run's word
_MOST_RUNS = 10  # each is a fit


def unseen_std(training: TrainingSet, name: str) -> float:
    """Return the relative deviation of the seconds of runs of other graphs, predicted unseen.

    ``sqrt((s^2 + sum of log(predicted / actual)^2) / (1 + runs))`` with s = 0.3, so that one or two
    lucky runs do not make a model trusted.

    Parameters
    ----------
    training : TrainingSet
    name : str
        Of a registered cost model.
    """
    table = training.table
    others = table.loc[~table["own"].astype(bool), "group"].unique()[-_MOST_RUNS:]
    squares = [_EXPECTED_STD**2]
    for group in others:
        costs = fit_costs(training.without(group), name)
        if costs is None:
            continue
        run = table[table["group"] == group]
        predicted = float(costs.of_features(run).sum())
        actual = float(run["seconds"].sum())
        squares.append(math.log(max(predicted, 1e-12) / actual) ** 2)
    return float(np.sqrt(np.mean(squares)))
