"""Pictures of cluster_models.py: contexts with intervals, errors by model and job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from costmodels.scaling import AutoScaling

COLORS = {"pagerank": "#1f6f8b", "sort": "#e09f3e", "kmeans": "#d1495b"}
SHOWN = ("auto", "product", "power-law", "ernest", "masha", "usl", "gradient boosting")
MOST_ERROR = 40


def draw_contexts(cases: list[Any], path: Path, level: float) -> None:
    """Draw, for two contexts of each job, what `auto` predicts and what was measured."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6), layout="constrained")
    machines = np.linspace(2, 12, 101)
    grid = pd.DataFrame({"scale": np.ones(101), "machines": machines})
    for column, job in zip(figure.subplots(2, len(COLORS), sharex=True).T, COLORS, strict=True):
        mine = [case for case in cases if case.job == job]
        for axes, case in zip(column, (mine[len(mine) // 3], mine[-1]), strict=True):
            X, y = case.train[["scale", "machines"]].astype(float), case.train.seconds
            model = AutoScaling().fit(X, y.to_numpy(float))
            low, high = model.predict_interval(grid, level).T
            axes.fill_between(
                machines, low, high, color=COLORS[job], alpha=0.2, label="90% interval"
            )
            axes.plot(machines, model.predict(grid), color=COLORS[job], label="auto")
            axes.plot(case.train.machines, y, "o", color="0.2", ms=4, label="measured, fitted")
            axes.plot(
                case.test.machines, case.test.seconds, "o", mfc="white", color="0.2", ms=4,
                label="measured, predicted",
            )  # fmt: skip
            axes.set_ylim(bottom=0, top=1.15 * max(y.max(), case.test.seconds.max()))
            axes.spines[["top", "right"]].set_visible(False)
        column[0].set_title(job)
        column[1].set_xlabel("machines")
    for axes in figure.axes:
        if axes.get_subplotspec().is_first_col():
            axes.set_ylabel("seconds")
    figure.axes[0].legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=110)


def draw_errors(found: dict[str, pd.DataFrame], path: Path) -> None:
    """Draw the mean error by model and job, one panel a test."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4), layout="constrained")
    names = [n for n in SHOWN if any((table.model == n).any() for table in found.values())]
    for axes, (title, table) in zip(
        figure.subplots(1, len(found), sharey=True), found.items(), strict=True
    ):
        means = table.groupby(["model", "job"]).error.mean().unstack()
        for i, (job, color) in enumerate(COLORS.items()):
            places = np.arange(len(names)) + 0.27 * (i - 1)
            values = means.loc[names, job].to_numpy()
            axes.barh(places, np.minimum(values, MOST_ERROR), 0.25, color=color, label=job)
            for place, value in zip(places, values, strict=True):
                if value > MOST_ERROR:
                    axes.text(MOST_ERROR, place, f"{value:.0f} ", va="center", ha="right", size=7)
        axes.set_yticks(np.arange(len(names)), names)
        axes.set(title=title, xlabel="mean absolute error, %", xlim=(0, MOST_ERROR))
        axes.spines[["top", "right"]].set_visible(False)
    figure.axes[0].invert_yaxis()
    figure.axes[-1].legend(frameon=False, loc="lower right")
    figure.savefig(path, dpi=110)
