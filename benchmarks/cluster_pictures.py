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


PEERS = {
    "auto": "#1f6f8b",
    "auto, history": "#6fb7c9",
    "best single law": "#8a8a8a",
    "Ernest, as published": "#e09f3e",
    "Bell-style": "#b08bbb",
    "C3O's pooled predictor": "#7a9e7e",
    "Gaussian process": "#d1495b",
    "gradient boosting": "#c9b79c",
}


def draw_transfer(means: pd.DataFrame, tests: tuple[str, ...], path: Path) -> None:
    """Draw the mean error of each model by test, one panel a source."""
    from matplotlib.figure import Figure

    sources = list(means.source.unique())
    figure = Figure(figsize=(12, 2.6 * len(sources)), layout="constrained")
    panels = figure.subplots(len(sources), 1, sharex=True, squeeze=False)[:, 0]
    width = 0.9 / len(PEERS)
    for axes, source in zip(panels, sources, strict=True):
        mine = means[means.source == source].set_index(["model", "test"]).error
        for i, (name, color) in enumerate(PEERS.items()):
            heights = [min(mine.get((name, test), np.nan), MOST_ERROR) for test in tests]
            places = np.arange(len(tests)) + width * (i - (len(PEERS) - 1) / 2)
            axes.bar(places, heights, 0.9 * width, color=color, label=name)
        axes.set_title(source, loc="left", fontsize="medium")
        axes.set_ylabel("mean error, %")
        axes.set_ylim(0, MOST_ERROR)
        axes.spines[["top", "right"]].set_visible(False)
    panels[-1].set_xticks(np.arange(len(tests)), tests)
    panels[0].legend(frameon=False, fontsize="small", ncols=4)
    figure.supxlabel(f"bars that reach {MOST_ERROR}% are cut off", fontsize="small")
    figure.savefig(path, dpi=110)


def draw_searches(lengths: pd.DataFrame, goals: tuple[str, ...], path: Path) -> None:
    """Draw the share of searches that have found a good configuration after so many runs."""
    from matplotlib.figure import Figure

    sources = list(lengths.source.unique())
    figure = Figure(figsize=(4 * len(sources), 6), layout="constrained")
    panels = figure.subplots(len(goals), len(sources), sharey=True, squeeze=False)
    for row, goal in zip(panels, goals, strict=True):
        for axes, source in zip(row, sources, strict=True):
            mine = lengths[(lengths.source == source) & (lengths.goal == goal)]
            runs = np.arange(1, int(mine.runs.max()) + 1)
            for name in mine.search.unique():
                taken = mine[mine.search == name].runs.to_numpy()
                if name.startswith("random"):
                    continue  # an expected length, not one search
                style = "--" if name.startswith("Gaussian") else "-"
                shares = [(taken <= count).mean() for count in runs]
                axes.step(runs, shares, style, where="post", label=name)
            axes.set_title(f"{source}, {goal}", fontsize="medium")
            axes.set_xscale("log")
            axes.set_ylim(0, 1.02)
            axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[-1]:
        axes.set_xlabel("runs")
    for axes in panels[:, 0]:
        axes.set_ylabel("found, share of searches")
    panels[0, 0].legend(frameon=False, fontsize="small")
    figure.savefig(path, dpi=110)
