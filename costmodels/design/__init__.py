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
    from costmodels.design.designs import Design as Design
    from costmodels.design.grid import COSTS as COSTS
    from costmodels.design.grid import candidate_grid as candidate_grid
    from costmodels.design.problem import DesignProblem as DesignProblem
    from costmodels.design.problem import optimal_design as optimal_design

CRITERIA = {
    "a": "mean variance of the coefficients, each in units of its term's mean",
    "i": "mean variance of the predictions at the targets",
}
"""Name of each criterion, and what it makes small."""

_PLACES = {
    "Design": "designs",
    "COSTS": "grid",
    "candidate_grid": "grid",
    "DesignProblem": "problem",
    "optimal_design": "problem",
}
__all__ = ["CRITERIA", *_PLACES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(f"costmodels.design.{_PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
