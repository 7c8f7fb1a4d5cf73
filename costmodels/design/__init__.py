"""Experiment design: which runs of a job teach a scaling model most for a budget.

Examples
--------
>>> from costmodels.design import candidate_grid, optimal_design
>>> grid = candidate_grid((4 / 64, 32 / 64), range(1, 17), partitions=64, cores_per_machine=2)
>>> design = optimal_design(grid, budget=10)
>>> design.cost <= 10, design.efficiency > 0.8
(True, True)
"""

from costmodels.design.grid import COSTS, candidate_grid
from costmodels.design.problem import CRITERIA, Design, DesignProblem, optimal_design

__all__ = ["COSTS", "CRITERIA", "Design", "DesignProblem", "candidate_grid", "optimal_design"]
