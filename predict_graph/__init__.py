"""Predict, before an iterative graph job runs, how many iterations and how long it will take.

Examples
--------
>>> import predict_graph
>>> prediction = predict_graph.predict(
...     "pagerank", "barabasi-albert:n=5000,m=4,seed=1", history="none", seed=1, budget="unlimited"
... )
>>> abs(prediction.iterations.predicted - 9) <= 1
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from costmodels.lazy import lazily
from predict_graph.machine import place_compiled_code

if TYPE_CHECKING:
    from predict_graph.comparison import compare_samplers as compare_samplers
    from predict_graph.comparison import sample as sample
    from predict_graph.functions.sizes import GraphSize as GraphSize
    from predict_graph.functions.track import track as track
    from predict_graph.graph import EdgeList as EdgeList
    from predict_graph.graph import Graph as Graph
    from predict_graph.graph import check_graph as check_graph
    from predict_graph.limits import limited as limited
    from predict_graph.notebook import load_ipython_extension as load_ipython_extension
    from predict_graph.outcome import Comparison as Comparison
    from predict_graph.outcome import Prediction as Prediction
    from predict_graph.plugin_files import load_plugin as load_plugin
    from predict_graph.prediction.learn import learn as learn
    from predict_graph.prediction.pipeline import predict as predict
    from predict_graph.prediction.validation import run as run
    from predict_graph.prediction.validation import validate as validate
    from predict_graph.sizing import fit as fit
    from predict_graph.sizing import plan as plan
    from predict_graph.transforms import register_transform as register_transform
    from predict_graph.version import __version__ as __version__

place_compiled_code()
__getattr__, __all__ = lazily(__name__)


def __dir__() -> list[str]:
    return __all__
