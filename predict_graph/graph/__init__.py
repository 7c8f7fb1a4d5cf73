"""Graphs: the immutable CSR form, reading, generating, storing, named datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from costmodels.lazy import lazily
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeList

if TYPE_CHECKING:
    from predict_graph.graph.coerce import check_graph
    from predict_graph.graph.storage import save_graph

__all__ = ["EdgeList", "Graph", "check_graph", "save_graph"]

# Imported when first used: reading needs compiled code, and importing the package must not.
__getattr__, _ = lazily(__name__)
