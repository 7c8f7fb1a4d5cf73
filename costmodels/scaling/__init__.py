"""Cluster-scaling models: seconds of a job from its scale and its machines.

Examples
--------
>>> import pandas as pd
>>> from costmodels.scaling import Ernest
>>> runs = pd.DataFrame({"scale": [1, 1, 2, 2, 4], "machines": [1, 2, 2, 4, 4]})
>>> model = Ernest().fit(runs, 4 + 30 * runs["scale"] / runs["machines"])
>>> model.predict(pd.DataFrame({"scale": [8], "machines": [16]})).round(2)
array([19.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from costmodels.lazy import lazily

if TYPE_CHECKING:
    from costmodels.scaling.auto import AutoScaling as AutoScaling
    from costmodels.scaling.check import check_fit as check_fit
    from costmodels.scaling.models import Ernest as Ernest
    from costmodels.scaling.models import LinearScaling as LinearScaling
    from costmodels.scaling.models import Masha as Masha
    from costmodels.scaling.points import gather_points as gather_points
    from costmodels.scaling.priors import learn_prior as learn_prior
    from costmodels.scaling.priors import shipped_prior as shipped_prior
    from costmodels.scaling.shapes import Prior as Prior
    from costmodels.scaling.terms import TERMS as TERMS
    from costmodels.scaling.terms import Term as Term

SCALING_MODELS = {
    "auto": "costmodels.scaling.auto:AutoScaling",
    "ernest": "costmodels.scaling.models:Ernest",
    "masha": "costmodels.scaling.models:Masha",
}
"""Name of each scaling model, and where it is: ``"module:attribute"``."""

# Listing models does not import scikit-learn, which takes a second.
__getattr__, __all__ = lazily(__name__)
__all__ += ["SCALING_MODELS"]
