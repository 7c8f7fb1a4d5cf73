"""The program's imports, which take seconds; imported as ``loaded``, it does so."""

import contextlib
from importlib import import_module

MODULES = (
    "predict_graph.prediction.pipeline",
    "predict_graph.prediction.fresh_process",
    "predict_graph.comparison",
    "predict_graph.functions",
    "predict_graph.resources",
    "predict_graph.reports.page",
    "predict_graph.pictures",
    "predict_graph.sizing",
    "predict_graph.history",
    "predict_graph.engines.local",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "jinja2",
    "networkx",
    "numba",
    "pandas",
    "pyarrow.parquet",
    "pyarrow.csv",
    "scipy.stats",
    "scipy.optimize",
    "scipy.sparse.csgraph",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "cvxpy",
    "multiprocessing.spawn",
    "http.client",
)


def load() -> None:
    """Import all of it."""
    from predict_graph.cli.commands import NAMES, command_of

    [*map(command_of, NAMES)]
    for name in MODULES:
        with contextlib.suppress(ImportError):
            import_module(name)
