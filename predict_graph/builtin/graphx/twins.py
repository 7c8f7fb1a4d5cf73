"""What algorithms of GraphX do in each superstep, counted in compiled code: by the same rules.

GraphX's Pregel runs the vertex program on those that got a message, and lets edges make messages
where an end did: either one, or the source (``activeDirection``). Messages to a vertex are
combined in each partition of the edges, and then from all partitions.

References
----------
.. [1] J. Gonzalez et al.: GraphX: Graph Processing in a Distributed Dataflow Framework, OSDI 2014,
   sections 3 and 4.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pandas as pd

from predict_graph.builtin.graphx.definition import (
    GraphXConnectedComponents,
    GraphXLabelPropagation,
    GraphXPageRank,
    GraphXPersonalizedPageRank,
    GraphXShortestPaths,
)
from predict_graph.builtin.graphx.label_maps import first, first_older
from predict_graph.builtin.graphx.rounds import Rounds
from predict_graph.engines.spark.library.exchange import (
    Exchange,
    Exchanges,
    Maps,
    MapsOf,
    Twin,
    Values,
)
from predict_graph.engines.spark.library.layout import EdgeLayout
from predict_graph.engines.spark.session.graphframes import scala_line

__all__ = ["components", "labels", "pagerank", "paths", "personalized", "propagated"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
Hops = npt.NDArray[np.int32]

_MOST = 2**31  # by definition: no limit, as GraphX's Int.MaxValue
_FAR = np.iinfo(np.int32).max
_MOST_LANDMARKS = 8  # of which what is exchanged is kept; a choice: memory
_NOTHING = np.empty(0)
_OF_RANKS = 5  # supersteps, after which ranks are as different as they will be; judgement


def pagerank(algorithm: GraphXPageRank, layout: EdgeLayout) -> Twin:
    """Count ``PageRank``: all edges each round, or those of vertices whose rank rose by `tol`."""
    n, given = layout.vertices, algorithm.parameters
    reset = float(str(given["resetProb"]))
    if given["numIter"] is None:
        # The message that all get first gives each vertex the rank, and the change, resetProb.
        first = np.full(n, (1.0 - reset) * (reset / (1.0 - reset)))
        return _until(layout, first, reset, float(str(given["tol"])))
    rounds, everyone = Rounds(layout.copies(sources_only=True)), np.ones(n, np.bool_)
    rank, degrees = np.ones(n), _degrees(layout)
    count = int(given["numIter"])
    for _ in range(min(count, _OF_RANKS)):
        counts, sums, received = _ranks(*_edges(layout), rank, everyone, -1.0, degrees)
        following = reset + (1.0 - reset) * sums
        told = partial(_told_ranks, rank, everyone, -1.0, degrees)
        exchange = Exchange(told, received, following != rank, following, everyone)
        rounds.add(counts, received, everyone, exchange)
        rank = following
    for _ in range(_OF_RANKS, count):  # as many are sent each time
        rounds.add(counts, received, everyone)
    return Twin(rounds.table(), _by_rounds(rounds, np.ones(n), degrees))


def personalized(algorithm: GraphXPersonalizedPageRank, layout: EdgeLayout) -> Twin:
    """Count ``PageRank`` from one vertex: only that one has a rank to begin with.

    By rounds, all edges send, if only zeros; what is shipped are ranks that changed.
    """
    n, given, (source,) = layout.vertices, algorithm.parameters, algorithm.at
    reset, degrees = float(str(given["resetProb"])), _degrees(layout)
    rank = np.zeros(n)
    rank[source] = 1.0
    if given["numIter"] is None:
        return _until(layout, rank, reset, float(str(given["tol"])))
    rounds, everyone = Rounds(layout.copies(sources_only=True)), np.ones(n, np.bool_)
    starting = np.zeros(n)
    starting[source] = reset
    for _ in range(int(given["numIter"])):
        counts, sums, received = _ranks(*_edges(layout), rank, everyone, -1.0, degrees)
        told = partial(_told_ranks, rank, everyone, -1.0, degrees)
        before, rank = rank, starting + (1.0 - reset) * sums
        changed = rank != before
        rounds.add(counts, received, changed, Exchange(told, received, changed, rank))
    beginning = np.zeros(n)
    beginning[source] = 1.0
    return Twin(rounds.table(), _by_rounds(rounds, beginning, degrees))


def _by_rounds(rounds: Rounds, first: FloatArray, degrees: FloatArray) -> Exchanges:
    """Return what a loop of ranks exchanges, which edges get from the vertices that they leave.

    First, degrees go along, and ranks twice: for the messages, and for what comes after them.
    """
    return Exchanges(
        rounds.kept,
        pregel=False,
        both_ends=False,
        counted_ends=False,
        degrees=_told_degrees,
        first=(degrees.astype(np.int32), first, first),
    )


def _until(layout: EdgeLayout, first: FloatArray, reset: float, tol: float) -> Twin:
    """Count rounds in which vertices send whose rank rose by more than `tol`: by `first`, first."""
    rounds, degrees = Rounds(layout.copies(sources_only=True)), _degrees(layout)
    rank, delta, active = first, first, np.ones(layout.vertices, np.bool_)
    while True:
        counts, sums, received = _ranks(*_edges(layout), delta, active, tol, degrees)
        following = np.where(received, rank + (1.0 - reset) * sums, rank)
        told = partial(_told_ranks, delta, active, tol, degrees)
        delta = np.where(received, following - rank, delta)
        after = np.column_stack((following, delta)) if rounds.keeps else _NOTHING
        if not rounds.add(counts, received, None, Exchange(told, received, received, after)):
            break
        rank, active = following, received
    beginning = np.column_stack((first, first))
    exchanges = Exchanges(
        rounds.kept,
        pregel=True,
        both_ends=True,
        counted_ends=False,
        degrees=_told_degrees,
        first=(degrees.astype(np.int32), beginning),
        second=(beginning,),
    )
    return Twin(rounds.table(), exchanges)


def _told_ranks(
    delta: FloatArray, active: BoolArray, tol: float, degrees: FloatArray, edges: EdgeLayout
) -> tuple[FloatArray, BoolArray]:
    _, sums, received = _ranks(*_edges(edges), delta, active, tol, degrees)
    return sums, received


def _told_degrees(edges: EdgeLayout) -> tuple[npt.NDArray[np.int32], BoolArray]:
    degrees = np.bincount(edges.sources, minlength=edges.vertices).astype(np.int32)
    return degrees, degrees > 0


def _degrees(layout: EdgeLayout) -> FloatArray:
    return np.bincount(layout.sources, minlength=layout.vertices).astype(np.float64)


def _edges(layout: EdgeLayout) -> tuple[IntArray, IntArray, IntArray]:
    return layout.starts, layout.sources, layout.targets


def components(algorithm: GraphXConnectedComponents, layout: EdgeLayout) -> Twin:
    """Count ``ConnectedComponents``: the smaller label of an edge goes to its other end."""
    n, rounds = layout.vertices, Rounds(layout.copies())
    most = algorithm.parameters["maxIterations"]
    own, active = np.arange(n, dtype=np.int64), np.ones(n, np.bool_)
    label = own
    for _ in range((_MOST if most is None else int(most)) + 1):
        counts, lowest, received = _smaller(
            layout.starts, layout.sources, layout.targets, label, active
        )
        following = np.minimum(label, lowest)
        told = partial(_told_labels, label, active)
        if not rounds.add(counts, received, None, Exchange(told, received, received, following)):
            break
        label, active = following, received
    return Twin(rounds.table(), _by_pregel(rounds, own))


def _by_pregel(rounds: Rounds, first: Values, *, maps: bool = False) -> Exchanges:
    """Return what Pregel exchanges: all vertices first, as they are then, and once more."""
    return Exchanges(
        rounds.kept,
        pregel=True,
        both_ends=True,
        counted_ends=True,
        maps=maps,
        first=(first,),
        second=(first,),
    )


def _told_labels(
    label: IntArray, active: BoolArray, edges: EdgeLayout
) -> tuple[IntArray, BoolArray]:
    _, lowest, received = _smaller(*_edges(edges), label, active)
    return lowest, received


def labels(algorithm: GraphXLabelPropagation, layout: EdgeLayout) -> Twin:
    """Count ``LabelPropagation``: maps of labels along all edges, both ways."""
    rounds, _ = _propagated(layout, int(algorithm.parameters["maxSteps"]))  # type: ignore[arg-type]
    own = np.arange(layout.vertices, dtype=np.int64)
    return Twin(rounds.table(), _by_pregel(rounds, own, maps=True))


def propagated(layout: EdgeLayout, steps: int) -> tuple[pd.DataFrame, IntArray]:
    """Return the rows of label propagation, and the labels after so many steps."""
    rounds, label = _propagated(layout, steps)
    return rounds.table(), label


def _propagated(layout: EdgeLayout, steps: int) -> tuple[Rounds, IntArray]:
    """Return what label propagation does, and the labels after so many steps.

    What is sent after the last one is not looked at by anybody, but it is sent.
    """
    n, rounds = layout.vertices, Rounds(layout.copies())
    groups, older = _inboxes(layout), scala_line() == "2.12"
    following = np.arange(n, dtype=np.int64)
    received = np.zeros(n, np.bool_)
    received[groups[2]] = True
    for _ in range(steps + 1):
        label = following
        counts, following = _votes(*groups, label, int(received.sum()), older)
        told = partial(_told_votes, label)
        # Those whose label stays are not sent, but counted.
        exchange = Exchange(told, received, following != label, following, received)
        if not rounds.add(counts, received, None, None if older else exchange):
            break
    return rounds, label


def _told_votes(label: IntArray, edges: EdgeLayout) -> tuple[MapsOf, BoolArray]:
    groups = _inboxes(edges)
    received = np.zeros(edges.vertices, np.bool_)
    received[groups[2]] = True

    def of(ids: IntArray) -> Maps:
        at = np.searchsorted(groups[2], ids)
        alone = np.diff(groups[0])[at] == 1
        firsts, keys, values = _tallied(groups[0], groups[1], at, label)
        return Maps(firsts, keys, values, alone)

    return MapsOf(of), received


def paths(algorithm: GraphXShortestPaths, layout: EdgeLayout) -> Twin:
    """Count ``ShortestPaths``: a map of landmarks goes against an edge where it tells news."""
    n, rounds, landmarks = layout.vertices, Rounds(layout.copies()), list(algorithm.at)
    hops = np.full((n, len(landmarks)), _FAR, np.int32)
    hops[landmarks, np.arange(len(landmarks))] = 0
    active = np.ones(n, np.bool_)
    at = np.array(landmarks, np.int64)
    beginning, known = _hops(at, hops), len(at) <= _MOST_LANDMARKS and scala_line() != "2.12"
    while True:
        counts, nearer, received = _news(
            layout.starts, layout.sources, layout.targets, hops, active
        )
        told = partial(_told_hops, at, hops, active)
        hops = np.minimum(hops, nearer)
        exchange = Exchange(told, received, received, _hops(at, hops))
        if not rounds.add(counts, received, None, exchange if known else None):
            return Twin(rounds.table(), _by_pregel(rounds, beginning, maps=True))
        active = received


def _told_hops(
    landmarks: IntArray, hops: Hops, active: BoolArray, edges: EdgeLayout
) -> tuple[MapsOf, BoolArray]:
    _, nearer, received = _news(*_edges(edges), hops, active)
    return _hops(landmarks, nearer), received


def _hops(landmarks: IntArray, hops: Hops) -> MapsOf:
    """Return maps of the hops that are known."""

    def of(ids: IntArray) -> Maps:
        own = hops[ids]
        there = own != _FAR
        starts = np.concatenate(([0], np.cumsum(there.sum(axis=1)))).astype(np.int64)
        return Maps(starts, np.broadcast_to(landmarks, own.shape)[there], own[there])

    return MapsOf(of)


@numba.njit(cache=True, nogil=True)
def _ranks(
    starts: Any, sources: Any, targets: Any, delta: Any, active: Any, tol: float, degrees: Any
) -> Any:
    n = len(delta)
    sums, received, sent = np.zeros(n), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    seen = np.full(n, -1, np.int64)
    senders = messages = records = 0
    for p in range(len(starts) - 1):
        for e in range(starts[p], starts[p + 1]):
            v, w = sources[e], targets[e]
            if not active[v] or delta[v] <= tol:
                continue
            messages += 1
            sums[w] += delta[v] * (1.0 / degrees[v])
            received[w] = True
            if not sent[v]:
                sent[v] = True
                senders += 1
            if seen[w] != p:
                seen[w] = p
                records += 1
    return (senders, messages, records, records, messages), sums, received


@numba.njit(cache=True, nogil=True)
def _smaller(starts: Any, sources: Any, targets: Any, label: Any, active: Any) -> Any:
    n = len(label)
    lowest, received, sent = label.copy(), np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    seen = np.full(n, -1, np.int64)
    senders = messages = records = 0
    for p in range(len(starts) - 1):
        for e in range(starts[p], starts[p + 1]):
            v, w = sources[e], targets[e]
            if not (active[v] or active[w]) or label[v] == label[w]:
                continue
            if label[v] > label[w]:
                v, w = w, v
            messages += 1
            lowest[w] = min(lowest[w], label[v])
            received[w] = True
            if not sent[v]:
                sent[v] = True
                senders += 1
            if seen[w] != p:
                seen[w] = p
                records += 1
    return (senders, messages, records, records, messages), lowest, received


@numba.njit(cache=True, nogil=True)
def _news(starts: Any, sources: Any, targets: Any, hops: Any, active: Any) -> Any:
    n, count = hops.shape
    nearer = np.full_like(hops, _FAR)
    received, sent = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    seen = np.full(n, -1, np.int64)
    held = np.full((n, count), -1, np.int64)  # the partition whose record for a vertex has it
    sizes = np.zeros(n, np.int64)
    senders = messages = records = entries = merged = 0
    for p in range(len(starts) - 1):
        for e in range(starts[p], starts[p + 1]):
            v, w = sources[e], targets[e]
            if not (active[v] or active[w]):
                continue
            news = False
            for k in range(count):
                if hops[w, k] != _FAR and hops[w, k] + 1 < hops[v, k]:
                    news = True
            if not news:
                continue
            messages += 1
            received[v] = True
            if not sent[w]:
                sent[w] = True
                senders += 1
            if seen[v] != p:
                seen[v] = p
                sizes[v] = 0
                records += 1
            for k in range(count):
                if hops[w, k] == _FAR:
                    continue
                nearer[v, k] = min(nearer[v, k], hops[w, k] + 1)
                if held[v, k] != p:
                    held[v, k] = p
                    sizes[v] += 1
                    entries += 1
            merged += sizes[v]
    return (senders, messages, records, entries, merged), nearer, received


def _inboxes(layout: EdgeLayout) -> tuple[IntArray, IntArray, IntArray]:
    """Return who sends to whom in each partition, both ways along edges.

    Returns
    -------
    starts : ndarray of int64, shape (groups + 1,)
        Where each group of senders begins: of one receiver, in one partition.
    senders : ndarray of int64
    receivers : ndarray of int64, shape (groups,)
        Ascending; the groups of one receiver lie together, in the order of the partitions.
    """
    parts = np.repeat(np.arange(layout.partitions), np.diff(layout.starts))
    # An edge first tells its source, then its target.
    receivers = np.column_stack((layout.sources, layout.targets)).ravel()
    senders = np.column_stack((layout.targets, layout.sources)).ravel()
    key = receivers * layout.partitions + np.repeat(parts, 2)
    order = np.argsort(key, kind="stable")
    key, senders = key[order], senders[order]
    firsts = np.flatnonzero(np.diff(key, prepend=-1))
    starts = np.append(firsts, len(key)).astype(np.int64)
    return starts, senders, key[firsts] // layout.partitions


@numba.njit(cache=True, nogil=True)
def _tallied(starts: Any, senders: Any, at: Any, label: Any) -> Any:
    """Return the labels that some groups have, and how many of each."""
    n, total = len(label), 0
    for g in at:
        total += starts[g + 1] - starts[g]
    firsts, count = np.zeros(len(at) + 1, np.int64), 0
    keys, values = np.empty(total, np.int64), np.empty(total, np.int64)
    seen, place = np.full(n, -1, np.int64), np.empty(n, np.int64)
    for k in range(len(at)):
        for i in range(starts[at[k]], starts[at[k] + 1]):
            found = label[senders[i]]
            if seen[found] != k:
                seen[found] = k
                place[found] = count
                keys[count], values[count] = found, 0
                count += 1
            values[place[found]] += 1
        firsts[k + 1] = count
    return firsts, keys[:count], values[:count]


@numba.njit(cache=True, nogil=True)
def _votes(starts: Any, senders: Any, receivers: Any, label: Any, active: int, older: bool) -> Any:
    """Count maps of labels, and return the labels that win.

    Of labels with as many votes GraphX takes the first in the order of the map that the messages
    were combined to, which is another one in the `older` Scala.
    """
    n = len(label)
    following = label.copy()
    in_group, in_inbox = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    votes, touched = np.zeros(n, np.int64), np.zeros(n, np.int64)
    records = entries = merged = 0
    g = 0
    while g < len(receivers):
        w, distinct, inbox, groups = receivers[g], 0, 0, 0
        while g < len(receivers) and receivers[g] == w:
            size = 0
            for i in range(starts[g], starts[g + 1]):
                found = label[senders[i]]
                if in_group[found] != g:
                    in_group[found] = g
                    size += 1
                if in_inbox[found] != w:
                    in_inbox[found] = w
                    votes[found] = 0
                    touched[distinct] = found
                    distinct += 1
                votes[found] += 1
                merged += size
            inbox += starts[g + 1] - starts[g]
            entries += size
            records += 1
            groups += 1
            if groups > 1:
                merged += distinct
            g += 1
        if older:
            following[w] = first_older(touched, distinct, votes)
        else:
            following[w] = first(touched, distinct, votes)
    return (active, len(senders), records, entries, merged), following
