"""``.npz`` files: sparse arrays that scipy saved, and graphs that :func:`save_graph` saved."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from predict_graph.errors import RequestError, explained
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.readers.streams import Content
from predict_graph.graph.storage import stored_graph
from predict_graph.limits import check_unpacked

_OWN = {"indptr", "indices", "directed", "weights", "labels", "label_texts", "notes"}


def open_npz(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open an ``.npz`` file; its rows are the vertices.

    Raises
    ------
    RequestError
        If it holds neither a square sparse array nor a graph.
    """
    path = content.path
    content.close()
    with explained(f"{path} is not an .npz file that can be read"):
        names = _names(path)
        try:
            if "format" in names:
                return _of_scipy(path)
            if {"indptr", "indices", "directed"} <= names <= _OWN:
                with np.load(path, allow_pickle=False) as stored:
                    return EdgeSource(graph=stored_graph(dict(stored)))
        except RequestError as error:
            raise RequestError(f"{path}: the arrays are not those of a graph: {error}") from error
    raise RequestError(
        f"{path} holds the arrays {', '.join(sorted(names))[:200]}; accepted: a sparse array that "
        "scipy.sparse.save_npz wrote, or a graph that save_graph wrote"
    )


def _names(path: Path) -> set[str]:
    """Return the names of the arrays, if they may be unpacked."""
    with zipfile.ZipFile(path) as packed:
        members = packed.infolist()
    check_unpacked("it", sum(member.file_size for member in members), path.stat().st_size)
    return {member.filename.removesuffix(".npy") for member in members}


def _of_scipy(path: Path) -> EdgeSource:
    from scipy import sparse

    from predict_graph.graph.objects import from_scipy

    matrix = sparse.load_npz(path)
    check_unpacked("the array", 16 * max(matrix.shape), path.stat().st_size)
    return EdgeSource(graph=from_scipy(matrix))
