"""The picture of a prediction: convergence, and seconds of each iteration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.engines import RunProfile
from predict_graph.files import written_beside
from predict_graph.pictures import check_picture

__all__ = ["draw"]

_PREDICTED, _ACTUAL = "#1f6f8b", "#d1495b"


def draw(
    table: pd.DataFrame,
    actual: RunProfile | None,
    *,
    threshold: float,
    interval: tuple[float, float],
    title: str,
    path: Path | None = None,
) -> Any:
    """Draw the iterations of a prediction, and the real run beside it when there is one.

    Left: the convergence aggregate after each iteration, on a log scale, with the threshold and the
    interval of the iteration count. Middle: bytes that go from worker to worker in each iteration.
    Right: its seconds.

    Parameters
    ----------
    table : DataFrame
        A row an iteration, as in a :class:`~predict_graph.Prediction`.
    actual : RunProfile, optional
    threshold : float
    interval : tuple of float
        Ends of that of the iterations.
    title : str
    path : Path, optional
        Where the picture goes.
    """
    check_picture(path)
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(13, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    iterations = table["iteration"].to_numpy()
    left.semilogy(
        iterations,
        _visible(table["convergence"].to_numpy(), threshold),
        color=_PREDICTED,
        label="predicted",
    )
    left.axvspan(*interval, color=_PREDICTED, alpha=0.15, label="90% interval")
    left.axhline(threshold, color="0.4", linestyle=":", label="threshold")
    middle.plot(iterations, table["remote_message_bytes"] / 1e6, color=_PREDICTED)
    right.plot(iterations, table["seconds"] * 1e3, color=_PREDICTED)
    if actual is not None:
        numbers = np.arange(1, actual.iterations + 1)
        left.semilogy(
            numbers, _visible(actual.convergence, threshold), color=_ACTUAL, label="actual"
        )
        middle.plot(numbers, actual.per_iteration()["remote_message_bytes"] / 1e6, color=_ACTUAL)
        right.plot(numbers, actual.iteration_seconds * 1e3, color=_ACTUAL)
    left.set(xlabel="iteration", ylabel="what the threshold is on", title="convergence")
    middle.set(xlabel="iteration", ylabel="MB", title="remote messages of an iteration")
    right.set(xlabel="iteration", ylabel="milliseconds", title="time of an iteration")
    left.legend(frameon=False)
    for axes in (middle, right):
        axes.set_ylim(bottom=0)
    for axes in (left, middle, right):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title)
    if path is not None:
        with written_beside(path) as beside:
            figure.savefig(beside, dpi=150)
    return figure


def _visible(curve: npt.NDArray[np.float64], threshold: float) -> npt.NDArray[np.float64]:
    """Return a curve with a tenth of the threshold for zeros, which a log scale has not."""
    return np.maximum(curve, threshold / 10.0)
