"""The one place where whatever a user gives becomes a Graph."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from predict_graph.errors import RequestError, did_you_mean
from predict_graph.graph.build import as_asked
from predict_graph.graph.csr import Graph
from predict_graph.graph.edge_list import EdgeList
from predict_graph.graph.generators import GENERATORS, generate
from predict_graph.memory import forget_peak, resident_memory, resident_peak
from predict_graph.remote import address_of
from predict_graph.stopwatch import Stopwatch


def check_graph(
    source: Any,
    *,
    directed: bool | None = None,
    ids: str | None = None,
    name: str | None = None,
    seed: int | np.random.Generator | None = None,
) -> Graph:
    """Return the graph that `source` is, names or describes.

    A text is, in this order: an existing file or folder of Parquet files or parts of text, an
    address such as ``s3://bucket/edges.csv``, a generator such as ``rmat:scale=18``, the name of a
    dataset.

    Parameters
    ----------
    source : Graph, str, Path, EdgeList, or an object of another library
        A networkx, igraph or networkit graph, a scipy sparse array, a pandas or polars table of
        edges, or a list or array of pairs. An EdgeList says what the columns of a file or table
        hold.
    directed : bool, optional
        None: as the dataset, the file or the object says, else directed. False stores both
        directions of every edge; true takes the edges as they are listed.
    ids : {"integer", "string"}, optional
        Whether the ids of a file are integers from 0 on or any text; by default as they are.
    name : str, optional
        What reports call the graph.
    seed : int or numpy.random.Generator, optional
        For a generator whose text sets no seed.

    Returns
    -------
    Graph
        With at least one edge, unless `source` is a Graph already.

    Raises
    ------
    RequestError
        If `source` is none of these, cannot be read, or has no edges.

    Examples
    --------
    >>> check_graph("grid:rows=3,columns=4")
    Graph('grid:rows=3,columns=4', 12 vertices, 17 undirected edges)
    >>> import networkx
    >>> check_graph(networkx.path_graph(3), name="three")
    Graph('three', 3 vertices, 2 undirected edges)
    """
    wanted = EdgeList.of(source, ids)
    source = wanted.edges
    if isinstance(source, Graph):
        wanted.refuse_columns("a Graph")
        return as_asked(source, directed, name)
    if isinstance(source, str | os.PathLike):
        make = _named(os.fspath(source), directed, wanted, name, seed)
    else:
        from predict_graph.graph.foreign import from_library

        make = partial(from_library, wanted, directed=directed, name=name)
    forget_peak()
    held, watch = resident_memory(), Stopwatch()
    graph = make()
    read_bytes = (held, resident_peak(), resident_memory())
    vars(graph).update(read_seconds=watch.seconds, read_bytes=read_bytes)
    if graph.edges == 0:
        raise RequestError(
            f"the graph {graph.name!r} has no edges ({graph.vertices} vertices); "
            "accepted: graphs with at least one edge"
        )
    return graph


def _named(
    text: str, directed: bool | None, wanted: EdgeList, name: str | None, seed: Any
) -> Callable[[], Graph]:
    """Return what reads or generates the graph of a text."""
    from predict_graph.graph.datasets import CATALOGUE, dataset, fetch
    from predict_graph.graph.readers import read_graph

    if is_read(text):
        return partial(read_graph, wanted, directed=directed, name=name)
    if text.partition(":")[0].strip() in GENERATORS.names():
        wanted.refuse_columns(text)
        return partial(generate, text, directed=directed, name=name, seed=seed)
    if text in CATALOGUE:
        asked = dataset(text).directed if directed is None else directed
        found = replace(wanted, edges=fetch(text))
        return partial(read_graph, found, directed=asked, name=name or text)
    path = Path(text)
    known = [*GENERATORS.names(), *CATALOGUE, *_names_beside(path)]
    a_file = path.suffix or os.sep in text
    meant = did_you_mean(path.name if a_file else text.partition(":")[0], known) if text else ""
    what = f"there is no file {text!r}" if a_file else f"unknown graph {text!r}"
    raise RequestError(
        f"{what};{meant} accepted: the name of an existing file, an address such as "
        f"s3://bucket/edges.csv, a generator ({', '.join(GENERATORS.names())}) such as "
        f"rmat:scale=18, or a dataset ({', '.join(CATALOGUE)})"
    )


def is_read(text: str) -> bool:
    """Return whether a graph is read from what a text names, even if it is also another's name.

    A folder without files of data does not hide a generator or a dataset of its name.
    """
    from predict_graph.graph.datasets import CATALOGUE
    from predict_graph.graph.readers.parquet import data_files

    if not os.path.isdir(text):
        return text == "-" or os.path.lexists(text) or address_of(text) is not None
    other = text.partition(":")[0].strip() in GENERATORS.names() or text in CATALOGUE
    return not other or bool(data_files(Path(text)))


def _names_beside(path: Path) -> list[str]:
    """Return the names of files in the folder of a path, a thousand at most."""
    with suppress(OSError, ValueError), os.scandir(path.parent) as entries:
        return [entry.name for entry in islice(entries, 1000)]
    return []
