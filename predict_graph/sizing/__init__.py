"""Any data-parallel job: measuring it, a scaling model of it, and the choice of machines.

Examples
--------
>>> from predict_graph.sizing import parse_duration, parse_counts
>>> parse_duration("1h30m"), parse_counts("2:6,16")
(5400.0, [2, 3, 4, 5, 6, 16])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from predict_graph.sizing.fitting.fit_runs import fit
    from predict_graph.sizing.fitting.model import JobModel, fit_job
    from predict_graph.sizing.fitting.model_file import load_model, save_model
    from predict_graph.sizing.measuring.collecting import Collected, collect
    from predict_graph.sizing.measuring.designing import make_design, write_design
    from predict_graph.sizing.measuring.experiments import Design, Experiment, read_design
    from predict_graph.sizing.measuring.measurements import Measurements, read_measurements
    from predict_graph.sizing.planning.choices import Choice, Configuration, Plan, plan
    from predict_graph.sizing.planning.prices import Price, read_prices
    from predict_graph.sizing.quantities import parse_counts, parse_duration, parse_money

__all__ = [
    "Choice",
    "Collected",
    "Configuration",
    "Design",
    "Experiment",
    "JobModel",
    "Measurements",
    "Plan",
    "Price",
    "collect",
    "fit",
    "fit_job",
    "load_model",
    "make_design",
    "parse_counts",
    "parse_duration",
    "parse_money",
    "plan",
    "read_design",
    "read_measurements",
    "read_prices",
    "save_model",
    "write_design",
]

# scikit-learn takes a second to import: only who fits or loads a model waits for it.
_PLACES = {
    "measuring.collecting": ("Collected", "collect"),
    "measuring.designing": ("make_design", "write_design"),
    "measuring.experiments": ("Design", "Experiment", "read_design"),
    "measuring.measurements": ("Measurements", "read_measurements"),
    "fitting.fit_runs": ("fit",),
    "fitting.model": ("JobModel", "fit_job"),
    "fitting.model_file": ("load_model", "save_model"),
    "planning.choices": ("Choice", "Configuration", "Plan", "plan"),
    "planning.prices": ("Price", "read_prices"),
    "quantities": ("parse_counts", "parse_duration", "parse_money"),
}


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"predict_graph.sizing.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
