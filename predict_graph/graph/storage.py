"""Graphs on disk, memory-mapped: a folder of ``.npy`` files and a header.

::

    wiki.pgraph/
        header.json     format, version, name, vertices, edges, directed, labels, fingerprint, seal
        indptr.npy      int64
        indices.npy     int32
        weights.npy     float32, when there are weights
        labels.npy      original ids; text ids as UTF-8 bytes, with label_starts.npy

A folder is written beside its place and then renamed, so there is never half a graph. Opening it
checks all of it: the rows, as compiled code believes them; the fingerprint of rows and weights; and
the seal, a digest of the header and the labels.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import JobError, RequestError
from predict_graph.graph.csr import Graph
from predict_graph.inputs import Input, parse_json, read_bytes

_FORMAT, _VERSION = "predict-graph graph", 2
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
    with _folder_beside(Path(folder)) as beside:
        np.save(beside / "indptr.npy", graph.indptr)
        np.save(beside / "indices.npy", graph.indices)
        if graph.weights is not None:
            np.save(beside / "weights.npy", graph.weights)
        labels = _label_arrays(graph.labels)
        for name, array in labels.items():
            np.save(beside / f"{name}.npy", array)
        header = {
            "format": _FORMAT,
            "version": _VERSION,
            "name": graph.name,
            "vertices": graph.vertices,
            "edges": graph.edges,
            "directed": graph.directed,
            "notes": list(graph.notes),
            "weighted": graph.weights is not None,
            "labels": list(labels),
            "fingerprint": graph.fingerprint,
        }
        header["seal"] = _seal(header, labels)
        (beside / _HEADER).write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")
    return Path(folder)


def open_graph(folder: str | Path) -> Graph:
    """Open a stored graph; its arrays are memory-mapped, and read once to be checked.

    Raises
    ------
    RequestError
        If the folder is no stored graph, is damaged, or comes from a newer version.
    """
    folder = Path(folder)
    if not is_stored(folder):
        raise RequestError(f"{folder} is not a stored graph: it has no {_HEADER}")
    try:
        header = _read_header(folder)
        labels = _read_labels(folder, header)
        if header["seal"] != _seal(header, labels):
            raise ValueError("header or labels are not those that were written")
        graph = Graph(
            _mapped(folder / "indptr.npy", header["vertices"] + 1),
            _mapped(folder / "indices.npy", header["edges"]),
            _mapped(folder / "weights.npy", header["edges"]) if header["weighted"] else None,
            directed=header["directed"],
            name=header["name"],
            labels=labels_of(labels.get("labels"), labels.get("label_starts")),
            notes=tuple(header["notes"]),
        )
        check_ascending(graph)
        if graph.fingerprint != header["fingerprint"]:
            raise ValueError("its content is not the one that was written: the fingerprint differs")
    except (OSError, ValueError, OverflowError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise RequestError(f"the stored graph {folder} is damaged: {reason}") from error
    return graph


# The header has exactly these entries.
_FACTS = {
    "format": str,
    "version": int,
    "name": str,
    "vertices": int,
    "edges": int,
    "directed": bool,
    "notes": list,
    "weighted": bool,
    "labels": list,
    "fingerprint": str,
    "seal": str,
}


def _read_header(folder: Path) -> dict[str, Any]:
    where = folder / _HEADER
    header = parse_json(read_bytes(where), str(where))
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ValueError(f"{_HEADER} is not the header of a stored graph")
    version = header.get("version")
    if type(version) is int and version > _VERSION:
        raise ValueError(
            f"it has version {version} of the format; accepted: {_VERSION}; install a newer "
            "predict-graph"
        )
    for name, kind in _FACTS.items():
        if type(header.get(name)) is not kind:
            raise ValueError(f"{name} in {_HEADER} is {str(header.get(name))[:40]!r}")
    if header["labels"] not in ([], ["labels"], ["labels", "label_starts"]):
        raise ValueError(f"labels in {_HEADER} are of another kind than integer and text")
    if not all(type(note) is str for note in header["notes"]):
        raise ValueError(f"notes in {_HEADER} are no list of texts")
    if not (0 <= header["vertices"] < 2**62 and 0 <= header["edges"] < 2**62):
        raise ValueError(f"vertices and edges in {_HEADER} are out of range")
    return header


def check_ascending(graph: Graph) -> None:
    """Raise an error unless each row ascends without duplicates, as all stored rows do.

    Raises
    ------
    RequestError
    """
    if not graph.ascending:
        raise RequestError("the targets of some vertex are not ascending, or come twice")


def _seal(header: Mapping[str, Any], labels: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return the digest of a header without its seal, and of the labels that lie beside it."""
    rest = {name: value for name, value in header.items() if name != "seal"}
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode())
    for name, array in labels.items():
        digest.update(f" {name} {array.dtype.str} {len(array)} ".encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()


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
    import pyarrow as pa

    texts = pa.array(map(str, labels.tolist()), pa.large_string())
    starts = np.frombuffer(texts.buffers()[1], np.int64)[: len(labels) + 1]
    content = np.frombuffer(texts.buffers()[2] or b"", np.uint8)[: starts[-1]]
    return {"labels": content, "label_starts": starts}


@contextmanager
def _folder_beside(folder: Path) -> Iterator[Path]:
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


def _mapped(path: Path, length: int) -> npt.NDArray[Any]:
    """Map a vector of so many numbers into memory."""
    _check_file(path)
    try:
        array = np.load(path, mmap_mode="r" if length else None, allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # of numpy, Python's tokenizer among it
        raise ValueError(f"{path.name} cannot be read: {error}") from error
    kind = array.dtype
    if array.shape != (length,) or kind.kind not in "iuf" or not kind.isnative:
        raise ValueError(f"{path.name} holds {array.shape} {kind.str}, not {length} numbers")
    plain: npt.NDArray[Any] = array.view(np.ndarray)
    return plain


def _read_labels(folder: Path, header: dict[str, Any]) -> dict[str, npt.NDArray[Any]]:
    length, arrays = header["vertices"], {}
    if "label_starts" in header["labels"]:
        arrays["label_starts"] = _mapped(folder / "label_starts.npy", length + 1)
        length = int(arrays["label_starts"][-1])
    if header["labels"]:
        arrays = {"labels": _mapped(folder / "labels.npy", length), **arrays}
    return arrays


def _check_file(path: Path) -> None:
    """Refuse what is no regular file, such as a link to a device."""
    with Input(path) as file:
        if file.stream:
            raise ValueError(f"{path.name} is no file")


def labels_of(
    stored: npt.NDArray[Any] | None, starts: npt.NDArray[Any] | None
) -> npt.NDArray[np.generic] | None:
    """Return labels as they were when they were stored.

    Parameters
    ----------
    stored : ndarray, optional
        Integers; or texts as bytes, one after the other.
    starts : ndarray of int64, shape (n + 1,), optional
        Where each text begins.

    Raises
    ------
    ValueError
        If they are neither.
    """
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
