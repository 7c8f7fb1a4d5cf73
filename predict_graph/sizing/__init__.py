"""Any data-parallel job: measuring it, a scaling model of it, and the choice of machines.

Examples
--------
>>> import pandas as pd
>>> from predict_graph.sizing import fit, plan
>>> runs = pd.DataFrame({"machines": [1, 2, 4, 8], "seconds": [90.0, 50.0, 30.0, 20.0]})
>>> plan(fit(runs, "ernest"), "1:16", deadline="40s").choice.configuration.machines
3
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from costmodels.lazy import lazily

if TYPE_CHECKING:
    from predict_graph.sizing.fitting.fit_runs import fit as fit
    from predict_graph.sizing.fitting.fit_runs import fit_job as fit_job
    from predict_graph.sizing.fitting.fit_runs import load_model as load_model
    from predict_graph.sizing.fitting.model import JobModel as JobModel
    from predict_graph.sizing.fitting.model import save_model as save_model
    from predict_graph.sizing.measuring.collecting import collect as collect
    from predict_graph.sizing.measuring.experiments import Design as Design
    from predict_graph.sizing.measuring.experiments import make_design as make_design
    from predict_graph.sizing.measuring.experiments import read_design as read_design
    from predict_graph.sizing.measuring.experiments import write_design as write_design
    from predict_graph.sizing.measuring.measurements import Measurements as Measurements
    from predict_graph.sizing.measuring.measurements import read_measurements as read_measurements
    from predict_graph.sizing.planning.candidates import MachineType as MachineType
    from predict_graph.sizing.planning.candidates import read_types as read_types
    from predict_graph.sizing.planning.choices import plan as plan
    from predict_graph.sizing.planning.plans import Plan as Plan

# Only fitting and loading models import scikit-learn, which takes a second.
__getattr__, __all__ = lazily(__name__)
