"""What a user may ask of a prediction, checked in one place."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from numbers import Integral
from typing import Any

from predict_graph.algorithms import Algorithm, check_algorithm
from predict_graph.engines import ENGINES, Engine
from predict_graph.errors import RequestError, unknown_name
from predict_graph.iterations import (
    SAMPLERS,
    Progress,
    check_max_overhead,
    check_method,
    check_ratio,
)
from predict_graph.prediction.costs import COST_MODELS
from predict_graph.transforms import Transform, check_transform

__all__ = [
    "DEFAULT_TRAIN_RATIOS",
    "Request",
    "check_engine",
    "check_job",
    "check_options",
    "check_request",
    "check_seed",
    "direction",
]

DEFAULT_TRAIN_RATIOS = (0.05, 0.1, 0.15, 0.2)
"""Sampling ratios of the runs that train the cost model (PREDIcT, section 5.2)."""

_LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Request:
    """The checked options of one prediction; see :func:`~predict_graph.predict`."""

    algorithm: Algorithm
    engine: Engine
    method: str
    sampler: str
    ratio: float
    train_ratios: tuple[float, ...]
    transform: Transform
    cost_model: str
    max_overhead: float
    probe: bool
    seed: int
    progress: Progress
    train_machines: tuple[int, ...] | None = None
    reuse_samples: bool = False

    def for_prior(self, prior: Algorithm) -> Request:
        """Return the same request for the algorithm that runs before this one."""
        return replace(
            self,
            algorithm=prior,
            method=check_method(None, prior),
            transform=check_transform(None, prior.convergence),
        )


def check_engine(
    value: str | Engine, *, workers: int | None = None, threads: int | None = None
) -> Engine:
    """Return an engine from its name and settings, or the engine given.

    Raises
    ------
    RequestError
        If nothing has this name, or a setting is out of range.
    """
    if isinstance(value, str):
        settings = {"workers": workers, "threads": threads}
        factory: Callable[..., Engine] = ENGINES.get(value)
        return factory(**{name: n for name, n in settings.items() if n is not None})
    if workers is not None or threads is not None:
        raise RequestError("workers or threads are given beside an engine that has its own")
    return value


def check_request(
    algorithm: str | Algorithm,
    *,
    parameters: Mapping[str, object] | None = None,
    engine: str | Engine = "local",
    workers: int | None = None,
    threads: int | None = None,
    method: str | None = None,
    sampler: str = "brj",
    ratio: float = 0.1,
    train_ratios: Sequence[float] | None = None,
    transform: str | Transform | None = None,
    cost_model: str = "forward-nnls",
    max_overhead: float | None = None,
    probe: bool = True,
    seed: int | None = None,
    progress: Progress | None = None,
    train_machines: Sequence[int] | None = None,
    reuse_samples: bool = False,
) -> Request:
    """Return the checked request.

    Raises
    ------
    RequestError
        Names the first wrong value and what is accepted.
    """
    chosen = check_job(algorithm, parameters)
    runs_on = check_engine(engine, workers=workers, threads=threads)
    if reuse_samples and runs_on.name != "spark":
        raise RequestError(f"the engine is {runs_on.name}; reuse_samples is for the engine spark")
    SAMPLERS.get(sampler)
    COST_MODELS.get(cost_model)
    return Request(
        algorithm=chosen,
        engine=runs_on,
        method=check_method(method, chosen),
        sampler=sampler,
        ratio=check_ratio(ratio),
        train_ratios=_check_train_ratios(train_ratios),
        transform=check_transform(transform, chosen.convergence),
        cost_model=cost_model,
        max_overhead=check_max_overhead(max_overhead),
        probe=probe,
        seed=check_seed(seed),
        progress=progress or (lambda text, fraction: None),
        train_machines=_check_train_machines(train_machines),
        reuse_samples=reuse_samples,
    )


def direction(algorithm: Algorithm, directed: bool | None) -> bool | None:
    """Return how a graph is to be read: undirected for an algorithm that needs it so."""
    return False if algorithm.undirected else directed


def check_job(
    algorithm: str | Algorithm, parameters: Mapping[str, object] | None = None
) -> Algorithm:
    """Return an algorithm from its name, or a user's own job from ``FILE.py:FUNCTION``.

    Raises
    ------
    RequestError
        If there is none, or a parameter is not accepted.
    """
    if isinstance(algorithm, str) and ".py:" in algorithm:
        from predict_graph.engines.spark.own.algorithm import own_algorithm

        return own_algorithm(algorithm, parameters)
    return check_algorithm(algorithm, parameters)


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse an option that a request does not have.

    Raises
    ------
    RequestError
        Names the option and the legal ones.
    """
    accepted = [name for name in signature(check_request).parameters if name != "algorithm"]
    for name in options:
        if name not in accepted:
            raise unknown_name("option", name, accepted)


def _check_train_ratios(ratios: Sequence[float] | None) -> tuple[float, ...]:
    if ratios is None:
        return DEFAULT_TRAIN_RATIOS
    listed = list(ratios) if isinstance(ratios, Iterable) else [ratios]
    checked = tuple(sorted({check_ratio(ratio) for ratio in listed}))
    if len(checked) < 2:
        raise RequestError(f"train ratios are {listed}; accepted: at least two different ratios")
    return checked


def _check_train_machines(machines: Sequence[int] | None) -> tuple[int, ...] | None:
    if machines is None:
        return None
    listed = list(machines) if isinstance(machines, Iterable) else [machines]
    if not listed or not all(isinstance(n, Integral) and 1 <= int(n) <= 4096 for n in listed):
        raise RequestError(f"train machines are {listed}; accepted: whole numbers from 1 to 4096")
    return tuple(sorted({int(n) for n in listed}))


def check_seed(seed: int | None) -> int:
    """Return the seed; a fresh one is drawn and reported when none is given.

    Raises
    ------
    RequestError
        If it is negative or too large.
    """
    if seed is None:
        return secrets.randbelow(2**32)
    if not isinstance(seed, Integral) or not 0 <= int(seed) <= _LARGEST_SEED:
        raise RequestError(f"seed is {seed!r}; accepted: a whole number from 0 on")
    return int(seed)
