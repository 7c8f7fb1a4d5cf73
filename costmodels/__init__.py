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

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from costmodels.forward import ForwardSelectedLinear
    from costmodels.intervals import log_interval, residual_interval
    from costmodels.linear import NonNegativeLinear
    from costmodels.validation import leave_one_group_out, relative_error

__all__ = [
    "COST_MODELS",
    "FEWEST_ROWS",
    "ForwardSelectedLinear",
    "NonNegativeLinear",
    "leave_one_group_out",
    "log_interval",
    "relative_error",
    "residual_interval",
]

COST_MODELS = {
    "forward-nnls": "costmodels.forward:ForwardSelectedLinear",
    "nnls": "costmodels.linear:NonNegativeLinear",
}
"""Name of each cost model, and where it is: ``"module:attribute"``."""
FEWEST_ROWS = 3  # by definition: an intercept, a slope, and one to leave out
"""Rows that tell one feature from another."""

# scikit-learn takes a second to import: only who fits a model, not who lists them, waits for it.
_PLACES = {
    "ForwardSelectedLinear": "costmodels.forward",
    "NonNegativeLinear": "costmodels.linear",
    "leave_one_group_out": "costmodels.validation",
    "log_interval": "costmodels.intervals",
    "relative_error": "costmodels.validation",
    "residual_interval": "costmodels.intervals",
}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
