"""Transform functions: from the configuration of the real run to that of a sample run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from operator import truediv

from predict_graph.errors import RequestError
from predict_graph.plugins import Registry, blamed_on


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


scaled_threshold = Transform(
    "scaled-threshold",
    truediv,
    "tau_S = tau_G / sr: for a threshold on an absolute aggregate (default rule 1)",
)
same_threshold = Transform(
    "same-threshold",
    lambda threshold, ratio: threshold,
    "tau_S = tau_G: for a threshold on a ratio (default rule 2)",
)

TRANSFORMS: Registry[Transform] = Registry(
    "transform",
    "predict_graph.transforms",
    {each.name: each for each in (scaled_threshold, same_threshold)},
)


def default_transform(convergence: str) -> Transform:
    """Return the default rule for a kind of convergence (PREDIcT, section 3.2.2).

    A threshold on an absolute aggregate is scaled by the sampling ratio; one on a ratio, or for a
    fixed point, is unchanged.

    Parameters
    ----------
    convergence : {'absolute', 'ratio', 'fixed-point'}

    Examples
    --------
    >>> round(default_transform("absolute").sample_threshold(1e-6, 0.1), 9)
    1e-05
    """
    return TRANSFORMS.get("scaled-threshold" if convergence == "absolute" else "same-threshold")


def check_transform(value: str | Transform | None, convergence: str) -> Transform:
    """Return a transform from a name, a transform, or None for the default rule.

    Raises
    ------
    RequestError
        If `value` is none of these, or an unknown name.
    """
    if value is None:
        return default_transform(convergence)
    if isinstance(value, Transform):
        return value
    if isinstance(value, str):
        return TRANSFORMS.get(value)
    raise RequestError(
        f"transform is {value!r}; accepted: a Transform, or one of {', '.join(TRANSFORMS.names())}"
    )


def register_transform(
    name: str, summary: str = "", *, algorithm: str | None = None
) -> Callable[[Callable[[float, float], float]], Callable[[float, float], float]]:
    """Return a decorator that registers ``f(tau_G, ratio) -> tau_S`` as a transform.

    Parameters
    ----------
    name : str
    summary : str
        One-line description; the first line of its docstring by default.
    algorithm : str, optional
        Name of an algorithm that uses it by default.

    Examples
    --------
    >>> @register_transform("root-scaled", "tau_S = tau_G / sqrt(sr)")
    ... def root_scaled(threshold, ratio):
    ...     return threshold / ratio**0.5
    >>> "root-scaled" in TRANSFORMS.names()
    True
    >>> TRANSFORMS.unregister("root-scaled")
    """

    def add(function: Callable[[float, float], float]) -> Callable[[float, float], float]:
        line = summary or (function.__doc__ or "registered by the user").strip().partition("\n")[0]
        TRANSFORMS.register(name, home=function.__module__, algorithm=algorithm)(
            Transform(name, function, line)
        )
        return function

    return add
