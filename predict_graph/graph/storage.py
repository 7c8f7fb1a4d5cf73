"""Graphs in files: ``.npz`` files of ours and of scipy, or the edges with their original ids.

In our ``.npz`` files, text ids are stored as the bytes of a list in JSON.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from predict_graph.arrays import Array
from predict_graph.errors import RequestError, explained
from predict_graph.files import check_writable, written_beside
from predict_graph.graph.build import check_weights
from predict_graph.graph.csr import Graph, plain_labels
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.foreign import from_scipy
from predict_graph.graph.readers.streams import Content
from predict_graph.inputs import parse_json
from predict_graph.limits import check_unpacked

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
TABLES = (".csv", ".tsv", ".parquet")
"""Suffixes of the files of tables that are written; those of edges, in addition, are ``.txt``."""
_OWN = {"indptr", "indices", "directed", "weights", "labels", "label_texts", "notes"}


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
    arrays: dict[str, Any] = {"notes": np.array(graph.notes, np.str_)}
    if graph.labels is not None and np.issubdtype(graph.labels.dtype, np.integer):
        arrays["labels"] = graph.labels
    elif graph.labels is not None:
        texts = json.dumps(list(map(str, graph.labels.tolist()))).encode()
        arrays["label_texts"] = np.frombuffer(texts, np.uint8)
    if graph.weights is not None:
        arrays["weights"] = graph.weights
    # Without the last ones there is no graph: a damaged directory of files may lose its end.
    arrays |= {"indptr": graph.indptr, "indices": graph.indices, "directed": graph.directed}
    with written_beside(path) as beside, beside.open("wb") as file:
        np.savez(file, **arrays)  # none holds objects
    return path


def open_npz(content: Content, wanted: EdgeList) -> Graph:
    """Return the graph of an ``.npz`` file; its rows are the vertices.

    Raises
    ------
    RequestError
        If it holds neither a square sparse array nor a graph.
    """
    path = content.path
    content.close()
    with explained(f"{path} is not an .npz file that can be read"):
        with zipfile.ZipFile(path) as packed:
            members, size = packed.infolist(), path.stat().st_size
        check_unpacked("it", sum(member.file_size for member in members), size)
        names = {member.filename.removesuffix(".npy") for member in members}
        try:
            if "format" in names:
                matrix = sparse.load_npz(path)
                check_unpacked("the array", 16 * max(matrix.shape), size)
                return from_scipy(matrix)
            if {"indptr", "indices", "directed"} <= names <= _OWN:
                with np.load(path, allow_pickle=False) as stored:
                    return _stored_graph(dict(stored))
        except RequestError as error:
            raise RequestError(f"{path}: the arrays are not those of a graph: {error}") from error
    raise RequestError(
        f"{path} holds the arrays {', '.join(sorted(names))[:200]}; accepted: a sparse array that "
        "scipy.sparse.save_npz wrote, or a graph that save_graph wrote"
    )


def _stored_graph(arrays: dict[str, Array]) -> Graph:
    """Return the graph of the arrays that :func:`save_graph` wrote, once they are checked."""
    labels = arrays.get("labels")
    if labels is not None and (labels.ndim != 1 or labels.dtype.kind not in "iu"):
        raise ValueError(f"the labels are {labels.ndim}-dimensional {labels.dtype}")
    if "label_texts" in arrays:
        found = parse_json(arrays["label_texts"].tobytes(), "the list of labels")
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise ValueError("the labels are no list of texts")
        labels = np.array(found, dtype=object)
    graph = Graph(
        arrays["indptr"],
        arrays["indices"],
        arrays.get("weights"),
        directed=bool(arrays["directed"]),
        labels=labels,
        notes=tuple(map(str, arrays.get("notes", ()))),
    )
    if graph.weights is not None:
        check_weights(graph.weights, "the file")
    if not graph.ascending:
        raise RequestError("the targets of some vertex are not ascending, or come twice")
    return graph


def check_table_file(path: Path, *more: str) -> Path:
    """Return `path` if a table can be written there, or a file with one of `more` suffixes.

    Raises
    ------
    RequestError
        If its suffix is not accepted, or its folder is missing or read-only.
    """
    accepted = (*more, *TABLES)
    if path.suffix not in accepted:
        raise RequestError(f"cannot write {path}; accepted: a name in {', '.join(accepted)}")
    return check_writable(path)


def write_table(path: Path, columns: dict[str, Any]) -> None:
    """Write columns as CSV, TSV or Parquet; as ``.txt`` without header and quotes.

    Raises
    ------
    RequestError
        If `path` cannot be written to, or a text holds a character that ``.txt`` cannot.
    JobError
        If writing fails; what was there stays.
    """
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    table, plain = pa.table(columns), path.suffix == ".txt"
    with written_beside(path) as beside:
        if path.suffix == ".parquet":
            pa.parquet.write_table(table, beside)
            return
        options = pa.csv.WriteOptions(
            include_header=not plain,
            delimiter=_DELIMITERS[path.suffix],
            quoting_style="none" if plain else "needed",
        )
        try:
            pa.csv.write_csv(table, beside, options)
        except pa.ArrowInvalid as error:
            raise RequestError(
                f"cannot write {path}: an id holds a tab, a quote or a line break; accepted for "
                "such ids: a name in .csv, .tsv, .parquet"
            ) from error


def write_edges(path: Path, graph: Graph) -> None:
    """Write one line an edge: source, target and, if there is one, weight.

    CSV, TSV and Parquet get a header; ``.txt`` is as SNAP has it, without header and quotes. An
    edge of an undirected graph is written once.

    Raises
    ------
    RequestError
        As :func:`write_table`; if an id in ``.txt`` begins as a comment does, or is that of two
        vertices, as where they are of two kinds.
    JobError
        If writing fails; what was there stays.

    Examples
    --------
    >>> from predict_graph.graph import check_graph
    >>> write_edges(Path("tags.txt"), check_graph([("#a", "b")]))
    Traceback (most recent call last):
    predict_graph.errors.RequestError: cannot write tags.txt: an id begins as a comment does; ...
    """
    check_table_file(path, ".txt")
    sources, targets, weights = graph.listed_edges()
    columns: dict[str, Array] = {"source": sources, "target": targets}
    if graph.labels is not None:
        labels = plain_labels(graph.labels)
        twice = len({*labels.tolist()}) < len(labels)  # of vertices of two kinds
        names = ("user", "item") if twice else tuple(columns)
        columns = dict(zip(names, (labels[sources], labels[targets]), strict=True))
        marks = ("#", "%") if path.suffix == ".txt" else ("# ", "##")
        marked = path.suffix != ".parquet" and any(str(each).startswith(marks) for each in labels)
        if marked or (twice and path.suffix == ".txt"):
            what = "an id begins as a comment does" if marked else "an id is that of two vertices"
            raise RequestError(
                f"cannot write {path}: {what}; accepted for such ids: a name in .parquet"
            )
    if weights is not None:
        columns["weight"] = weights
    write_table(path, columns)
