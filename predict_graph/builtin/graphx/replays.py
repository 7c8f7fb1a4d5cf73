"""Compiled local replays of GraphX algorithms.

GraphX's Pregel runs the vertex program on vertices that received a message, and lets edges send
where either end, or the source, received one (``activeDirection``). Messages to a vertex are
combined in each partition of the edges, and then over all partitions.

References
----------
.. [1] J. Gonzalez et al.: GraphX: Graph Processing in a Distributed Dataflow Framework, OSDI 2014,
   sections 3 and 4.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pandas as pd

from predict_graph.arrays import BoolArray, FloatArray, IntArray
from predict_graph.builtin.graphx.definition import (
    GraphXConnectedComponents,
    GraphXLabelPropagation,
    GraphXPageRank,
    GraphXPersonalizedPageRank,
    GraphXShortestPaths,
)
from predict_graph.builtin.graphx.rounds import sent, table_of
from predict_graph.builtin.label_propagation.local import vote
from predict_graph.engines.spark.library.layout import EdgeLayout

_FAR = np.iinfo(np.int32).max


def pagerank(algorithm: GraphXPageRank, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``PageRank``: all edges each round, or those of vertices whose rank increased by
    `tol`.
    """
    # The initial message to all vertices sets rank and change from resetProb.
    reset = float(str(algorithm.parameters["resetProb"]))
    first = np.full(layout.vertices, (1.0 - reset) * (reset / (1.0 - reset)))
    return _ranks(algorithm, layout, first)


def personalized(algorithm: GraphXPersonalizedPageRank, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``PageRank`` from one vertex, which alone has an initial rank.

    By rounds, all edges send, even if only zeros.
    """
    first = np.zeros(layout.vertices)
    first[list(algorithm.at)] = 1.0
    return _ranks(algorithm, layout, first)


def _ranks(algorithm: GraphXPageRank, layout: EdgeLayout, rank: FloatArray) -> pd.DataFrame:
    """Count rounds of all edges, or of vertices whose rank increased by more than `tol`."""
    given: Any = algorithm.parameters
    every = np.ones(len(layout.sources), np.bool_)
    if given["numIter"] is not None:
        row, _ = sent(layout, every, layout.sources, layout.targets)
        return table_of([row] * int(given["numIter"]))
    rows, delta, active = [], rank, np.ones(layout.vertices, np.bool_)
    while True:
        sends = (active & (delta > given["tol"]))[layout.sources]
        row, active = sent(layout, sends, layout.sources, layout.targets)
        rows.append(row)
        if not active.any():
            return table_of(rows)
        sums = _sums(layout, sends, delta)
        following = np.where(active, rank + (1.0 - given["resetProb"]) * sums, rank)
        delta = np.where(active, following - rank, delta)
        rank = following


def _sums(layout: EdgeLayout, sends: BoolArray, delta: FloatArray) -> FloatArray:
    """Return the sum of the shares of rank that each vertex receives along some edges."""
    n = layout.vertices
    shares = delta * (1.0 / np.maximum(np.bincount(layout.sources, minlength=n), 1))
    sums = np.bincount(layout.targets[sends], shares[layout.sources[sends]], n)
    return sums.astype(np.float64)


def components(algorithm: GraphXConnectedComponents, layout: EdgeLayout) -> pd.DataFrame:
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


def labels(algorithm: GraphXLabelPropagation, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``LabelPropagation``: maps of labels along all edges, in both directions.

    Messages after the last step are sent although nothing reads them. Combining is taken to visit
    the labels of a map that are new first, and of several labels with most votes the smallest wins.
    """
    starts, senders, receivers = _inboxes(layout)
    n, none, rows = layout.vertices, np.empty(0, np.float32), []
    maps = np.searchsorted(receivers, np.arange(n + 1))  # those that go to each vertex
    label, entries = np.arange(n), np.ones(len(receivers), np.int32)
    known, sent = np.ones(n, np.int32), np.diff(starts)
    received = int(np.count_nonzero(np.diff(maps)))
    later = np.maximum(np.diff(maps) - 1, 0)
    steps: Any = algorithm.parameters["maxSteps"]
    for _ in range(int(steps) + 1 if received else 1):
        winners, ignored = label.copy(), np.empty_like(receivers)
        vote(0, len(receivers), starts, senders, none, label, ignored, entries)
        vote(0, n, starts[maps], senders, none, label, winners, known)
        merged = int((entries * sent - entries * (entries - 1) // 2).sum() + (later * known).sum())
        rows.append((received, len(senders), len(receivers), int(entries.sum()), merged, received))
        label = winners
    return table_of(rows)


def paths(algorithm: GraphXShortestPaths, layout: EdgeLayout) -> pd.DataFrame:
    """Count ``ShortestPaths``: a map of landmarks goes against an edge where it has shorter
    paths.

    Combining is taken to visit the entries of the message alone.
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
        rows.append((*row[:3], entries, int(known.sum()), row[-1]))
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
