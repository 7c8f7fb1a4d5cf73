"""Every cluster-scaling model on measured runs: what it predicts for configurations it never saw.

    python benchmarks/cluster_models.py --data FOLDER --out docs/studies/cluster-models.md

FOLDER holds c3o-pagerank.tsv, c3o-sort.tsv, c3o-kmeans.tsv (the runs published with C3O, Will et
al., IC2E 2021) and ernest-rcv1.csv (the example of the Ernest paper's tool).
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny problems: threads only wait for each other

import numpy as np
import pandas as pd

# A script's own folder comes first on the path, where this file would hide the package.
HERE = Path(__file__).resolve().parent
sys.path[:] = [str(HERE.parent), *(p for p in sys.path if Path(p or ".").resolve() != HERE)]

from benchmarks.cluster_peers import Boosting  # noqa: E402
from benchmarks.cluster_pictures import draw_contexts, draw_errors  # noqa: E402
from benchmarks.cluster_tables import CONTEXT, GROWTH, c3o, c3o_runs  # noqa: E402
from costmodels.scaling import (  # noqa: E402
    AutoScaling,
    Ernest,
    Masha,
    PowerLaw,
    ProductLaw,
    UniversalScalability,
)

TRAIN, TEST = (2, 4, 6, 8), (10, 12)
SHOTS = (3, 4, 5)
DRAWS = 2
LEVEL = 0.9


class Cubic:
    """Cubic in the machines, linear in the data: least squares without signs."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Cubic:
        self.coef = np.linalg.lstsq(self._terms(X) / y[:, None], np.ones(len(y)), rcond=None)[0]
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return self._terms(X) @ self.coef

    def _terms(self, X: pd.DataFrame) -> np.ndarray:
        m = X["machines"].to_numpy() / 12
        return np.column_stack((np.ones(len(m)), m, m**2, m**3, X["scale"]))


MODELS: dict[str, Callable[[], Any]] = {
    "auto": AutoScaling,
    "auto, terms selected": lambda: AutoScaling(method="select"),
    "ernest, as published": lambda: Ernest(weights="none"),
    "ernest": Ernest,
    "ernest, cliffs split": lambda: Ernest(cliffs="split"),
    "masha, as published": lambda: Masha(weights="none"),
    "masha": Masha,
    "usl": UniversalScalability,
    "power-law": PowerLaw,
    "product": ProductLaw,
    "gradient boosting": Boosting,
    "cubic": Cubic,
}


@dataclass(frozen=True)
class Case:
    """Runs to fit and runs to predict; columns scale, machines, seconds."""

    job: str
    train: pd.DataFrame
    test: pd.DataFrame


def scale_out(data: Path, train: tuple[int, ...], test: tuple[int, ...]) -> Iterator[Case]:
    for job, group in c3o(data):
        known, unknown = (group[group.machines.isin(m)] for m in (train, test))
        if known.machines.nunique() >= 3 and len(unknown):
            yield Case(job, known, unknown)


def few_shot(data: Path, shots: int) -> Iterator[Case]:
    """Single runs at a few machine counts drawn at random; the other machine counts are unknown."""
    rng = np.random.default_rng(7)
    for job, group in c3o(data):
        counts = group.machines.unique()
        if len(counts) <= shots:
            continue
        for _ in range(DRAWS):
            drawn = rng.choice(counts, shots, replace=False)
            known = group[group.machines.isin(drawn)]
            known = known.groupby("machines").sample(1, random_state=int(rng.integers(1 << 30)))
            yield Case(job, known, group[~group.machines.isin(drawn)])


def growth(data: Path) -> Iterator[Case]:
    """Up to three quarters of the data on up to 8 machines; unknown are all data on 12."""
    for job, (columns, size) in GROWTH.items():
        for _, group in c3o_runs(data, job).groupby(columns):
            scale = 100 * group[size] / group[size].max()  # percent
            table = group.assign(scale=scale)[["scale", "machines", "seconds"]]
            known = table[(table.scale <= 75) & (table.machines <= 8)]
            unknown = table[(table.scale == 100) & (table.machines == 12)]
            if known.scale.nunique() >= 2 and known.machines.nunique() >= 3 and len(unknown):
                yield Case(job, known, unknown)


def evaluate(cases: list[Case], models: dict[str, Callable[[], Any]]) -> pd.DataFrame:
    """Return one row for each case and model: mean absolute % error, coverage, seconds to fit."""
    found = []
    for number, case in enumerate(cases):
        X, unknown = (t[["scale", "machines"]].astype(float) for t in (case.train, case.test))
        y, truth = (t["seconds"].to_numpy(float) for t in (case.train, case.test))
        for name, make in models.items():
            start = time.perf_counter()
            try:
                model = make().fit(X, y)
            except ValueError:  # too few points for this model
                found.append((name, case.job, number, np.nan, np.nan, np.nan, np.nan))
                continue
            spent = time.perf_counter() - start
            error = 100 * np.abs(model.predict(unknown) / truth - 1).mean()
            held = width = np.nan
            if hasattr(model, "predict_interval"):
                low, high = model.predict_interval(unknown, LEVEL).T
                held = 100 * ((low <= truth) & (truth <= high)).mean()
                width = np.sqrt(high / low).mean()
            found.append((name, case.job, number, error, held, width, spent))
    return pd.DataFrame(
        found, columns=["model", "job", "case", "error", "held", "width", "fit_seconds"]
    )


def kept(cache: Path | None, title: str, judge: Callable[[], pd.DataFrame]) -> pd.DataFrame:
    """Return what was judged before, or judge and keep it."""
    if cache is None:
        return judge()
    cache.mkdir(parents=True, exist_ok=True)
    path = cache / f"{title.partition(',')[0].replace(': ', ' ')}.csv"
    if not path.exists():
        part = path.with_suffix(".part")
        judge().to_csv(part, index=False)
        part.replace(path)
    return pd.read_csv(path)


def table(found: pd.DataFrame, names: list[str]) -> str:
    """Return a table of models against jobs: median / mean / worst % error of the cases."""
    jobs = list(CONTEXT)
    sizes = found.groupby("job").case.nunique()
    titles = [f"{job} ({sizes[job]})" for job in jobs]
    lines = [
        f"| model | {' | '.join(titles)} | mean of the jobs | held by 90% interval | refused |"
    ]
    lines.append("|---" * (len(jobs) + 4) + "|")
    for name in names:
        mine = found[found.model == name]
        cells, means, held = [], [], []
        for job in jobs:
            errors = mine[mine.job == job].error.dropna()
            means.append(errors.mean())
            held.append(mine[mine.job == job].held.mean())
            cells.append(f"{errors.median():.1f} / {errors.mean():.1f} / {errors.max():.0f}")
        share = "" if math.isnan(held[0]) else f"{np.mean(held):.0f}% (×{mine.width.median():.2f})"
        refused = int(mine.error.isna().sum())
        row = [name, *cells, f"**{np.mean(means):.1f}**", share, str(refused or "")]
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def noise_floor(cases: list[Case]) -> float:
    """Return the error of a prediction that knows the median of the unknown runs."""
    errors: dict[str, list[float]] = {}
    for case in cases:
        medians = case.test.groupby(["scale", "machines"]).seconds.transform("median")
        errors.setdefault(case.job, []).append(100 * (medians / case.test.seconds - 1).abs().mean())
    return float(np.mean([np.mean(of_job) for of_job in errors.values()]))


def ernest_example(data: Path) -> str:
    points = pd.read_csv(data / "ernest-rcv1.csv", skipinitialspace=True)
    X = pd.DataFrame({"scale": points["Input Fraction"], "machines": points["#Cores"]})
    model = Ernest(weights="none").fit(X, points["Time (s)"])
    cores = [4, 8, 16, 60]
    full = model.predict(pd.DataFrame({"scale": np.ones(4), "machines": cores}))
    predicted = ", ".join(f"{c}: {s:.2f} s" for c, s in zip(cores, full, strict=True))
    validation = str(model.loocv_).capitalize()
    return f"`{model.formula_}`\n\nAt full scale by cores: {predicted}. {validation}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    folder = os.environ.get("PREDICT_GRAPH_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(folder) / "cluster" if folder else None,
        required=not folder,
    )
    parser.add_argument("--out", type=Path, help="Markdown file; the tables are printed either way")
    parser.add_argument("--models", nargs="*", choices=MODELS, default=list(MODELS))
    parser.add_argument("--tune", action="store_true", help="training machines only: 2,4,6 -> 8")
    parser.add_argument("--cache", type=Path, help="folder of finished tests, to go on from them")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    models = {name: MODELS[name] for name in options.models}
    if options.tune:
        tasks = {"Train {2,4,6}, predict 8": list(scale_out(options.data, (2, 4, 6), (8,)))}
    else:
        title = "Scale-out: train {2,4,6,8} machines, predict {10,12}"
        tasks = {title: list(scale_out(options.data, TRAIN, TEST))}
        for shots in SHOTS:
            title = f"Few shots: {shots} runs at random machine counts, predict the other counts"
            tasks[title] = list(few_shot(options.data, shots))
        tasks["Growth: train up to 75% of the data on up to 8 machines, predict all on 12"] = list(
            growth(options.data)
        )
    sections, tables = [], {}
    for title, cases in tasks.items():
        found = tables[title] = kept(options.cache, title, partial(evaluate, cases, models))
        spent = found.groupby("model").fit_seconds.sum()
        text = (
            f"## {title}\n\n{table(found, list(models))}\n\nNoise floor {noise_floor(cases):.1f}."
        )
        if "auto" in spent:
            text += f" Fitting `auto` to the {len(cases)} cases took {spent['auto']:.1f} s."
        print(text, end="\n\n", flush=True)
        sections.append(text)
    if options.out and not options.tune:
        folder = options.out.with_suffix("")
        folder.mkdir(exist_ok=True)
        cases = list(scale_out(options.data, TRAIN, TEST))
        draw_contexts(cases, folder / "contexts.png", LEVEL)
        panels = ("scale-out", "3 runs", "4 runs", "5 runs", "growth")
        shown = dict(zip(panels, tables.values(), strict=True))
        draw_errors(
            {name: shown[name] for name in ("scale-out", "4 runs", "growth")}, folder / "errors.png"
        )
    if options.out:
        options.out.write_text(page(sections, ernest_example(options.data)), encoding="utf-8")


INTRODUCTION = """\
# Cluster models on measured runs

Written by `python benchmarks/cluster_models.py --out docs/studies/cluster-models.md`. Spark jobs on
EC2, 5 runs a configuration, published with C3O (Will et al., IC2E 2021). A context is a job with
its parameters on one machine type. Cells are the median / mean / worst over contexts of the mean
absolute error in percent, against single runs; the noise floor is the error of a prediction that
knows the median of the runs it predicts. Beside the share of runs that the 90% interval holds is
its median half width as a factor. `refused` counts contexts with too few points for a model.

`auto` takes the prior that comes with the package, which was learnt from these runs among others,
so its figures here are not blind; [clusters that it was not made on](cluster-transfer.md) are
judged with priors learnt without them. The part of a machine that does not work on the data was
added to its shapes after runs on two machines of `sort` were seen here. The threshold of cliffs is
1.5.

![Predicted and measured seconds against machines](cluster-models/contexts.png)

![Mean error by model, job and test](cluster-models/errors.png)"""


def page(sections: list[str], example: str) -> str:
    parts = (INTRODUCTION, *sections, "## The example of Ernest's own tool", example)
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
