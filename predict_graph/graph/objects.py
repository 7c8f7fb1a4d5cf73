"""Graphs of other libraries, as ours: networkx graphs and scipy sparse arrays."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import chain, takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

from predict_graph.errors import RequestError, explained
from predict_graph.graph.build import from_edges
from predict_graph.graph.csr import Graph


def from_networkx(source: Any) -> Graph:
    """Return the graph of a networkx graph; its nodes become `labels` unless they are 0 … n - 1.

    Edges have weights when every edge has the attribute ``weight``. Parallel edges of a multigraph
    count once, their weights added.

    Raises
    ------
    RequestError
        If a weight is not a finite number, or the graph has no vertices.
    """
    nodes = list(source.nodes())
    if not nodes:
        raise RequestError("the networkx graph has no vertices")
    ordered = all(type(node) is int for node in nodes)
    if ordered:
        nodes.sort()
    position = {node: i for i, node in enumerate(nodes)}
    plain = ordered and nodes[0] == 0 and nodes[-1] == len(nodes) - 1
    sources, targets, listed = _listed(source, None if plain else position)
    return from_edges(
        sources,
        targets,
        vertices=len(nodes),
        weights=weights_of(listed, "the networkx graph") if listed else None,
        name=str(getattr(source, "name", "")) or "networkx",
        labels=None if plain else labels_of(nodes),
    ).described_as(directed=source.is_directed())


def _listed(
    source: Any, position: dict[Any, int] | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[Any] | None]:
    """Return the ends of edges, and their weights if all have one, row by row.

    An undirected edge is in two rows, as in ours. Nothing here is done edge by edge in Python, but
    for weights; vertices that are 0 … n - 1 need no position, which is most of the time.
    """

    def places(nodes: Iterable[Any], count: int) -> npt.NDArray[np.int64]:
        found = nodes if position is None else map(position.__getitem__, nodes)
        return np.fromiter(found, np.int64, count)

    rows = source._adj
    counts = np.fromiter(map(len, rows.values()), np.int64, len(rows))
    targets = places(chain.from_iterable(rows.values()), int(counts.sum()))
    sources = np.repeat(places(rows, len(rows)), counts)
    found: Iterable[Any] = chain.from_iterable(row.values() for row in rows.values())
    if source.is_multigraph():
        edges = list(found)
        copies = list(map(len, edges))
        sources, targets = np.repeat(sources, copies), np.repeat(targets, copies)
        found = chain.from_iterable(each.values() for each in edges)
    given = (each.get("weight") for each in found)
    weights = list(takewhile(lambda weight: weight is not None, given))
    return sources, targets, weights if len(weights) == len(targets) else None


def from_scipy(source: Any) -> Graph:
    """Return the graph of a square scipy sparse array; stored elements are the edges.

    Values that are all one are no weights.

    Raises
    ------
    RequestError
        If the array is not square, or a value is not a finite real number.
    """
    if len(source.shape) != 2 or source.shape[0] != source.shape[1]:
        raise RequestError(f"the sparse array has the shape {source.shape}; accepted: square")
    if source.dtype.kind not in "biuf":
        raise RequestError(f"the sparse array has values of {source.dtype}; accepted: real numbers")
    if hasattr(source, "check_format"):  # compiled code of scipy believes its row pointers
        with explained("the sparse array is no matrix"):
            source.check_format(full_check=True)
    listed = source.tocoo()
    rows, columns = listed.coords
    values = np.asarray(listed.data, dtype=np.float64)
    check_weights(values, "the sparse array")
    weighted = source.dtype != np.bool_ and bool(np.any(values != 1))
    return from_edges(
        rows,
        columns,
        vertices=int(source.shape[0]),
        weights=values if weighted else None,
        name="sparse array",
    )


def weights_of(values: Any, where: str) -> npt.NDArray[np.float64]:
    """Return the weights that another library holds.

    Raises
    ------
    RequestError
        If one is no finite number.
    """
    try:
        weights = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise RequestError(f"a weight of {where} is not a number: {error}") from None
    check_weights(weights, where)
    return weights


def check_weights(weights: np.ndarray[Any, Any], where: str) -> None:
    """Check that weights are finite, and as numbers of 32 bits, too.

    Raises
    ------
    RequestError
        If one is not.
    """
    most = np.finfo(np.float32).max
    wrong = np.flatnonzero(~(np.abs(weights) <= most))
    if len(wrong):
        raise RequestError(
            f"the weight of edge {wrong[0]} of {where} is {weights[wrong[0]]}; "
            f"accepted: finite numbers up to {most:.3g}"
        )


def whole_numbers(
    values: npt.NDArray[Any],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp]]:
    """Return numbers as ids, and the places of those that cannot be ids, which are 0 instead.

    These are negative, not whole, or larger than 2**63 - 1.

    Examples
    --------
    >>> whole_numbers(np.array([1.0, 2.5, -3.0]))[1].tolist()
    [1, 2]
    """
    with np.errstate(invalid="ignore"):
        most = 2.0**63 if values.dtype.kind == "f" else np.uint64(2**63)
        good = (values >= 0) & (values < most)
        good &= values == np.floor(values)
        return np.where(good, values, 0).astype(np.int64), np.flatnonzero(~good)


def labels_of(nodes: list[Any]) -> np.ndarray[Any, Any]:
    """Return nodes as labels: an array of integers if all of them are, else of objects."""
    if all(type(node) is int for node in nodes):
        with suppress(OverflowError):
            return np.array(nodes, dtype=np.int64)
    labels = np.empty(len(nodes), dtype=object)
    labels[:] = nodes
    return labels
