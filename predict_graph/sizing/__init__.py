"""Any data-parallel job: measuring it, a scaling model of it, and the choice of machines.

Examples
--------
>>> from predict_graph.sizing import parse_duration, parse_counts
>>> parse_duration("1h30m"), parse_counts("2:6,16")
(5400.0, [2, 3, 4, 5, 6, 16])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from predict_graph.lazy import lazily

if TYPE_CHECKING:
    from predict_graph.sizing.fitting.fit_runs import fit as fit
    from predict_graph.sizing.fitting.model import JobModel as JobModel
    from predict_graph.sizing.fitting.model import fit_job as fit_job
    from predict_graph.sizing.fitting.model_file import load_model as load_model
    from predict_graph.sizing.fitting.model_file import save_model as save_model
    from predict_graph.sizing.measuring.collecting import Collected as Collected
    from predict_graph.sizing.measuring.collecting import collect as collect
    from predict_graph.sizing.measuring.designing import make_design as make_design
    from predict_graph.sizing.measuring.designing import write_design as write_design
    from predict_graph.sizing.measuring.experiments import Design as Design
    from predict_graph.sizing.measuring.experiments import Experiment as Experiment
    from predict_graph.sizing.measuring.experiments import read_design as read_design
    from predict_graph.sizing.measuring.measurements import Measurements as Measurements
    from predict_graph.sizing.measuring.measurements import read_measurements as read_measurements
    from predict_graph.sizing.planning.candidates import MachineType as MachineType
    from predict_graph.sizing.planning.candidates import read_prices as read_prices
    from predict_graph.sizing.planning.choices import Choice as Choice
    from predict_graph.sizing.planning.choices import Configuration as Configuration
    from predict_graph.sizing.planning.choices import Plan as Plan
    from predict_graph.sizing.planning.choices import plan as plan
    from predict_graph.sizing.quantities import parse_counts as parse_counts
    from predict_graph.sizing.quantities import parse_duration as parse_duration
    from predict_graph.sizing.quantities import parse_money as parse_money

# Only fitting and loading models import scikit-learn, which takes a second.
__getattr__, __all__ = lazily(
    __name__,
    {
        "measuring.collecting": "Collected collect",
        "measuring.designing": "make_design write_design",
        "measuring.experiments": "Design Experiment read_design",
        "measuring.measurements": "Measurements read_measurements",
        "fitting.fit_runs": "fit",
        "fitting.model": "JobModel fit_job",
        "fitting.model_file": "load_model save_model",
        "planning.candidates": "MachineType read_prices",
        "planning.choices": "Choice Configuration Plan plan",
        "quantities": "parse_counts parse_duration parse_money",
    },
)
