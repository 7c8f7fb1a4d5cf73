"""The picture of a prediction: convergence, and seconds of each iteration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from predict_graph.engines import RunProfile
from predict_graph.files import written_beside
from predict_graph.pictures import check_picture

if TYPE_CHECKING:
    from predict_graph.prediction.prediction import Prediction

__all__ = ["draw"]

_PREDICTED, _ACTUAL = "#1f6f8b", "#d1495b"


def draw(prediction: Prediction, actual: RunProfile | None, path: Path | None) -> Any:
    """Draw a prediction, and the real run beside it when there is one.

    Left: the convergence aggregate after each iteration, on a log scale, with the threshold and the
    interval of the iteration count. Middle: bytes that go from worker to worker in each iteration.
    Right: its seconds.

    Parameters
    ----------
    prediction : Prediction
    actual : RunProfile, optional
    path : Path, optional
        Where the picture goes.
    """
    check_picture(path)
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(13, 4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    table, threshold = prediction.per_iteration, prediction.method["threshold"]
    iterations = table["iteration"].to_numpy()
    left.semilogy(
        iterations, _visible(prediction.convergence, threshold), color=_PREDICTED, label="predicted"
    )
    interval = prediction.iterations
    left.axvspan(interval.low, interval.high, color=_PREDICTED, alpha=0.15, label="90% interval")
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
    name, graph = prediction.algorithm["name"], prediction.graph["name"]
    figure.suptitle(f"{name} on {graph}")
    if path is not None:
        with written_beside(path) as beside:
            figure.savefig(beside, dpi=150)
    return figure


def _visible(curve: npt.NDArray[np.float64], threshold: float) -> npt.NDArray[np.float64]:
    """Return a curve with a tenth of the threshold for zeros, which a log scale has not."""
    return np.maximum(curve, threshold / 10.0)
