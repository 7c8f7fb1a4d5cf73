"""Parts of the user's own that must count, and whether two predictions differ."""

import numpy as np

from predict_graph.transforms import Transform

LOOSER = Transform("looser", lambda threshold, ratio: 100.0 * threshold / ratio, "ends runs early")


class PerRow:
    """A cost model that asks the same for every row."""

    terms_, r2_, relative_std_ = {"intercept": 100.0}, 0.5, 0.1

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return np.full(len(X), 100.0)


def figures(prediction):
    """All that a prediction says of the run, and nothing that it says of itself."""
    table = prediction.per_iteration
    own = [
        *vars(prediction.iterations).values(),
        *vars(prediction.runtime_seconds).values(),
        *prediction.phases.values(),
        *table.to_numpy(float).ravel(),
    ]
    return own if prediction.prior is None else own + figures(prediction.prior)


def differs(one, other):
    """Whether two predictions differ by more than rounding."""
    first, second = figures(one), figures(other)
    return len(first) != len(second) or not np.allclose(first, second, rtol=1e-6, atol=0.0)
