"""Predict, before an iterative graph job runs, how many iterations and how long it will take.

Examples
--------
>>> import predict_graph
>>> prediction = predict_graph.predict(
...     "pagerank", "barabasi-albert:n=5000,m=4,seed=1", history="none", seed=1, budget="none"
... )
>>> abs(prediction.iterations.predicted - 9) <= 1
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from predict_graph.comparison import compare_samplers, sample
    from predict_graph.functions.track import track
    from predict_graph.graph import EdgeList, Graph, check_graph
    from predict_graph.limits import limited
    from predict_graph.outcome import Comparison, Prediction
    from predict_graph.plugin_files import load_plugin
    from predict_graph.prediction import predict, run, validate
    from predict_graph.prediction.learn import learn
    from predict_graph.sizing import fit, plan
    from predict_graph.transforms import register_transform

    __version__: str

__all__ = [
    "Comparison",
    "EdgeList",
    "Graph",
    "Prediction",
    "__version__",
    "check_graph",
    "compare_samplers",
    "fit",
    "learn",
    "limited",
    "load_plugin",
    "plan",
    "predict",
    "register_transform",
    "run",
    "sample",
    "track",
    "validate",
]

# Imported when first used, so that importing the package costs next to nothing.
_HOMES = {
    name: f"predict_graph.{home}"
    for home, names in (
        ("comparison", "compare_samplers sample"),
        ("functions.track", "track"),
        ("graph", "EdgeList Graph check_graph"),
        ("limits", "limited"),
        ("plugin_files", "load_plugin"),
        ("outcome", "Comparison Prediction"),
        ("prediction", "predict run validate"),
        ("prediction.learn", "learn"),
        ("sizing", "fit plan"),
        ("transforms", "register_transform"),
    )
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("predict-graph")
    if name not in _HOMES:
        raise AttributeError(f"module 'predict_graph' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
