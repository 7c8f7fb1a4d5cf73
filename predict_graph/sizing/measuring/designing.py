"""Which runs to measure: the design of costmodels as a table that `collect` reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from costmodels.scaling.terms import ERNEST, MASHA, TERMS
from predict_graph.errors import JobError, RequestError
from predict_graph.files import written_beside

if TYPE_CHECKING:
    import pandas as pd

    from costmodels.design import Design

TERM_SETS = {"ernest": ERNEST, "masha": MASHA, "amdahl": ("1", "scale/machines")}
"""Terms by the name of their model."""


def make_design(
    terms: Sequence[str],
    scale: tuple[float, float],
    machines: Sequence[int],
    budget: float,
    *,
    criterion: str = "a",
    scale_steps: int = 20,
    partitions: int | None = None,
    cores_per_machine: int | None = None,
    cost: str = "time",
    max_repeats: int = 1,
    target: tuple[float, Sequence[int]] | None = None,
) -> Design:
    """Choose the runs that teach a model most for a budget.

    Parameters
    ----------
    terms : sequence of str
        Names of the term library, or one name of :data:`TERM_SETS`.
    machines : sequence of int
        Counts to choose from.
    scale, criterion, partitions, cores_per_machine, cost, max_repeats, budget
        As in :func:`costmodels.design.candidate_grid` and
        :class:`costmodels.design.DesignProblem`.
    scale_steps : int, default 20
        Number of scales to choose from.
    target : (float, sequence of int), optional
        Scale and machine counts whose times will be asked for; for the criterion ``"i"``.

    Returns
    -------
    costmodels.design.Design

    Raises
    ------
    RequestError
        If an option is wrong or the budget too small.
    JobError
        If the solver finds no solution.

    References
    ----------
    Venkataraman et al.: Ernest, NSDI 2016, section 3.3.
    """
    from costmodels.design import candidate_grid, optimal_design

    try:
        grid = candidate_grid(
            scale,
            (min(machines), max(machines)),
            steps=scale_steps,
            partitions=partitions,
            cores_per_machine=cores_per_machine,
            cost=cost,
        )
        return optimal_design(
            grid[grid["machines"].isin(machines)],
            budget,
            terms=_terms(terms),
            criterion=criterion,
            max_repeats=max_repeats,
            targets=_targets(target),
        )
    except ValueError as error:
        raise RequestError(str(error)) from error
    except RuntimeError as error:
        raise JobError(str(error)) from error


def write_design(design: Design, path: Path) -> None:
    """Write the points as CSV; whole numbers without a decimal point, for jobs that expect them.

    Raises
    ------
    RequestError, JobError
        If the file cannot be written; what was there stays.
    """
    with written_beside(path) as beside:
        design.points.to_csv(beside, index=False, float_format="%.10g", lineterminator="\n")


def design_summary(design: Design) -> dict[str, Any]:
    """Return what `design --json` writes."""
    names = ("criterion", "value", "bound", "efficiency", "budget", "cost", "runs")
    return {
        "schema": 1,
        "terms": list(design.terms),
        **{name: getattr(design, name) for name in names},
        "points": design.points[["scale", "machines", "repeats", "cost"]].to_dict("records"),
    }


def _terms(names: Sequence[str]) -> Sequence[str]:
    if len(names) == 1 and names[0] in TERM_SETS:
        return TERM_SETS[names[0]]
    unknown = [name for name in names if name not in TERMS]
    if unknown:
        raise RequestError(
            f"unknown terms {unknown[0]!r}; accepted: {', '.join(TERM_SETS)}, or terms of the "
            f"library with commas between: {', '.join(TERMS)}"
        )
    return names


def _targets(target: tuple[float, Sequence[int]] | None) -> pd.DataFrame | None:
    if target is None:
        return None
    import pandas as pd

    scale, machines = target
    return pd.DataFrame({"scale": scale, "machines": list(machines)})
