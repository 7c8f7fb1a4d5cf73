"""Any data-parallel job: measuring it, a scaling model of it, and the choice of machines.

Examples
--------
>>> from predict_graph.jobs import parse_duration, parse_counts
>>> parse_duration("1h30m"), parse_counts("2:6,16")
(5400.0, [2, 3, 4, 5, 6, 16])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from predict_graph.jobs.collecting import Collected, collect
    from predict_graph.jobs.designing import make_design, write_design
    from predict_graph.jobs.experiments import Design, Experiment, read_design
    from predict_graph.jobs.measurements import Measurements, read_measurements
    from predict_graph.jobs.model import JobModel, fit_job
    from predict_graph.jobs.model_file import load_model, save_model
    from predict_graph.jobs.planning import Choice, Configuration, Plan, plan
    from predict_graph.jobs.prices import Price, read_prices
    from predict_graph.jobs.quantities import parse_counts, parse_duration, parse_money

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
    "collecting": ("Collected", "collect"),
    "designing": ("make_design", "write_design"),
    "experiments": ("Design", "Experiment", "read_design"),
    "measurements": ("Measurements", "read_measurements"),
    "model": ("JobModel", "fit_job"),
    "model_file": ("load_model", "save_model"),
    "planning": ("Choice", "Configuration", "Plan", "plan"),
    "prices": ("Price", "read_prices"),
    "quantities": ("parse_counts", "parse_duration", "parse_money"),
}


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"predict_graph.jobs.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
