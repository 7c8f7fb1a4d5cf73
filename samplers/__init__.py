"""Graph samplers on compressed sparse rows, and reports of how faithful a sample is.

Everything that compiles is imported when it is first used, so ``import samplers`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samplers.base import Sample as Sample
    from samplers.base import Sampler as Sampler
    from samplers.csr import check_csr as check_csr
    from samplers.csr import induced_csr as induced_csr
    from samplers.csr import reverse_csr as reverse_csr
    from samplers.fidelity import FidelityReport as FidelityReport
    from samplers.fidelity import GraphProperties as GraphProperties
    from samplers.fidelity import fidelity_report as fidelity_report
    from samplers.fidelity import graph_properties as graph_properties
    from samplers.uniform import UniformVertices as UniformVertices
    from samplers.walk import BiasedRandomJump as BiasedRandomJump
    from samplers.walk import MetropolisHastingsRandomWalk as MetropolisHastingsRandomWalk
    from samplers.walk import RandomJump as RandomJump
    from samplers.walk import RandomWalkWithRestart as RandomWalkWithRestart

SAMPLERS = {
    "rj": "samplers.walk:RandomJump",
    "brj": "samplers.walk:BiasedRandomJump",
    "mhrw": "samplers.walk:MetropolisHastingsRandomWalk",
    "rwr": "samplers.walk:RandomWalkWithRestart",
    "uniform": "samplers.uniform:UniformVertices",
}
"""Name of each sampler, and where it is: ``"module:class"``."""

_HOMES = {
    **{reference.partition(":")[2]: reference.partition(":")[0] for reference in SAMPLERS.values()},
    **dict.fromkeys(("Sample", "Sampler"), "samplers.base"),
    **dict.fromkeys(("check_csr", "induced_csr", "reverse_csr"), "samplers.csr"),
    **dict.fromkeys(("FidelityReport", "fidelity_report"), "samplers.fidelity"),
    **dict.fromkeys(("GraphProperties", "graph_properties"), "samplers.fidelity"),
}

__all__ = ["SAMPLERS", *_HOMES]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'samplers' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
