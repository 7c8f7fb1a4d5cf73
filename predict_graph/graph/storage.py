"""Graphs on disk, memory-mapped: a folder of ``.npy`` files and a header.

::

    wiki.pgraph/
        header.json     format, version, name, vertices, edges, directed, labels, fingerprint
        indptr.npy      int64
        indices.npy     int32
        weights.npy     float32, when there are weights
        labels.npy      original ids; text ids as UTF-8 bytes, with label_starts.npy

A folder is written beside its place and then renamed, so there is never half a graph.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import JobError, RequestError
from predict_graph.graph.csr import Graph

__all__ = ["folder_beside", "is_stored", "open_graph", "save_graph", "write_header", "write_labels"]

_FORMAT, _VERSION = "predict-graph graph", 1
_HEADER = "header.json"


def is_stored(path: str | Path) -> bool:
    """Tell whether `path` is a folder that :func:`save_graph` wrote."""
    return os.path.isfile(Path(path) / _HEADER)


def save_graph(graph: Graph, folder: str | Path) -> Path:
    """Write a graph to a folder that can be memory-mapped, or to one ``.npz`` file.

    Parameters
    ----------
    graph : Graph
    folder : str or Path
        By custom the name of a folder ends in ``.pgraph``; it is replaced when it holds a stored
        graph already. A name that ends in ``.npz`` is that of a file.

    Returns
    -------
    Path

    Raises
    ------
    RequestError
        If the folder cannot be written, or exists and is no stored graph.
    JobError
        If writing fails, say because the disk is full.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = save_graph(check_graph("star:n=4"), Path(place) / "star.pgraph")
    ...     open_graph(folder)
    Graph('star:n=4', 4 vertices, 3 undirected edges)
    """
    if Path(folder).suffix.lower() == ".npz":
        return _save_npz(graph, Path(folder))
    with folder_beside(Path(folder)) as beside:
        np.save(beside / "indptr.npy", graph.indptr)
        np.save(beside / "indices.npy", graph.indices)
        if graph.weights is not None:
            np.save(beside / "weights.npy", graph.weights)
        labels = write_labels(beside, graph.labels)
        write_header(
            beside,
            name=graph.name,
            vertices=graph.vertices,
            edges=graph.edges,
            directed=graph.directed,
            weighted=graph.weights is not None,
            labels=labels,
            fingerprint=graph.fingerprint,
        )
    return Path(folder)


def open_graph(folder: str | Path) -> Graph:
    """Open a stored graph; its arrays are memory-mapped, so opening costs next to nothing.

    Raises
    ------
    RequestError
        If the folder is no stored graph, is damaged, or comes from a newer version.
    """
    folder = Path(folder)
    if not is_stored(folder):
        raise RequestError(f"{folder} is not a stored graph: it has no {_HEADER}")
    try:
        header: dict[str, Any] = json.loads((folder / _HEADER).read_text(encoding="utf-8"))
        if header.get("format") != _FORMAT:
            raise RequestError(f"{folder / _HEADER} is not the header of a stored graph")
        if int(header["version"]) > _VERSION:
            raise RequestError(
                f"{folder} has version {header['version']} of the format; "
                f"accepted: up to {_VERSION}; install a newer predict-graph"
            )
        graph = Graph(
            _mapped(folder / "indptr.npy", np.int64, header["vertices"] + 1),
            _mapped(folder / "indices.npy", None, header["edges"]),
            _mapped(folder / "weights.npy", np.float32, header["edges"])
            if header["weighted"]
            else None,
            directed=bool(header["directed"]),
            name=str(header["name"]),
            labels=_read_labels(folder, header["labels"]),
        )
    except RequestError:
        raise
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise RequestError(f"the stored graph {folder} is damaged: {error}") from error
    if header.get("fingerprint"):
        graph.__dict__["fingerprint"] = header["fingerprint"]
    return graph


def write_header(folder: Path, **facts: Any) -> None:
    """Write the header of a stored graph."""
    header = {"format": _FORMAT, "version": _VERSION, **facts}
    (folder / _HEADER).write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")


def write_labels(folder: Path, labels: npt.NDArray[np.generic] | None) -> str | None:
    """Write the original ids; return their kind: ``integer``, ``text`` or None."""
    arrays = _label_arrays(labels)
    for key, array in arrays.items():
        np.save(folder / f"{key}.npy", array)
    return None if labels is None else "text" if "label_starts" in arrays else "integer"


def _save_npz(graph: Graph, path: Path) -> Path:
    from predict_graph.files import written_beside

    arrays: dict[str, Any] = {
        "indptr": graph.indptr,
        "indices": graph.indices,
        "directed": np.bool_(graph.directed),
    }
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    with written_beside(path) as beside:
        np.savez(beside, allow_pickle=False, **arrays, **_label_arrays(graph.labels))
    return path


def _label_arrays(labels: npt.NDArray[np.generic] | None) -> dict[str, npt.NDArray[Any]]:
    """Return what is stored of labels: integers as they are, texts as UTF-8 and their starts."""
    if labels is None:
        return {}
    if np.issubdtype(labels.dtype, np.integer):
        return {"labels": labels}
    texts = [str(label).encode("utf-8") for label in labels.tolist()]
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=starts[1:])
    return {"labels": np.frombuffer(b"".join(texts), np.uint8), "label_starts": starts}


@contextmanager
def folder_beside(folder: Path) -> Iterator[Path]:
    """Give a new folder beside `folder`; it takes the place of `folder` when all went well.

    Raises
    ------
    RequestError
        If `folder` cannot be written, or exists and is no stored graph.
    JobError
        If writing fails.
    """
    if folder.exists() and not is_stored(folder):
        raise RequestError(
            f"cannot write {folder}: it exists and is not a stored graph; "
            "accepted: a new folder, or a stored graph to be replaced"
        )
    if not folder.parent.is_dir():
        raise RequestError(f"cannot write {folder}: there is no folder {folder.parent}")
    if not os.access(folder.parent, os.W_OK):
        raise RequestError(f"cannot write {folder}: the folder {folder.parent} is not writable")
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    beside.chmod(0o777 & ~_umask())
    try:
        yield beside
        if folder.exists():
            old = beside.with_name(beside.name + ".old")
            folder.rename(old)
            beside.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
        else:
            beside.rename(folder)
    except OSError as error:
        raise JobError(f"writing {folder} failed: {error.strerror or error}") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _mapped(path: Path, dtype: Any, length: int) -> npt.NDArray[Any]:
    array = np.load(path, mmap_mode="r", allow_pickle=False) if length else np.load(path)
    if array.shape != (length,) or (dtype is not None and array.dtype != dtype):
        raise ValueError(f"{path.name} holds {array.shape} {array.dtype}, not {length} elements")
    plain: npt.NDArray[Any] = array.view(np.ndarray)
    return plain


def _read_labels(folder: Path, kind: str | None) -> npt.NDArray[np.generic] | None:
    if kind is None:
        return None
    stored = np.load(folder / "labels.npy", mmap_mode="r" if kind == "integer" else None)
    if kind == "integer":
        integers: npt.NDArray[np.generic] = stored.view(np.ndarray)
        return integers
    return texts_of(stored, np.load(folder / "label_starts.npy"))


def texts_of(
    content: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64]
) -> npt.NDArray[np.object_]:
    """Return texts that were stored as bytes, one after the other."""
    joined, places = content.tobytes(), starts.tolist()
    texts = np.empty(len(places) - 1, dtype=object)
    texts[:] = [joined[begin:end].decode("utf-8") for begin, end in pairwise(places)]
    return texts
