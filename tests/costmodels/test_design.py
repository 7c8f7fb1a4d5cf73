from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodels.design import DesignProblem, candidate_grid, optimal_design
from costmodels.scaling import Term

CRITERIA = ("a", "i")
AMDAHL = ("1", "scale/machines")


def ernest_example() -> pd.DataFrame:
    """Candidates of the example of Ernest's tool: 4 to 32 of 64 partitions, 1 to 16 machines."""
    return candidate_grid((4 / 64, 32 / 64), (1, 16), partitions=64, cores_per_machine=2)


def by_hand(criterion: str, rows: np.ndarray, counts: np.ndarray) -> float:
    """The criteria as they are defined, with every term divided by its mean over the rows."""
    scaled = rows / rows.mean(axis=0)
    information = scaled.T @ np.diag(counts) @ scaled
    if np.linalg.matrix_rank(information) < len(information):
        return np.inf
    inverse = np.linalg.inv(information)
    if criterion == "a":
        return float(np.trace(inverse))
    return float(np.mean([row @ inverse @ row for row in scaled]))


def amdahl_rows(table: pd.DataFrame) -> np.ndarray:
    return np.column_stack((np.ones(len(table)), table["scale"] / table["machines"]))


def best_by_hand(criterion: str, grid: pd.DataFrame, budget: float, most: int) -> float:
    """Every design within the budget, one by one."""
    rows, costs = amdahl_rows(grid), grid["cost"].to_numpy()
    designs = itertools.product(range(most + 1), repeat=len(grid))
    values = (
        by_hand(criterion, rows, np.array(counts))
        for counts in designs
        if np.array(counts) @ costs <= budget * (1 + 1e-12)
    )
    return min(values)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("budget", [1.4, 2.5, 5, 9])
def test_no_design_of_a_small_problem_is_better(criterion, budget):
    grid = candidate_grid((1, 4), (1, 4), steps=3).iloc[::2].reset_index(drop=True)
    found = optimal_design(grid, budget, terms=AMDAHL, criterion=criterion, max_repeats=2)
    best = best_by_hand(criterion, grid, budget, 2)
    assert found.value == pytest.approx(best, rel=1e-6)
    assert found.bound <= best * (1 + 1e-9)


@settings(max_examples=15)
@given(
    low=st.floats(0.01, 5),
    factor=st.floats(1.5, 50),
    machines=st.integers(4, 20),
    spare=st.floats(1.0, 20),
    most=st.integers(1, 3),
    criterion=st.sampled_from(CRITERIA),
    cost=st.sampled_from(["time", "machine-time"]),
)
def test_the_budget_is_never_exceeded_and_no_money_for_a_run_is_left(
    low, factor, machines, spare, most, criterion, cost
):
    grid = candidate_grid((low, low * factor), (1, machines), steps=5, cost=cost)
    budget = spare * float(grid["cost"].nlargest(4).sum())
    problem = DesignProblem(grid, budget, criterion=criterion, max_repeats=most)
    found = problem.optimal()
    points = found.points
    assert found.cost <= budget * (1 + 1e-9)
    assert points["repeats"].between(1, most).all()
    assert 0 < found.efficiency <= 1 + 1e-9
    assert 1 - 1e-9 <= problem.criterion.value(problem.weights) / found.bound < 1.01
    merged = grid.merge(points, on=["scale", "machines"], how="left", suffixes=("", "_"))
    unused = merged.loc[merged["repeats"].fillna(0) < most, "cost"]
    assert unused.empty or unused.min() > (budget - found.cost) * (1 - 1e-9)


@pytest.mark.parametrize("budget", [10, 20])
def test_rounding_of_ernests_example_keeps_the_optimum(budget):
    problem = DesignProblem(ernest_example(), budget)
    found = problem.optimal()
    assert found.cost <= budget
    assert found.value <= 1.3 * found.bound
    # What the published tool does: all weights above 0.3, one run each.
    kept = problem.design((problem.weights > 0.3).astype(int))
    assert kept.value / kept.bound > 5 or kept.cost > budget


def test_units_do_not_change_the_design():
    grid = ernest_example()
    percent = grid.assign(scale=100 * grid["scale"], cost=1e-4 * grid["cost"])
    for criterion in CRITERIA:
        one = optimal_design(grid, 10, criterion=criterion)
        other = optimal_design(percent, 10e-4, criterion=criterion)
        assert other.value == pytest.approx(one.value, rel=1e-4)
        assert other.bound == pytest.approx(one.bound, rel=1e-4)


def test_terms_of_the_user_and_other_columns():
    def per_core(scale, cores):
        return scale / cores

    grid = candidate_grid((1, 4), (1, 4), steps=4).assign(cores=[4, 8] * 8)
    mine = Term("scale/cores", per_core, "scale/core", columns=("scale", "cores"))
    found = optimal_design(grid, 6, terms=["1", "scale/machines", mine])
    assert found.terms == ("1", "scale/machines", "scale/cores")
    assert list(found.points) == ["scale", "machines", "repeats", "cost", "cores"]
    assert np.isfinite(found.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget": 0}, "budget is 0, but must be positive"),
        ({"budget": float("nan")}, "budget is nan, but must be positive"),
        ({"budget": 2}, "affords too few runs: the 4 terms need 4 experiments, which cost 2.0"),
        ({"criterion": "e"}, "unknown criterion 'e'; accepted: a, i"),
        ({"terms": ["1", "magic"]}, "unknown term 'magic'"),
        ({"max_repeats": 0}, "max_repeats is 0, but must be a whole number"),
        ({"targets": pd.DataFrame({"scale": [1]})}, "the criterion 'a' has none"),
        (
            {"criterion": "i", "targets": pd.DataFrame({"scale": [1], "machines": [0]})},
            "machines of targets, row 0, is 0, but must be positive",
        ),
    ],
)
def test_what_is_refused(change, message):
    options = {"budget": 10, **change}
    with pytest.raises(ValueError, match=message):
        DesignProblem(ernest_example(), **options)


def test_the_least_budget_that_is_named_suffices():
    grid = ernest_example()
    with pytest.raises(ValueError, match="cost") as error:
        DesignProblem(grid, 1)
    least = float(str(error.value).split("cost ")[1].split(" ")[0])
    assert np.isfinite(optimal_design(grid, least * 1.00001).value)


ONE = {"scale": [1, 2], "machines": [1, 2], "cost": [1, 1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cost": [1, -1]}, "cost of candidates, row 1, is -1, but must be positive"),
        ({"scale": [1, np.nan]}, "scale of candidates, row 1, is nan"),
        ({"scale": ["x", "y"]}, "scale of candidates holds what is no number"),
        ({"scale": [1, 1], "machines": [2, 2]}, "candidates, row 1, repeats an earlier one"),
        ({"repeats": [1, 1]}, "candidates has a column 'repeats'"),
        ({"scale": [], "machines": [], "cost": []}, "candidates has no rows"),
        ({"scale": range(1, 7), "machines": 4, "cost": 1.0}, r"cannot tell the term 'log"),
    ],
)
def test_candidates_that_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        DesignProblem(pd.DataFrame({**ONE, **change}), 10)


def test_a_solver_that_fails_is_one_sentence(monkeypatch):
    import cvxpy

    def fail(self, **options):
        raise cvxpy.error.SolverError("Solver 'CLARABEL' failed. Try another solver.")

    monkeypatch.setattr(cvxpy.Problem, "solve", fail)
    with pytest.raises(RuntimeError, match="no design for the budget 10 was found"):
        optimal_design(ernest_example(), 10)
