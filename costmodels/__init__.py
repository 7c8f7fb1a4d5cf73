"""Cost models: regressions that turn counters of work into seconds.

Every model is a scikit-learn estimator. The package knows tables and nothing of graphs, so it
serves any job whose work can be counted.

Examples
--------
>>> import pandas as pd
>>> from costmodels import ForwardSelectedLinear
>>> work = pd.DataFrame({"messages": [1e5, 2e5, 4e5, 8e5], "vertices": [10, 30, 20, 40]})
>>> seconds = 0.5 + 2e-6 * work["messages"]
>>> model = ForwardSelectedLinear().fit(work, seconds)
>>> model.selected_
['messages']
>>> [round(float(s), 3) for s in model.predict(work)]
[0.7, 0.9, 1.3, 2.1]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from costmodels.lazy import lazily

if TYPE_CHECKING:
    from costmodels.linear import ForwardSelectedLinear as ForwardSelectedLinear
    from costmodels.linear import NonNegativeLinear as NonNegativeLinear

COST_MODELS = {
    "forward-nnls": "costmodels.linear:ForwardSelectedLinear",
    "nnls": "costmodels.linear:NonNegativeLinear",
}
"""Name of each cost model, and where it is: ``"module:attribute"``."""
FEWEST_ROWS = 3  # by definition: an intercept, a slope, and one to leave out
"""Least number of rows for the selection of features."""

# Listing models does not import scikit-learn, which takes a second.
__getattr__, __all__ = lazily(__name__)
__all__ += ["COST_MODELS", "FEWEST_ROWS"]
