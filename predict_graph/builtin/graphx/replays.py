"""Compiled local replays of GraphX algorithms.

GraphX's Pregel runs the vertex program on vertices that received a message, and lets edges send
where either end, or the source, received one (``activeDirection``). Messages to a vertex are
combined in each partition of the edges, and then over all partitions.

References
----------
.. [1] J. Gonzalez et al.: GraphX: Graph Processing in a Distributed Dataflow Framework, OSDI 2014,
   sections 3 and 4.
.. [2] S. Salihoglu and J. Widom: Optimizing Graph Algorithms on Pregel-like Systems, VLDB 2014,
   section 3.1: strong components.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, pairwise, starmap
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.arrays import BoolArray, IntArray
from predict_graph.builtin.graphx.definition import GraphXAlgorithm
from predict_graph.builtin.label_propagation.kernel import vote
from predict_graph.engines.spark.library.algorithm import REPLAY_COLUMNS, EdgeLayout

_FAR = np.iinfo(np.int32).max

Row = tuple[int, ...]
"""The counters of a superstep."""


def table_of(rows: Sequence[Row]) -> pd.DataFrame:
    """Return one row per superstep."""
    return pd.DataFrame(rows, columns=list(REPLAY_COLUMNS))


def sent(
    layout: EdgeLayout, sends: BoolArray, senders: Any, receivers: Any
) -> tuple[Row, BoolArray]:
    """Return the row of a superstep of one message along some edges, and the receivers.

    Messages to a vertex are combined into one record of one entry in each partition.
    """
    n, records = layout.vertices, 0
    sending, received = np.zeros((2, n), np.bool_)
    sending[senders[sends]] = True
    for part in starmap(slice, pairwise(layout.starts)):
        here = np.zeros(n, np.bool_)
        here[receivers[part][sends[part]]] = True
        records += int(np.count_nonzero(here))
        received |= here
    active, messages, hear = (int(np.count_nonzero(each)) for each in (sending, sends, received))
    return (active, messages, records, records, hear), received


def distinct_rows(
    n: int, partitions: int, first: IntArray, second: IntArray, parts: IntArray
) -> tuple[int, IntArray, IntArray]:
    """Return the distinct rows within partitions, counted, and the distinct rows of all.

    Examples
    --------
    >>> ends = np.array([80_000_000, 80_000_000, 3])
    >>> distinct_rows(80_000_001, 4000, ends, ends, np.array([0, 3999, 1]))
    (3, array([       3, 80000000]), array([       3, 80000000]))
    """
    rows, places = np.unique(first * n + second, return_inverse=True)
    return len(np.unique(places * partitions + parts)), rows // n, rows % n


def pagerank(algorithm: GraphXAlgorithm, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``PageRank``: all edges each round, or those of vertices whose rank increased by
    `tol`. From one vertex, that alone has an initial rank; by rounds all edges send all the same.
    """
    given: Any = algorithm.parameters
    every = np.ones(len(layout.sources), np.bool_)
    if given["numIter"] is not None:
        row, _ = sent(layout, every, layout.sources, layout.targets)
        return table_of([row] * int(given["numIter"]))
    reset = given["resetProb"]
    # The initial message to all vertices sets rank and change from resetProb.
    rank = np.full(layout.vertices, (1.0 - reset) * (reset / (1.0 - reset)))
    if algorithm.at:
        rank[:] = 0.0
        rank[list(algorithm.at)] = 1.0
    per_edge = 1.0 / np.maximum(np.bincount(layout.sources, minlength=layout.vertices), 1)
    rows, delta, active = [], rank, np.ones(layout.vertices, np.bool_)
    while True:
        sends = (active & (delta > given["tol"]))[layout.sources]
        row, active = sent(layout, sends, layout.sources, layout.targets)
        rows.append(row)
        if not active.any():
            return table_of(rows)
        shares = delta * per_edge
        sums = np.bincount(layout.targets[sends], shares[layout.sources[sends]], layout.vertices)
        following = np.where(active, rank + (1.0 - reset) * sums, rank)
        delta = np.where(active, following - rank, delta)
        rank = following


def components(algorithm: GraphXAlgorithm, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``ConnectedComponents``: the smaller label of an edge goes to its other end."""
    n, rows = layout.vertices, []
    most = algorithm.parameters["maxIterations"]
    label, active = np.arange(n, dtype=np.int64), np.ones(n, np.bool_)
    ends = layout.sources, layout.targets
    for _ in count() if most is None else range(int(most) + 1):
        one, other = label[ends[0]], label[ends[1]]
        sends = (active[ends[0]] | active[ends[1]]) & (one != other)
        receivers = np.where(one > other, *ends)
        row, active = sent(layout, sends, np.where(one > other, *ends[::-1]), receivers)
        rows.append(row)
        if not active.any():
            break
        label = label.copy()
        np.minimum.at(label, receivers[sends], np.minimum(one, other)[sends])
    return table_of(rows)


def labels(algorithm: GraphXAlgorithm, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``LabelPropagation``: maps of labels along all edges, in both directions.

    Messages after the last step are sent although nothing reads them. Of several labels with most
    votes the smallest wins.
    """
    starts, senders, receivers = _inboxes(layout)
    n, none, rows = layout.vertices, np.empty(0, np.float32), []
    maps = np.searchsorted(receivers, np.arange(n + 1))  # those that go to each vertex
    label, entries = np.arange(n), np.ones(len(receivers), np.int32)
    known, received = np.ones(n, np.int32), int(np.count_nonzero(np.diff(maps)))
    for _ in range(int(str(algorithm.parameters["maxSteps"])) + 1 if received else 1):
        winners, ignored = label.copy(), np.empty_like(receivers)
        vote(0, len(receivers), (starts, senders, none), (label, ignored, entries))
        vote(0, n, (starts[maps], senders, none), (label, winners, known))
        rows.append((received, len(senders), len(receivers), int(entries.sum()), received))
        label = winners
    return table_of(rows)


def paths(algorithm: GraphXAlgorithm, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``ShortestPaths``: a map of landmarks goes against an edge where it has shorter
    paths.
    """
    n, rows, landmarks = layout.vertices, [], list(algorithm.at)
    ends, parts = (layout.sources, layout.targets), layout.parts
    hops = np.full((n, len(landmarks)), _FAR, np.int32)
    hops[landmarks, np.arange(len(landmarks))] = 0
    active = np.ones(n, np.bool_)
    while True:
        own, offered = hops[ends[0]], hops[ends[1]]
        sends = (active[ends[0]] | active[ends[1]]) & (offered < own - 1).any(axis=1)
        row, active = sent(layout, sends, *ends[::-1])
        offered, keys = offered[sends], (ends[0] * layout.partitions + parts)[sends]
        known = offered < _FAR
        entries = sum(len(np.unique(keys[each])) for each in known.T)
        rows.append((*row[:3], entries, row[-1]))
        if not active.any():
            return table_of(rows)
        np.minimum.at(hops, ends[0][sends], np.where(known, offered + 1, _FAR))


def _inboxes(layout: EdgeLayout) -> tuple[IntArray, IntArray, IntArray]:
    """Return senders and receivers of each partition, in both edge directions."""
    # An edge first sends to its source, then to its target.
    receivers = np.column_stack((layout.sources, layout.targets)).ravel()
    senders = np.column_stack((layout.targets, layout.sources)).ravel()
    key = receivers * layout.partitions + np.repeat(layout.parts, 2)
    order = np.argsort(key, kind="stable")
    key, senders = key[order], senders[order]
    firsts = np.flatnonzero(np.diff(key, prepend=-1))
    starts = np.append(firsts, len(key)).astype(np.int64)
    return starts, senders, key[firsts] // layout.partitions


def strong(algorithm: GraphXAlgorithm, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``StronglyConnectedComponents``.

    A round removes vertices without in-edges or out-edges repeatedly, until a count of the degrees
    finds none: such a vertex is a component of its own. Then two Pregel loops follow. In the first,
    the smallest id spreads along the edges as a colour. In the second, a vertex whose id is its
    colour confirms, against the edge direction, the vertices of its colour: those that it reaches
    and that reach it. The next round removes them. Each count of degrees is one Spark job in which
    all edges send to both ends, and each Pregel round is one: these are the supersteps.
    """
    n, most = layout.vertices, int(str(algorithm.parameters["numIter"]))
    alive = np.full(n, layout.everyone)  # otherwise it only has vertices with edges
    alive[layout.sources] = alive[layout.targets] = True
    edges, final, rows = layout, np.zeros(n, np.bool_), list[Row]()
    for number in range(1, most + 1):
        gone = alive
        if not gone.any():
            break
        while gone.any():
            every, ends = np.ones(len(edges.sources), np.bool_), (edges.sources, edges.targets)
            one, enters = sent(edges, every, *ends)
            other, leaves = sent(edges, every, *ends[::-1])
            linked, records = int((leaves | enters).sum()), one[2] + other[2]
            rows.append((linked, 2 * len(every), records, records, linked))
            gone = alive & (final | ~leaves | ~enters)
            alive = alive & ~gone
            edges = _among(edges, alive)
        if number < most:
            color = _spread(edges, rows)
            final = _confirmed(edges, alive, color, rows)
    return table_of(rows)


def _spread(edges: EdgeLayout, rows: list[Row]) -> IntArray:
    """Return the smallest id that reaches each vertex along the edges; add the rounds."""
    color, active = np.arange(edges.vertices), np.ones(edges.vertices, np.bool_)
    while active.any():
        own = color[edges.sources]
        sends = active[edges.sources] & (own < color[edges.targets])
        row, active = sent(edges, sends, edges.sources, edges.targets)
        rows.append(row)
        np.minimum.at(color, edges.targets[sends], own[sends])
    return color


def _confirmed(edges: EdgeLayout, alive: BoolArray, color: IntArray, rows: list[Row]) -> BoolArray:
    """Return the vertices whose id is their colour, and those that reach them; add the rounds."""
    final: BoolArray = alive & (color == np.arange(edges.vertices))
    active, alike = np.ones_like(final), color[edges.sources] == color[edges.targets]
    while active.any():
        sends = alike & (active & final)[edges.targets] & ~final[edges.sources]
        row, active = sent(edges, sends, edges.targets, edges.sources)
        rows.append(row)
        final = final | active
    return final


def _among(layout: EdgeLayout, alive: BoolArray) -> EdgeLayout:
    """Return the edges between remaining vertices, in their partitions."""
    kept = alive[layout.sources] & alive[layout.targets]
    before = np.concatenate(([0], np.cumsum(kept, dtype=np.int64)))
    return EdgeLayout(
        layout.vertices, before[layout.starts], layout.sources[kept], layout.targets[kept]
    )
