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
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import JobError, RequestError
from predict_graph.graph.arrays import read_array
from predict_graph.graph.csr import Graph
from predict_graph.inputs import Input, parse_json, read_bytes

_FORMAT, _VERSION = "predict-graph graph", 2
_SEALED = 2  # by definition: the first version with a seal
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
            notes=list(graph.notes),
            weighted=graph.weights is not None,
            labels=labels,
            fingerprint=graph.fingerprint,
            labels_array=graph.labels,
        )
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
        labels = _read_labels(folder, header["labels"])
        if "seal" in header and header["seal"] != _seal(header, _label_arrays(labels)):
            raise ValueError("header or labels are not those that were written")
        graph = Graph(
            _mapped(folder / "indptr.npy", header["vertices"] + 1),
            _mapped(folder / "indices.npy", header["edges"]),
            _mapped(folder / "weights.npy", header["edges"]) if header["weighted"] else None,
            directed=header["directed"],
            name=header["name"],
            labels=labels,
            notes=tuple(header.get("notes", ())),
        )
        check_ascending(graph)
        if graph.fingerprint != header["fingerprint"]:
            raise ValueError("its content is not the one that was written: the fingerprint differs")
    except (OSError, ValueError, OverflowError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise RequestError(f"the stored graph {folder} is damaged: {reason}") from error
    return graph


_FACTS = {
    "version": int,
    "name": str,
    "vertices": int,
    "edges": int,
    "directed": bool,
    "weighted": bool,
    "fingerprint": str,
}


def _read_header(folder: Path) -> dict[str, Any]:
    where = folder / _HEADER
    header = parse_json(read_bytes(where), str(where))
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise ValueError(f"{_HEADER} is not the header of a stored graph")
    for name, kind in _FACTS.items():
        if type(header.get(name)) is not kind:
            raise ValueError(f"{name} in {_HEADER} is {str(header.get(name))[:40]!r}")
    version = header["version"]
    if version > _VERSION:
        raise ValueError(
            f"it has version {version} of the format; accepted: up to {_VERSION}; install a newer "
            "predict-graph"
        )
    if version < 1 or (version >= _SEALED and "seal" not in header):
        raise ValueError(f"{_HEADER} has version {version} and no seal")
    if header.get("labels", "") not in (None, "integer", "text"):
        raise ValueError(f"labels in {_HEADER} are of another kind than integer and text")
    notes = header.get("notes", [])
    if type(notes) is not list or not all(type(note) is str for note in notes):
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


def write_header(folder: Path, **facts: Any) -> None:
    """Write the header of a stored graph, sealed; `labels_array` is part of the seal only."""
    labels = facts.pop("labels_array", None)
    header = {"format": _FORMAT, "version": _VERSION, **facts}
    header["seal"] = _seal(header, _label_arrays(labels))
    (folder / _HEADER).write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")


def _seal(header: Mapping[str, Any], labels: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return the digest of a header without its seal, and of the labels that lie beside it."""
    rest = {name: value for name, value in header.items() if name != "seal"}
    digest = hashlib.blake2b(digest_size=16)
    digest.update(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode())
    for name, array in labels.items():
        digest.update(f" {name} {array.dtype.str} {len(array)} ".encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()


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
    if array.shape != (length,) or kind.kind not in "if" or not kind.isnative:
        raise ValueError(f"{path.name} holds {array.shape} {kind.str}, not {length} numbers")
    plain: npt.NDArray[Any] = array.view(np.ndarray)
    return plain


def _read_labels(folder: Path, kind: str | None) -> npt.NDArray[np.generic] | None:
    if kind is None:
        return None
    if kind == "integer":
        return labels_of(_loaded(folder / "labels.npy"), None)
    return labels_of(_loaded(folder / "labels.npy"), _loaded(folder / "label_starts.npy"))


def _loaded(path: Path) -> npt.NDArray[Any]:
    _check_file(path)
    with path.open("rb") as file:
        return read_array(file, path.name, path.stat().st_size)


def _check_file(path: Path) -> None:
    """Refuse what is no regular file, such as a link to a device."""
    with Input(path) as file:
        if file.stream:
            raise ValueError(f"{path.name} is no file")


def labels_of(
    stored: npt.NDArray[Any] | None, starts: npt.NDArray[Any] | None
) -> npt.NDArray[np.generic] | None:
    """Return labels as they were before :func:`write_labels`.

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
    joined, places = stored.tobytes(), starts.tolist()
    if not places or places[0] != 0 or places[-1] != len(joined):
        raise ValueError("the labels do not begin and end where they should")
    texts = np.empty(len(places) - 1, dtype=object)
    for number, (begin, end) in enumerate(pairwise(places)):
        if end < begin:
            raise ValueError("the labels are not in order")
        texts[number] = joined[begin:end].decode("utf-8")
    return texts
