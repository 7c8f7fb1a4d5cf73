"""What a library exchanges in some supersteps, as its twin knows it: for those who encode it.

A superstep of GraphX has messages, combined in each partition of the edges, that go to where their
receivers are; and what receivers are then, which goes to all partitions with edges of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.engines.spark.library.layout import EdgeLayout

__all__ = ["Exchange", "Exchanges", "Maps", "MapsOf", "Twin", "Values"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Maps:
    """Some maps from ids to numbers.

    Parameters
    ----------
    starts : ndarray of int64, shape (maps + 1,)
        Where the entries of each begin.
    keys, values : ndarray, shape (entries,)
        Values of 8 bytes, or of 4.
    alone : ndarray of bool, shape (maps,), optional
        Maps of one entry that were not put together with any other.
    """

    starts: IntArray
    keys: IntArray
    values: npt.NDArray[Any]
    alone: BoolArray | None = None


@dataclass(frozen=True)
class MapsOf:
    """Maps of vertices.

    Parameters
    ----------
    of : callable (ids) -> Maps
    """

    of: Callable[[IntArray], Maps]


Values = npt.NDArray[Any] | MapsOf
"""What vertices have: a number each or two, or a map."""

Told = Callable[[EdgeLayout], tuple[Values, BoolArray]]


@dataclass(frozen=True)
class Exchange:
    """What vertices are told in a superstep, and what becomes of them.

    Parameters
    ----------
    told : callable (edges) -> values, received
        What each vertex is told by the edges of one partition, and whether it is.
    received, changed : ndarray of bool, shape (n,)
        Whom anybody told anything, and who is another one since.
    attributes : ndarray, shape (n,) or (n, 2), or MapsOf
        What vertices are afterwards: a number each or two, or a map.
    counted : ndarray of bool, shape (n,), optional
        Of whom the twin counts copies, if not of those that changed.
    """

    told: Told
    received: BoolArray
    changed: BoolArray
    attributes: Values
    counted: BoolArray | None = None


@dataclass(frozen=True)
class Exchanges:
    """What is exchanged, superstep by superstep.

    Parameters
    ----------
    kept : mapping of int to Exchange
        Of some supersteps, from 0.
    pregel : bool
        Whether it is GraphX's Pregel, which sends vertices, and once more the ids of those that
        heard something, in the superstep after; and looks at one partition of the messages before
        the others are asked for. A loop of its own sends vertices at once.
    both_ends : bool
        Whether vertices go to edges at both of their ends, or to those that leave them.
    counted_ends : bool
        Whether the twin counts copies of vertices at both ends.
    maps : bool
        Whether messages are maps, which take longer to encode.
    degrees : callable (edges) -> values, received, optional
        Degrees, if they are counted before.
    first, second : tuple of ndarray or MapsOf
        What all vertices go to the edges as, in the first superstep, and once more in the second.
    """

    kept: Mapping[int, Exchange]
    pregel: bool
    both_ends: bool
    counted_ends: bool
    maps: bool = False
    degrees: Told | None = None
    first: tuple[Values, ...] = ()
    second: tuple[Values, ...] = ()


@dataclass(frozen=True)
class Twin:
    """What a twin found.

    Parameters
    ----------
    table : DataFrame
        A row of ``TWIN_COLUMNS`` for each superstep.
    exchanges : Exchanges, optional
        None if nobody knows what messages look like.
    """

    table: pd.DataFrame
    exchanges: Exchanges | None = field(default=None, repr=False)
