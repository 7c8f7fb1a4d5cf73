"""Designs of experiments: how near they come to the optimum, and how well one predicts from them.

    python -m benchmarks.experiment_design --data FOLDER --out docs/studies/experiment-design.md

FOLDER holds c3o-pagerank.tsv, c3o-sort.tsv, c3o-kmeans.tsv (the runs published with C3O, Will et
al., IC2E 2021) and ernest-rcv1.csv (the example of the Ernest paper's tool).
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny problems: threads only wait for each other

import numpy as np
import pandas as pd

from benchmarks.cluster_peers import XY, judged
from benchmarks.cluster_tables import GROWTH, c3o_growth
from benchmarks.common import study_parser, table, write
from costmodels.design import DesignProblem, candidate_grid
from costmodels.design.rounding import cheapest_basis
from costmodels.scaling import AutoScaling, Ernest

# What stays the same while the data grows, and the column that says how much data there is.
BY_PAGES = ("pagerank", ["machine_type", "links", "convergence_criterion"], "pages")
WAYS = (GROWTH[0], BY_PAGES, *GROWTH[1:])
THRESHOLD = 0.3  # weight above which Ernest's tool runs an experiment
MODELS = {"ernest": Ernest, "auto": AutoScaling}
SCHEMES = ("a", "i", "threshold", "greedy", "random")
RANDOM = 20
SHARES = (0.1, 0.4)
DRAWS = 3


def thresholded(problem: DesignProblem, *, within: bool) -> np.ndarray:
    """Counts of Ernest's tool: weights above 0.3, one run each; `within` drops the smallest."""
    weights = problem.weights
    order = np.argsort(-weights, kind="stable")
    kept = weights[order] > THRESHOLD
    if within:
        kept &= np.cumsum(problem.costs[order]) <= problem.budget * (1 + 1e-12)
    counts = np.zeros(len(weights), dtype=int)
    counts[order[kept]] = 1
    return counts


def random_counts(problem: DesignProblem, rng: np.random.Generator) -> np.ndarray:
    """Candidates in random order, each that can still be paid."""
    counts, room = np.zeros(len(problem.costs), dtype=int), problem.budget * (1 + 1e-12)
    for i in rng.permutation(len(counts)):
        if problem.costs[i] <= room:
            counts[i], room = 1, room - problem.costs[i]
    return counts


def greedy_counts(problem: DesignProblem) -> np.ndarray:
    """The cheapest candidates until the next exceeds the budget (Ernest, section 6.5)."""
    order = np.argsort(problem.costs, kind="stable")
    counts = np.zeros(len(order), dtype=int)
    counts[order] = np.cumsum(problem.costs[order]) <= problem.budget * (1 + 1e-12)
    return counts


def criteria_table() -> list[str]:
    grid = candidate_grid((4 / 64, 32 / 64), range(1, 17), partitions=64, cores_per_machine=2)
    rows = []
    rng = np.random.default_rng(0)
    DesignProblem(grid, 10).optimal()  # imports cvxpy
    for criterion in "ai":
        for budget in (5, 10, 20, 40):
            spent = []
            for _ in range(3):
                start = time.perf_counter()
                problem = DesignProblem(grid, budget, criterion=criterion)
                ours = problem.optimal()
                spent.append(time.perf_counter() - start)
            kept = problem.design(thresholded(problem, within=False))
            others = [problem.design(random_counts(problem, rng)) for _ in range(RANDOM)]
            greedy = problem.design(greedy_counts(problem)).value
            drawn = float(np.median([design.value for design in others]))
            rows.append(
                [
                    *(criterion.upper(), str(budget), str(ours.runs)),
                    factor(ours.value, ours.bound),
                    f"{factor(kept.value, kept.bound)} ({kept.cost:.1f})",
                    *(factor(value, ours.bound) for value in (greedy, drawn)),
                    f"{min(spent):.2f} s",
                ]
            )
    head = ["criterion", "budget", "runs", "ours", "threshold (its cost)", "greedy"]
    return table([*head, "random, median", "solved in"], rows)


def factor(value: float, bound: float) -> str:
    ratio = value / bound
    if not np.isfinite(ratio):
        return "singular"
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:,.0f}"


@dataclass(frozen=True)
class Case:
    """Runs of one context; columns scale, machines, seconds."""

    job: str
    known: pd.DataFrame
    unknown: pd.DataFrame

    @property
    def candidates(self) -> pd.DataFrame:
        medians = self.known.groupby(XY, as_index=False)["seconds"].median()
        return medians.rename(columns={"seconds": "cost"})

    def budget(self, share: float) -> float:
        """What the least design costs, and a share of what all others do."""
        every = float(self.candidates.cost.sum())
        problem = DesignProblem(self.candidates, every)
        least = float(problem.costs[cheapest_basis(problem.criterion, problem.costs)].sum())
        return least + share * (every - least)


def growth(data: Path) -> Iterator[Case]:
    """Up to three quarters of the data on up to 8 machines; unknown are all data on 10 and 12."""
    for job, runs in c3o_growth(data, WAYS):
        table = runs.reset_index(drop=True)
        known = table[(table.scale <= 75) & (table.machines <= 8)]
        unknown = table[(table.scale == 100) & (table.machines >= 10)]
        if known.scale.nunique() >= 2 and known.machines.nunique() == 4 and len(unknown):
            yield Case(job, known.reset_index(drop=True), unknown)


def counts_of(
    case: Case, scheme: str, budget: float, rng: np.random.Generator
) -> tuple[np.ndarray, DesignProblem]:
    targets = case.unknown[XY].drop_duplicates() if scheme == "i" else None
    criterion = scheme if scheme in "ai" else "a"
    problem = DesignProblem(case.candidates, budget, criterion=criterion, targets=targets)
    if scheme == "threshold":
        return thresholded(problem, within=True), problem
    if scheme == "random":
        return random_counts(problem, rng), problem
    if scheme == "greedy":
        return greedy_counts(problem), problem
    merged = case.candidates.merge(problem.optimal().points, on=XY, how="left")["repeats"]
    return merged.fillna(0).to_numpy(int), problem


def measured(case: Case, counts: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """One of the repeats of each chosen candidate."""
    chosen = case.candidates.loc[counts > 0, XY]
    runs = case.known.merge(chosen, on=XY)
    return runs.groupby(XY).sample(1, random_state=int(rng.integers(1 << 30)))


def evaluate(cases: list[Case]) -> pd.DataFrame:
    """One row a case, budget, scheme, draw and model: error in percent, NaN where refused."""
    found = []
    for number, case in enumerate(cases):
        rng = np.random.default_rng(number)
        for share in SHARES:
            budget = case.budget(share)
            for scheme in SCHEMES:
                for draw in range(DRAWS):
                    if draw == 0 or scheme == "random":
                        counts, problem = counts_of(case, scheme, budget, rng)
                    assert counts @ problem.costs <= budget * (1 + 1e-9)
                    runs = measured(case, counts, rng)
                    for name, make in MODELS.items():
                        if name == "auto" and draw:  # its fits take longest
                            continue
                        error = np.nan
                        with suppress(ValueError):  # too few points for this model
                            error, _, _ = judged(make, runs, case.unknown)
                        found.append((number, case.job, share, scheme, name, error, len(runs)))
    columns = ["case", "job", "share", "scheme", "model", "error", "runs"]
    return pd.DataFrame(found, columns=columns)


def error_table(found: pd.DataFrame) -> list[str]:
    """Mean over the jobs of the mean error of their cases, and how often a model was refused."""
    parts = [(name, share) for name in MODELS for share in SHARES]
    rows = {scheme: [scheme] for scheme in SCHEMES}
    for name, share in parts:
        mine = found[(found.model == name) & (found.share == share)]
        # Cases that every design can answer, so that all means are of the same ones.
        answered = mine.groupby("case").error.transform(lambda errors: errors.notna().all())
        same = mine[answered].groupby(["scheme", "job"]).error.mean().groupby("scheme").mean()
        refused = mine.error.isna().groupby(mine.scheme).mean()
        for scheme, row in rows.items():
            note = f" ({refused[scheme]:.0%} refused)" if refused[scheme] else ""
            row.append(f"{same.get(scheme, np.nan):.1f}{note}")
    runs = found.groupby(["scheme", "share"]).runs.mean()
    for scheme, row in rows.items():
        row.append(" / ".join(f"{runs[scheme, share]:.1f}" for share in SHARES))
    titles = (f"{name}, {share:.0%}" for name, share in parts)
    return table(["design", *titles, "runs"], rows.values())


def main() -> None:
    parser = study_parser(__doc__, cluster_tables=True)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    write(options.out, criteria_table(), "criteria")
    write(options.out, error_table(evaluate(list(growth(options.data)))), "errors")


if __name__ == "__main__":
    main()
