"""What a reader hands over: the edges block by block, and what the file says of the whole graph."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from predict_graph.graph.csr import Graph


class EdgeBlock(NamedTuple):
    """Some edges of a graph, in the order of the file.

    Attributes
    ----------
    sources, targets : ndarray of int32 or int64, shape (k,)
        Of text ids, dictionary arrays of pyarrow until they are relabelled.
    weights : ndarray of float32, shape (k,), or None
    """

    sources: npt.NDArray[np.integer]
    targets: npt.NDArray[np.integer]
    weights: npt.NDArray[np.float32] | None = None


@dataclass
class EdgeSource:
    """A graph that can be read once, block by block.

    Parameters
    ----------
    blocks : iterable of EdgeBlock
        The edges; an iterator that reads the file as it goes.
    vertices : int, optional
        Number of vertices that the file declares: then the ids are 0 … n - 1, and a vertex without
        edges counts. None: the vertices are the ids that occur in an edge.
    directed : bool, optional
        What the file says; None when it does not say.
    graph : Graph, optional
        The graph itself, from formats that hold it row by row; there are no blocks then.
    bipartite : bool
        Whether the same id as source and as target is two vertices.
    both_ends : bool
        Whether each edge has to be listed at both its ends.
    notes : tuple of str
        What was assumed.
    """

    blocks: Iterable[EdgeBlock] = ()
    vertices: int | None = None
    directed: bool | None = None
    graph: Graph | None = None
    bipartite: bool = False
    both_ends: bool = False
    notes: tuple[str, ...] = ()
