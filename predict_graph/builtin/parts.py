"""References to the parts of a built-in algorithm, which are loaded on first use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Parts = tuple[Mapping[str, Any], Mapping[str, Any]]


def parts_of(module: str, name: str, **sampled: str) -> Parts:
    """Return `runs_on` and `sampled_by` of the algorithm defined in a module.

    Examples
    --------
    >>> parts_of("predict_graph.builtin.k_core.definition", "KCore", rooted="cores_recipe")[1]
    {'rooted': 'predict_graph.builtin.sampling:cores_recipe'}
    """
    folder = module.rpartition(".")[0]
    builtin = folder.rpartition(".")[0]
    return (
        {"local": f"{folder}.kernel:{name}Kernel", "spark": f"{folder}.kernel:{name}Program"},
        {method: f"{builtin}.sampling:{part}" for method, part in sampled.items()},
    )
