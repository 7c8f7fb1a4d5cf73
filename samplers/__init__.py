"""Graph samplers on compressed sparse rows, and reports of how faithful a sample is.

Everything that compiles is imported when it is first used, so ``import samplers`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samplers.base import Sample, Sampler
    from samplers.biased_random_jump import BiasedRandomJump
    from samplers.csr import check_csr, reverse_csr
    from samplers.fidelity import FidelityReport, fidelity_report
    from samplers.forest_fire import ForestFire
    from samplers.induced import induced_csr
    from samplers.metropolis_hastings import MetropolisHastingsRandomWalk
    from samplers.properties import GraphProperties, graph_properties
    from samplers.random_jump import RandomJump
    from samplers.random_walk_with_restart import RandomWalkWithRestart
    from samplers.uniform import UniformVertices

__all__ = [
    "SAMPLERS",
    "BiasedRandomJump",
    "FidelityReport",
    "ForestFire",
    "GraphProperties",
    "MetropolisHastingsRandomWalk",
    "RandomJump",
    "RandomWalkWithRestart",
    "Sample",
    "Sampler",
    "UniformVertices",
    "check_csr",
    "fidelity_report",
    "graph_properties",
    "induced_csr",
    "reverse_csr",
]

SAMPLERS = {
    "rj": "samplers.random_jump:RandomJump",
    "brj": "samplers.biased_random_jump:BiasedRandomJump",
    "mhrw": "samplers.metropolis_hastings:MetropolisHastingsRandomWalk",
    "rwr": "samplers.random_walk_with_restart:RandomWalkWithRestart",
    "ff": "samplers.forest_fire:ForestFire",
    "uniform": "samplers.uniform:UniformVertices",
}
"""Name of each sampler, and where it is: ``"module:class"``."""

_HOMES = {
    **{reference.partition(":")[2]: reference.partition(":")[0] for reference in SAMPLERS.values()},
    "FidelityReport": "samplers.fidelity",
    "GraphProperties": "samplers.properties",
    "Sample": "samplers.base",
    "Sampler": "samplers.base",
    "check_csr": "samplers.csr",
    "fidelity_report": "samplers.fidelity",
    "graph_properties": "samplers.properties",
    "induced_csr": "samplers.induced",
    "reverse_csr": "samplers.csr",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'samplers' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
