"""Transform functions: how the configuration of a sample run follows from that of the real run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

from predict_graph.errors import RequestError
from predict_graph.plugins import blamed_on


@dataclass(frozen=True)
class Transform:
    """A transform function ``T = (Conf_S => Conf_G, Conv_S => Conv_G)`` of PREDIcT, section 3.2.2.

    Configuration parameters other than the convergence threshold are the same for the sample and
    the graph (``ID_Conf``); the threshold of the sample run comes from `threshold`.

    Parameters
    ----------
    name : str
    threshold : callable (tau, ratio) -> float
        Threshold of the sample run, from that of the real run and from the sampling ratio
        ``|V_S| / |V_G|``.
    summary : str
        One-line description.
    """

    name: str
    threshold: Callable[[float, float], float]
    summary: str

    def sample_threshold(self, threshold: float, ratio: float) -> float:
        """Return the threshold for a sample run.

        Parameters
        ----------
        threshold : float
            Threshold of the run on the whole graph.
        ratio : float
            Vertices of the sample / vertices of the graph, in (0, 1].

        Raises
        ------
        RequestError
            If the function does not return a valid threshold.
        JobError
            If it fails.
        """
        with blamed_on("transform", self.name):
            value = self.threshold(threshold, ratio)
        if not isinstance(value, Real) or not value > 0:
            raise RequestError(
                f"the transform {self.name!r} turned the threshold {threshold} at ratio {ratio} "
                f"into {value!r}; accepted: a positive number"
            )
        return float(value)


def _scale(threshold: float, ratio: float) -> float:
    return threshold / ratio


def _keep(threshold: float, ratio: float) -> float:
    return threshold


scaled_threshold = Transform(
    "scaled-threshold",
    _scale,
    "tau_S = tau_G / sr: for a threshold on an absolute aggregate (default rule 1)",
)
same_threshold = Transform(
    "same-threshold",
    _keep,
    "tau_S = tau_G: for a threshold on a ratio (default rule 2)",
)
