"""Experiment design: which runs of a job teach a scaling model most for a budget.

Examples
--------
>>> from costmodels.design import candidate_grid, optimal_design
>>> grid = candidate_grid((4 / 64, 32 / 64), (1, 16), partitions=64, cores_per_machine=2)
>>> design = optimal_design(grid, budget=10)
>>> design.cost <= 10, design.efficiency > 0.8
(True, True)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from costmodels.design.designs import Design, load_design
    from costmodels.design.grid import COSTS, candidate_grid
    from costmodels.design.oracle import OracleDesign, oracle_design
    from costmodels.design.problem import DesignProblem, greedy_design, optimal_design
    from costmodels.design.relaxed import RelaxedDesign

__all__ = [
    "COSTS",
    "CRITERIA",
    "Design",
    "DesignProblem",
    "OracleDesign",
    "RelaxedDesign",
    "candidate_grid",
    "greedy_design",
    "load_design",
    "optimal_design",
    "oracle_design",
]

CRITERIA = {
    "a": "mean variance of the coefficients, each in units of its term's mean",
    "d": "volume of the confidence region of the coefficients",
    "i": "mean variance of the predictions at the targets",
}
"""Name of each criterion, and what it makes small."""

_PLACES = {
    "designs": ("Design", "load_design"),
    "grid": ("COSTS", "candidate_grid"),
    "oracle": ("OracleDesign", "oracle_design"),
    "problem": ("DesignProblem", "greedy_design", "optimal_design"),
    "relaxed": ("RelaxedDesign",),
}


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"costmodels.design.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
