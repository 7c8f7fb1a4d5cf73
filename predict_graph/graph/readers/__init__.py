"""Readers of graph files: one a format, found by suffix and content."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path

from predict_graph.errors import RequestError
from predict_graph.graph.build import as_asked, direction_of, from_blocks, relabel, symmetric
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeBlock, EdgeList, EdgeSource
from predict_graph.graph.readers.formats import SUFFIXES, copied_here, open_source
from predict_graph.graph.readers.streams import suffixes_of
from predict_graph.inputs import STANDARD_INPUT
from predict_graph.limits import check_limit


def read_graph(
    path: str | PathLike[str], *, directed: bool | None = None, name: str | None = None
) -> Graph:
    r"""Read a graph file.

    Parameters
    ----------
    path : str, Path or EdgeList
        The format follows from suffix and content; see docs/graphs.md. ``-`` is standard input.
    directed : bool, optional
        None: as the file says, else directed.
    name : str, optional
        The file's name without suffixes when it is not given.

    Raises
    ------
    RequestError
        If the file cannot be read, is not what its suffix says, or holds no edge.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "tiny.txt"
    ...     _ = file.write_text("# from to\n7 9\n9 12\n")
    ...     read_graph(file)
    Graph('tiny', 3 vertices, 2 directed edges)
    """
    wanted = EdgeList.of(path)
    if str(wanted) == "-":
        wanted = replace(wanted, edges=STANDARD_INPUT)
    name = name or name_of(wanted.path)
    with copied_here(wanted) as readable:
        return graph_of(open_source(readable), str(wanted), directed, name)


def graph_of(source: EdgeSource | Graph, where: str, directed: bool | None, name: str) -> Graph:
    """Return the graph of edges that are read once, from a file or object of this name.

    A graph, from a format that holds it row by row, is the same in the direction asked for.

    Raises
    ------
    RequestError
        If there is no edge, or more than the limits say.
    """
    if isinstance(source, Graph):
        return as_asked(source, directed, name)
    directed, notes = direction_of(source.directed, directed)
    blocks: list[EdgeBlock] = []
    edges = 0
    for block in source.blocks:
        edges += len(block.sources)
        check_limit("edges", edges, f"{where} has too many edges")
        blocks.append(block)
    if not blocks:
        raise RequestError(f"{where} has no edges")
    n, labels = source.vertices, None
    if n is None:
        blocks, n, labels = relabel(blocks, apart=source.bipartite)
    as_listed = directed or source.both_ends
    graph = from_blocks(blocks, n, directed=as_listed, name=name, labels=labels)
    if source.both_ends:
        both = symmetric(graph)
        if both.edges > graph.edges:
            raise RequestError(f"{where}: some edge is listed at one of its ends only")
        graph = graph if directed else both
    return graph.described_as(notes=notes + source.notes)


def name_of(path: Path) -> str:
    """Return the name of a file without the suffixes of its format and compression.

    Examples
    --------
    >>> name_of(Path("graphs/uk-2007-05@100000.txt.gz"))
    'uk-2007-05@100000'
    >>> name_of(Path("out.ucidata-zachary.bz2"))  # of KONECT
    'out.ucidata-zachary'
    """
    form, packed = suffixes_of(path)
    dropped = form + packed if form in SUFFIXES else packed
    return path.name[: len(path.name) - len(dropped)] or path.name or str(path)
