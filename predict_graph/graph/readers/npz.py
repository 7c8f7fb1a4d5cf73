"""``.npz`` files: sparse arrays that scipy saved, and graphs that :func:`save_graph` saved.

The arrays are taken out here, not by numpy: their headers say how large they are, and are believed
only as far as the archive holds so many bytes and the limits allow them.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy.typing as npt

from predict_graph.errors import RequestError
from predict_graph.graph.arrays import read_array
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.edge_source import EdgeSource
from predict_graph.graph.readers.streams import Content
from predict_graph.limits import check_unpacked

Arrays = dict[str, npt.NDArray[Any]]


def open_npz(content: Content, wanted: EdgeList) -> EdgeSource:
    """Open an ``.npz`` file; its rows are the vertices.

    Raises
    ------
    RequestError
        If it holds neither a square sparse array nor a graph.
    """
    path = content.path
    content.close()
    try:
        arrays = _arrays(path)
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from error
    except Exception as error:  # of zipfile, zlib and numpy, about bytes that mean nothing
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise RequestError(f"{path} is not an .npz file that can be read: {reason}") from error
    try:
        if "format" in arrays:
            return _of_scipy(arrays, path.stat().st_size)
        if {"indptr", "indices", "directed"} <= set(arrays):
            return _of_ours(arrays)
    except (RequestError, ValueError, TypeError, IndexError, KeyError) as error:
        raise RequestError(f"{path}: the arrays are not those of a graph: {error}") from error
    raise RequestError(
        f"{path} holds the arrays {', '.join(sorted(arrays))[:200]}; accepted: a sparse array that "
        "scipy.sparse.save_npz wrote, or a graph that save_graph wrote"
    )


def _arrays(path: Path) -> Arrays:
    with zipfile.ZipFile(path) as packed:
        members = packed.infolist()
        check_unpacked("it", sum(member.file_size for member in members), path.stat().st_size)
        found = {}
        for member in members:
            # Nothing is passed over: a damaged name would lose an array.
            packing = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            if not member.filename.endswith(".npy") or member.compress_type not in packing:
                raise RequestError(f"it holds {member.filename[:40]!r}, which is no array")
            with packed.open(member) as file:
                name = member.filename.removesuffix(".npy")
                found[name] = read_array(file, name, member.file_size)
        return found


def _of_scipy(arrays: Arrays, packed: int) -> EdgeSource:
    from scipy import sparse

    from predict_graph.graph.objects import from_scipy

    form = arrays["format"].reshape(-1)[:1].astype("U").tolist()[0]
    shape = tuple(int(length) for length in arrays["shape"].reshape(-1))
    check_unpacked("the array", 16 * max(shape, default=0), packed)
    data = arrays["data"]
    if data.dtype.kind not in "biuf":
        raise RequestError(f"data is {data.dtype}; accepted: numbers")
    matrix: Any
    if form in ("csr", "csc", "bsr"):
        maker = getattr(sparse, f"{form}_array")
        matrix = maker((data, arrays["indices"], arrays["indptr"]), shape=shape)
    elif form == "coo":
        matrix = sparse.coo_array((data, (arrays["row"], arrays["col"])), shape=shape)
    elif form == "dia":
        matrix = sparse.dia_array((data, arrays["offsets"]), shape=shape)
    else:
        raise RequestError(f"the format is {form[:20]!r}; accepted: csr, csc, coo, bsr, dia")
    return EdgeSource(graph=from_scipy(matrix))


def _of_ours(arrays: Arrays) -> EdgeSource:
    from predict_graph.graph.csr import Graph
    from predict_graph.graph.objects import check_weights
    from predict_graph.graph.storage import check_ascending, labels_of

    unknown = set(arrays) - {"indptr", "indices", "directed", "weights", "labels", "label_starts"}
    if unknown:
        raise RequestError(f"it holds the unknown array {min(unknown)[:40]!r}")
    weights = arrays.get("weights")
    graph = Graph(
        arrays["indptr"],
        arrays["indices"],
        weights,
        directed=bool(arrays["directed"]),
        labels=labels_of(arrays.get("labels"), arrays.get("label_starts")),
    )
    if graph.vertices < 1:
        raise RequestError("there are no vertices")
    if graph.weights is not None:
        check_weights(graph.weights, "the file")
    check_ascending(graph)
    return EdgeSource(graph=graph)
