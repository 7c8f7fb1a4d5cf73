"""Graphs: the immutable CSR form, reading, generating, storing, named datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeList

if TYPE_CHECKING:
    from predict_graph.graph.coerce import check_graph
    from predict_graph.graph.storage import save_graph

__all__ = ["EdgeList", "Graph", "check_graph", "save_graph"]

# Imported when first used: reading needs compiled code, and importing the package must not.
_LAZY = {
    "check_graph": "predict_graph.graph.coerce",
    "save_graph": "predict_graph.graph.storage",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)
