"""Which reader reads a file: by its suffix, and by its content where a suffix has two meanings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from tempfile import TemporaryDirectory

from predict_graph.errors import RequestError
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeList, EdgeSource
from predict_graph.graph.readers.streams import COMPRESSIONS, Content, suffixes_of
from predict_graph.remote import Address, copied

# The function that reads each format, and the suffixes of its files.
_FORMATS = {
    "text": ("readers.text:open_text", ".txt .tsv .csv .edges .edgelist .el .ncol"),
    "matrix-market": ("readers.counted:open_matrix_market", ".mtx"),
    "metis": ("readers.counted:open_metis", ".graph .metis"),
    "npz": ("storage:open_npz", ".npz"),
    "parquet": ("readers.parquet:open_parquet", ".parquet .pq"),
    "webgraph": ("readers.webgraph:open_webgraph", ""),
    "adjacency": ("readers.networkx_files:open_adjlist", ".adjlist"),
    "dimacs": ("readers.counted:open_dimacs", ".gr .dimacs .col .clq"),
    "graphml": ("readers.networkx_files:open_graphml", ".graphml"),
    "gexf": ("readers.networkx_files:open_gexf", ".gexf"),
    "gml": ("readers.networkx_files:open_gml", ".gml"),
    "pajek": ("readers.networkx_files:open_pajek", ".net .paj .pajek"),
    "node-link": ("readers.networkx_files:open_node_link", ".json"),
}
SUFFIXES = {suffix: form for form, (_, suffixes) in _FORMATS.items() for suffix in suffixes.split()}
# Formats that seek in the file, or know the ids 0 … n - 1 only.
_NEVER_COMPRESSED = ("npz", "parquet", "webgraph")
_SOUGHT = {".npz", ".parquet", ".pq", ".zip"}  # suffixes of files that are not read in order
_TABLES = ("text", "parquet")
_INTEGER_ONLY = ("matrix-market", "metis", "npz", "webgraph", "dimacs")
_DIMACS = re.compile(rb"(?:c[^\n]*\n)*p[ \t]+(?:sp|max|edge|col)[ \t]+[0-9]+[ \t]+[0-9]+")


def open_source(wanted: EdgeList) -> EdgeSource | Graph:
    """Open a graph file with the reader of its format.

    Formats that hold a graph row by row give it as it is, others their edges, to be read once.

    Raises
    ------
    RequestError
        If the file cannot be read, or its format is unknown or does not fit what is wanted.
    """
    path, further = wanted.path, list[Path]()
    if not isinstance(path, Address) and path.is_dir():
        from predict_graph.graph.readers.parquet import data_files, is_parquet, open_tables

        files = data_files(path)
        tables = [file for file in files if is_parquet(file.name)]
        if tables or not files:
            return open_tables(tables, path, wanted)
        path, *further = files
    content = Content(path)
    try:
        form = format_of(content)
        if wanted.ids == "string" and form in _INTEGER_ONLY:
            raise RequestError(
                f"{content.path}: the format {form} has integer ids only; drop --ids string"
            )
        if {*wanted.given} - {"ids"} and form not in _TABLES:
            raise RequestError(f"{content.path}: the format {form} has no columns to choose")
        read = resolve_name(f"predict_graph.graph.{_FORMATS[form][0]}")
        if further and form != "text":
            raise RequestError(f"{wanted.path} has further parts; {form} is read from one file")
        found: EdgeSource | Graph = read(content, wanted, *filter(None, [further]))
        return found
    except BaseException:
        content.close()
        raise


@contextmanager
def copied_here(wanted: EdgeList) -> Iterator[EdgeList]:
    """Give what is wanted, by a copy if it is at an address and cannot be read as it comes."""
    from predict_graph.graph.readers.parquet import NO_TABLES, is_data

    path = wanted.path
    found = path.files() if isinstance(path, Address) else {}
    files = {below: file for below, file in found.items() if is_data(below)}
    if found and not files:
        raise RequestError(f"{path} {NO_TABLES}")
    if isinstance(path, Address) and (files or {*suffixes_of(path)} & _SOUGHT):
        with TemporaryDirectory(prefix="predict-graph-") as folder:
            copy = copied(path, files, Path(folder))
            try:
                yield replace(wanted, edges=copy)
            except RequestError as error:
                raise RequestError(str(error).replace(str(copy), str(path))) from error
    else:
        yield wanted


def format_of(content: Content) -> str:
    """Return the format of a file, a key of `_FORMATS`.

    A stream, and a file without a suffix, holds text: an edge list, a DIMACS or a Matrix Market
    file.

    Raises
    ------
    RequestError
        If its suffix is unknown, or it is a stream or compressed and its format cannot be that.
    """
    path = content.path
    suffix, compression = content.suffix, suffixes_of(path)[1]
    plain = not suffix or content.stream or path.name.startswith("out.")  # of KONECT
    form = SUFFIXES.get(suffix, "text" if plain else "")
    if not form:
        raise RequestError(
            f"{path} has the suffix {suffix!r}; accepted: {' '.join(sorted(SUFFIXES))}, none, "
            f"and {', '.join(COMPRESSIONS)} after those of text files"
        )
    if suffix == ".graph" and not compression and path.with_suffix(".properties").is_file():
        form = "webgraph"
    if form in _NEVER_COMPRESSED:
        if compression or content.stream:
            raise RequestError(f"{path}: {form} files are read from disk, uncompressed")
        return form
    if content.start.lstrip(b"%").startswith(b"MatrixMarket"):
        return "matrix-market"
    if form == "text" and _DIMACS.match(content.start):
        return "dimacs"
    if suffix == ".graph" and b"\0" in content.start:
        raise RequestError(
            f"{path} is not METIS text; a WebGraph needs {path.with_suffix('.properties').name} "
            "beside it"
        )
    return form
