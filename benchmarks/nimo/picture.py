"""Times by delay and speed (figures 3 to 5), and predictions beside truth."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import pandas as pd

from benchmarks.nimo.evaluation import ATTRIBUTES, one_changed, seen_of
from costmodels.occupancy import OccupancyModel

mpl.use("Agg")

__all__ = ["draw"]


def draw(runs: pd.DataFrame, target: Path) -> None:
    """Draw for each program: measured times, and what 14 runs predict of the others."""
    import matplotlib.pyplot as plt
    import numpy as np

    programs = list(runs.groupby("program", sort=False))
    figure, rows = plt.subplots(2, len(programs), figsize=(3.4 * len(programs), 6.4))
    for (name, part), (above, below) in zip(programs, rows.T, strict=True):
        part = part.reset_index(drop=True)
        slow = part[part["rate"] == part["rate"].min()]
        for cpu, line in slow.groupby("cpu"):
            above.plot(line["delay"], line["seconds"], marker="o", markersize=3, label=f"{cpu:g}")
        above.set(title=name, xlabel="delay, ms", ylabel="s, at the lower rate")
        reference = len(part) // 2
        trained = one_changed(part, reference, np.random.default_rng(0))
        known = part.iloc[trained]
        model = OccupancyModel(reference=0)
        model.fit(known[ATTRIBUTES], known["seconds"], **seen_of(known))
        rest = part.drop(index=trained)
        below.scatter(rest["seconds"], model.predict(rest[ATTRIBUTES]), s=12)
        ends = [rest["seconds"].min() * 0.8, rest["seconds"].max() * 1.25]
        below.plot(ends, ends, color="gray", linewidth=1)
        below.set(xscale="log", yscale="log", xlabel="measured, s", ylabel="predicted, s")
        below.set_title(f"from 14 runs ({model.shape_})", fontsize=9)
    rows[0, 0].legend(title="cores", fontsize=7)
    figure.tight_layout()
    figure.savefig(target, dpi=110)
