import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodels.design import DesignProblem, candidate_grid, optimal_design
from costmodels.scaling import Term
from tests.refusals import invalid

CRITERIA = ("a", "i")
AMDAHL = ("1", "scale/machines")


def ernest_example(steps=20, scale=(4 / 64, 32 / 64)):
    """Candidates of the example of Ernest's tool: 4 to 32 of 64 partitions, 1 to 16 machines."""
    given = {"partitions": 64, "cores_per_machine": 2}
    return candidate_grid(scale, range(1, 17), steps=steps, **given)


def by_hand(criterion, rows, counts):
    """The criteria as they are defined, with every term divided by its mean over the rows."""
    scaled = rows / rows.mean(axis=0)
    information = scaled.T @ np.diag(counts) @ scaled
    if np.linalg.matrix_rank(information) < len(information):
        return np.inf
    inverse = np.linalg.inv(information)
    if criterion == "a":
        return float(np.trace(inverse))
    return float(np.mean([row @ inverse @ row for row in scaled]))


def best_by_hand(criterion, grid, budget, most):
    """Every design within the budget, one by one."""
    rows = np.column_stack((np.ones(len(grid)), grid["scale"] / grid["machines"]))
    designs = np.array([*itertools.product(range(most + 1), repeat=len(grid))])
    affordable = designs[designs @ grid["cost"].to_numpy() <= budget * (1 + 1e-12)]
    return min(by_hand(criterion, rows, counts) for counts in affordable)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("budget", [1.4, 2.5, 5, 9])
def test_no_design_of_a_small_problem_is_better(criterion, budget):
    grid = candidate_grid((1, 4), range(1, 5), steps=3).iloc[::2].reset_index(drop=True)
    found = optimal_design(grid, budget, terms=AMDAHL, criterion=criterion, max_repeats=2)
    best = best_by_hand(criterion, grid, budget, 2)
    assert found.value == pytest.approx(best, rel=1e-6)
    assert found.bound <= best * (1 + 1e-9)


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
    grid = candidate_grid((low, low * factor), range(1, machines + 1), steps=5, cost=cost)
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

    grid = candidate_grid((1, 4), range(1, 5), steps=4).assign(cores=[4, 8] * 8)
    mine = Term("scale/cores", per_core, "scale/core", columns=("scale", "cores"))
    found = optimal_design(grid, 6, terms=["1", "scale/machines", mine])
    assert found.terms == ("1", "scale/machines", "scale/cores")
    assert list(found.points) == ["scale", "machines", "repeats", "cost", "cores"]
    assert np.isfinite(found.value)


ONE = {"scale": [1, 2], "machines": [1, 2], "cost": [1, 1]}
NO_MACHINE = pd.DataFrame({"scale": [1], "machines": [0]})


REFUSED = [
    (None, {"budget": 0}, "budget is 0, but must be positive"),
    (None, {"budget": float("nan")}, "budget is nan, but must be positive"),
    (None, {"budget": 2}, "too few runs: the 4 terms need 4 experiments, which cost 2.0"),
    (None, {"criterion": "e"}, "unknown criterion 'e'; accepted: a, i"),
    (None, {"terms": ["1", "magic"]}, "unknown term 'magic'"),
    (None, {"max_repeats": 0}, "max_repeats is 0, but must be a whole number"),
    (None, {"targets": pd.DataFrame({"scale": [1]})}, "the criterion 'a' has none"),
    (None, {"criterion": "i", "targets": NO_MACHINE}, "machines of targets, row 0, is 0"),
    ({"cost": [1, -1]}, {}, "cost of candidates, row 1, is -1, but must be positive"),
    ({"scale": [1, np.nan]}, {}, "scale of candidates, row 1, is nan"),
    ({"scale": ["x", "y"]}, {}, "scale of candidates holds what is no number"),
    ({"scale": [1, 1], "machines": [2, 2]}, {}, "candidates, row 1, repeats an earlier one"),
    ({"repeats": [1, 1]}, {}, "candidates has a column 'repeats'"),
    ({"scale": [], "machines": [], "cost": []}, {}, "candidates has no rows"),
    ({"scale": range(1, 7), "machines": 4, "cost": 1.0}, {}, r"cannot tell the term 'log"),
]


@pytest.mark.parametrize(("candidates", "options", "message"), REFUSED)
def test_what_is_refused(candidates, options, message):
    grid = ernest_example() if candidates is None else pd.DataFrame(ONE | candidates)
    invalid(message, DesignProblem, grid, **{"budget": 10} | options)


def test_the_least_budget_that_is_named_suffices():
    grid = ernest_example()
    least = float(invalid("cost", DesignProblem, grid, 1).split("cost ")[1].split(" ")[0])
    assert np.isfinite(optimal_design(grid, least * 1.00001).value)


def test_a_solver_that_fails_is_one_sentence(monkeypatch):
    import cvxpy

    def fail(self, **options):
        raise cvxpy.error.SolverError("Solver 'CLARABEL' failed. Try another solver.")

    monkeypatch.setattr(cvxpy.Problem, "solve", fail)
    with pytest.raises(RuntimeError, match="no design for the budget 10 was found"):
        optimal_design(ernest_example(), 10)


# The candidates


def test_grid_of_whole_partitions_leaves_out_idle_cores():
    grid = ernest_example(steps=60, scale=(3.2 / 64, 32.7 / 64))
    parts = grid["scale"] * 64
    assert (parts == parts.round()).all()
    assert parts.min() == 4
    assert parts.max() == 32
    assert (parts >= 2 * grid["machines"]).all()
    kept = {(p, m) for p in range(4, 33) for m in range(1, 17) if p >= 2 * m}
    assert set(zip(parts.astype(int), grid["machines"], strict=True)) == kept


def test_costs():
    assert candidate_grid((2, 4), (1, 2), steps=2)["cost"].tolist() == [1, 0.5, 2, 1]
    grid = candidate_grid((2, 4), (1, 2), steps=2, cost="machine-time")
    assert grid["cost"].tolist() == [1, 1, 2, 2]
    grid = candidate_grid((2, 4), (1, 2), steps=2, cost=lambda s, m: 10 + s * m)
    assert grid["cost"].tolist() == [12, 14, 14, 18]


REFUSED_GRIDS = [
    ({"scale": (2, 1)}, "scale is from 2 to 1, but must be .* low less than high"),
    ({"scale": (0, 1)}, "scale is from 0 to 1, but must be positive"),
    ({"scale": (1, np.inf)}, "but must be positive and finite"),
    ({"scale": 3}, "scale is 3, but must be two numbers"),
    ({"machines": (1, 4.5)}, "machines is 4.5, but must be a whole"),
    ({"machines": range(1, 10**4)}, "at most 5000 are accepted"),
    ({"steps": 10**11}, "steps is 100000000000, but must be from 2 to 5000"),
    ({"cores_per_machine": 2}, "but not partitions, which it needs"),
    ({"partitions": 64}, "it is a fraction of the data"),
    (
        {"scale": (0.25, 0.5), "partitions": 4, "cores_per_machine": 3},
        "no candidate is left: 2 partitions, the most, are fewer than the 3 cores",
    ),
    ({"cost": "money"}, "unknown cost 'money'; accepted: machine-time, time"),
    ({"cost": lambda s, m: s - 1}, "the cost is 0 at scale 1 on 1 machine"),
    ({"cost": lambda s, m: s[:2]}, "the cost function returned the shape"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED_GRIDS)
def test_grids_that_are_refused(options, message):
    invalid(message, candidate_grid, **{"scale": (1, 8), "machines": range(1, 9), **options})
