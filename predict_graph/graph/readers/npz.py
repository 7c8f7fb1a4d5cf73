"""``.npz`` files: sparse arrays that scipy saved, and graphs that :func:`save_graph` saved."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from predict_graph.errors import RequestError
from predict_graph.graph.edges import EdgeSource

__all__ = ["open_npz"]


def open_npz(path: Path, ids: str) -> EdgeSource:
    """Open an ``.npz`` file; its rows are the vertices.

    Raises
    ------
    RequestError
        If it holds neither a square sparse array nor a graph.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            keys = set(stored.files)
        if "format" in keys:
            return _of_scipy(path)
        if {"indptr", "indices", "directed"} <= keys:
            return _of_ours(path)
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from error
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise RequestError(f"{path} is not an .npz file that can be read: {error}") from error
    raise RequestError(
        f"{path} holds the arrays {', '.join(sorted(keys))}; accepted: a sparse array that "
        "scipy.sparse.save_npz wrote, or a graph that save_graph wrote"
    )


def _of_scipy(path: Path) -> EdgeSource:
    from scipy import sparse

    from predict_graph.graph.objects import from_scipy

    return EdgeSource(graph=from_scipy(sparse.load_npz(path)))


def _of_ours(path: Path) -> EdgeSource:
    from predict_graph.graph.csr import Graph

    with np.load(path, allow_pickle=False) as stored:
        arrays = {key: stored[key] for key in stored.files}
    indptr = arrays["indptr"].astype(np.int64, copy=False)
    indices, weights = arrays["indices"], arrays.get("weights")
    n = len(indptr) - 1
    if n < 1 or indptr[0] != 0 or np.any(np.diff(indptr) < 0) or indptr[-1] != len(indices):
        raise ValueError("indptr is not that of a graph")
    if len(indices) and (int(indices.min()) < 0 or int(indices.max()) >= n):
        raise ValueError(f"indices are not all in 0 to {n - 1}")
    labels = arrays.get("labels")
    if "label_starts" in arrays and labels is not None:
        from predict_graph.graph.storage import texts_of

        labels = texts_of(labels, arrays["label_starts"])
    graph = Graph(
        indptr,
        indices,
        weights,
        directed=bool(arrays["directed"]),
        labels=labels,
    )
    return EdgeSource(graph=graph)
