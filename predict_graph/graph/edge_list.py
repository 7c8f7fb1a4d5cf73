"""A file, folder or table of edges: what the user says of its columns, and what a reader gives."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from predict_graph.arrays import IndexArray
from predict_graph.errors import RequestError
from predict_graph.limits import whole_number
from predict_graph.remote import address_of


@dataclass(frozen=True)
class EdgeList:
    """A list of edges, and how it is to be read; it stands wherever a path or a table does.

    Parameters
    ----------
    edges : str, Path or table
        A file or folder, or a pandas or polars table.
    ids : {"integer", "string"}, optional
        Whether ids are integers from 0 on or any text; by default as the first edge has them.
    header : bool, optional
        Whether the first line of a text file holds the names of the columns.
    source_column, target_column, weight_column : str or int, optional
        Names of the columns, or their numbers from 1 on.
    bipartite : bool, optional
        Whether sources and targets are of two kinds, so that the same id in both columns is two
        vertices.

    Raises
    ------
    RequestError
        If the kind of ids is unknown, or only one of source and target is named.

    Examples
    --------
    >>> EdgeList("ratings.csv", source_column="user", target_column="film").bipartite
    """

    edges: Any
    ids: str | None = None
    header: bool | None = None
    source_column: str | int | None = None
    target_column: str | int | None = None
    weight_column: str | int | None = None
    bipartite: bool | None = None

    def __post_init__(self) -> None:
        if self.ids not in (None, "integer", "string"):
            raise RequestError(f"ids is {self.ids!r}; accepted: integer, string")
        if (self.source_column is None) != (self.target_column is None):
            raise RequestError(
                "one of the source column and the target column is given; accepted: both "
                "(--src-column and --dst-column) or none"
            )

    @classmethod
    def of(cls, source: Any, ids: str | None = None) -> EdgeList:
        """Return what is given as an edge list, with the kind of ids if that is given."""
        found = source if isinstance(source, EdgeList) else cls(source)
        return found if ids is None else replace(found, ids=ids)

    @property
    def given(self) -> list[str]:
        """The parameters by which the user says something of ids and columns."""
        return [name for name, value in vars(self).items() if name != "edges" and value is not None]

    def refuse_columns(self, what: str) -> None:
        """Raise RequestError if anything is said of columns and ids, which `what` has not."""
        if given := ", ".join(self.given):
            raise RequestError(f"{what} has no columns to choose, and its own ids; drop {given}")

    @property
    def named(self) -> bool:
        """Whether a column is given by a name, which only a header has."""
        given = (self.source_column, self.target_column, self.weight_column)
        return any(each is not None and not str(each).isdigit() for each in given)

    def place(self, column: str | int | None, names: Sequence[str], where: str) -> int:
        """Return the place of a column that is given by its name or its number.

        Raises
        ------
        RequestError
            If there is none.
        """
        lower, text = [name.strip().lower() for name in names], str(column).strip().lower()
        if text in lower:
            return lower.index(text)
        number = whole_number(text)
        if number is not None and 1 <= number <= len(names):
            return number - 1
        shown = ", ".join(names)[:200]
        raise RequestError(
            f"{where} has no column {column!r}; accepted: {shown}, or 1 to {len(names)}"
        )

    def __fspath__(self) -> str:
        return str(os.fspath(self.edges))

    def __str__(self) -> str:
        return str(self.edges)

    @property
    def path(self) -> Path:
        """Where the edges are, if that is a file, a folder or an address."""
        return address_of(str(self)) or Path(self)


class EdgeBlock(NamedTuple):
    """Some edges of a graph, in the order of the file.

    Attributes
    ----------
    sources, targets : ndarray of int32 or int64, shape (k,)
        Of text ids, dictionary arrays of pyarrow until they are relabelled.
    weights : ndarray of float32, shape (k,), or None
    """

    sources: IndexArray
    targets: IndexArray
    weights: npt.NDArray[np.float32] | None = None


@dataclass
class EdgeSource:
    """A graph that can be read once, block by block.

    Parameters
    ----------
    blocks : iterable of EdgeBlock
        The edges; an iterator that reads the file as it goes.
    vertices : int, optional
        Number of vertices that the file declares: then the ids are 0 … n - 1, and a vertex without
        edges counts. None: the vertices are the ids that occur in an edge.
    directed : bool, optional
        What the file says; None when it does not say.
    bipartite : bool
        Whether the same id as source and as target is two vertices.
    both_ends : bool
        Whether each edge has to be listed at both its ends.
    notes : tuple of str
        What was assumed.
    """

    blocks: Iterable[EdgeBlock]
    vertices: int | None = None
    directed: bool | None = None
    bipartite: bool = False
    both_ends: bool = False
    notes: tuple[str, ...] = ()
