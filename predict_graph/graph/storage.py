"""Graphs in one ``.npz`` file: the rows, the weights, the direction, and the original ids.

Text ids are stored as UTF-8 bytes, one after the other, and where each of them begins.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.files import written_beside
from predict_graph.graph.csr import Graph


def save_graph(graph: Graph, path: str | Path) -> Path:
    """Write a graph to an ``.npz`` file, which is read as any other graph file.

    Parameters
    ----------
    graph : Graph
    path : str or Path
        Ends in ``.npz``.

    Returns
    -------
    Path

    Raises
    ------
    RequestError
        If the file cannot be written, or its name ends otherwise.
    JobError
        If writing fails, say because the disk is full; what was there stays.

    Examples
    --------
    >>> import tempfile
    >>> from predict_graph.graph import check_graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_graph(save_graph(check_graph("star:n=4"), Path(folder) / "star.npz"))
    Graph('star', 4 vertices, 3 undirected edges)
    """
    path = Path(path)
    if path.suffix.lower() != ".npz":
        raise RequestError(f"cannot write {path}; accepted: a name that ends in .npz")
    arrays: dict[str, Any] = {
        "indptr": graph.indptr,
        "indices": graph.indices,
        "directed": np.bool_(graph.directed),
        "notes": np.array(graph.notes, np.str_),
        **_label_arrays(graph.labels),
    }
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    with written_beside(path) as beside:
        np.savez(beside, allow_pickle=False, **arrays)
    return path


def _label_arrays(labels: npt.NDArray[np.generic] | None) -> dict[str, npt.NDArray[Any]]:
    """Return what is stored of labels: integers as they are, texts as UTF-8 and their starts."""
    if labels is None:
        return {}
    if np.issubdtype(labels.dtype, np.integer):
        return {"labels": labels}
    import pyarrow as pa

    texts = pa.array(map(str, labels.tolist()), pa.large_string())
    starts = np.frombuffer(texts.buffers()[1], np.int64)[: len(labels) + 1]
    content = np.frombuffer(texts.buffers()[2] or b"", np.uint8)[: starts[-1]]
    return {"labels": content, "label_starts": starts}


def stored_graph(arrays: dict[str, npt.NDArray[Any]]) -> Graph:
    """Return the graph of the arrays that :func:`save_graph` wrote, once they are checked.

    Raises
    ------
    RequestError, ValueError
        If they are not those of a graph.
    """
    from predict_graph.graph.objects import check_weights

    graph = Graph(
        arrays["indptr"],
        arrays["indices"],
        arrays.get("weights"),
        directed=bool(arrays["directed"]),
        labels=_labels_of(arrays.get("labels"), arrays.get("label_starts")),
        notes=tuple(map(str, arrays.get("notes", ()))),
    )
    if graph.vertices < 1:
        raise RequestError("there are no vertices")
    if graph.weights is not None:
        check_weights(graph.weights, "the file")
    if not graph.ascending:
        raise RequestError("the targets of some vertex are not ascending, or come twice")
    return graph


def _labels_of(
    stored: npt.NDArray[Any] | None, starts: npt.NDArray[Any] | None
) -> npt.NDArray[np.generic] | None:
    """Return labels as they were when they were stored."""
    if stored is None:
        return None
    if starts is None:
        if stored.ndim != 1 or stored.dtype.kind not in "iu":
            raise ValueError(f"the labels are {stored.ndim}-dimensional {stored.dtype}")
        return stored
    if stored.dtype != np.uint8 or starts.ndim != 1 or starts.dtype.kind not in "iu":
        raise ValueError("the labels are no bytes with the places where they begin")
    if not len(starts) or starts[0] != 0 or starts[-1] != len(stored):
        raise ValueError("the labels do not begin and end where they should")
    import pyarrow as pa

    buffers = [None, pa.py_buffer(starts.astype(np.int64)), pa.py_buffer(stored.tobytes())]
    texts = pa.Array.from_buffers(pa.large_string(), len(starts) - 1, buffers)
    texts.validate(full=True)
    labels: npt.NDArray[np.object_] = texts.to_numpy(zero_copy_only=False)
    return labels
