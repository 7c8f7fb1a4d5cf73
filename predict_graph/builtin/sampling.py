"""How each algorithm is sampled: curves on completed samples, and recipes of rooted samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csgraph

from predict_graph.algorithms import Algorithm
from predict_graph.arrays import FloatArray, IndexArray, IntArray
from predict_graph.builtin.k_core.kernel import KCoreKernel
from predict_graph.builtin.k_core.peeling import supersteps_by_peeling
from predict_graph.builtin.label_propagation.kernel import vote
from predict_graph.builtin.neighborhood.arrivals import largest_hashes, supersteps_by_arrivals
from predict_graph.builtin.pagerank.definition import PageRank
from predict_graph.builtin.personalised_pagerank.definition import PersonalisedPageRank
from predict_graph.builtin.triangle_count.kernel import TriangleCountKernel
from predict_graph.graph.csr import Graph, edges_of, inbound_rows, inbound_shares
from predict_graph.iterations.completion.completed import CompletedSample
from predict_graph.iterations.rooted import sample as rooted
from samplers.search import largest

# Of log(predicted / true) on five graphs in which the root is on no cycle: of the many lists that
# then stay different, a sample shows few.
_ACYCLIC_STD = 0.4
_MOST_ROOTS = 5  # landmarks or highest ranks with a tree: limits overhead


def pagerank_curve(algorithm: PageRank, sample: CompletedSample, threshold: float) -> FloatArray:
    """Return the mean change of rank per vertex after each iteration, for the whole graph.

    Equation 1 of PREDIcT (section 3.1), with each sampled vertex counted as often as the number of
    vertices that it represents. A source of restarts is in the sample if it is a hub. Otherwise a
    vertex with about as many out-edges represents it, and all vertices that this one represents
    share the rank of the source.
    """
    damping, weights = algorithm.damping, sample.weights
    base = np.full(len(weights), 1.0 / weights.sum())
    if isinstance(algorithm, PersonalisedPageRank):
        place = _place_of_source(algorithm, sample)
        base = np.zeros(len(weights))
        base[place] = 1.0 / weights[place]
    leaking = np.where(sample.dangling, weights, 0.0)
    rank, curve = base, []
    for _ in range(algorithm.max_iterations):
        restarts = 1.0 - damping
        if algorithm.spread_dangling:
            restarts += damping * float((leaking * rank).sum())
        updated = damping * (sample.operator @ rank) + restarts * base
        # Not a dot product: a threaded one is slow on short vectors, and its rounding may vary.
        curve.append(float((weights * np.abs(updated - rank)).sum()) / float(weights.sum()))
        rank = updated
        if curve[-1] < threshold:
            break
    return np.array(curve)


def _place_of_source(algorithm: PersonalisedPageRank, sample: CompletedSample) -> int:
    """Return the vertex of a sample that is the source or represents it."""
    degrees = sample.graph.out_degrees
    source = int(algorithm.vertices_in(degrees)[0])
    at = np.flatnonzero(sample.vertices == source)
    if len(at):
        return int(at[0])
    distance = np.abs(np.log1p(degrees[sample.vertices]) - np.log1p(degrees[source]))
    return int(np.lexsort((sample.weights, distance))[0])


def components_recipe(algorithm: Algorithm, graph: Graph) -> rooted.Recipe:
    """Return samples rooted in the smallest id of each component, where labels start.

    The iterations are exact: the last label arrives by the longest of the shortest paths.
    """
    tree = rooted.component_trees(graph)
    return replace(rooted.by_trees(graph, [tree]), fewest=_supersteps_along([tree]), exact=True)


def _supersteps_along(trees: list[rooted.HopTree]) -> int:
    """Return the supersteps in which values cross trees, and the one in which nothing changes."""
    return 1 + max(int(tree.distance.max()) for tree in trees)


def counters_recipe(algorithm: Any, graph: Graph) -> rooted.Recipe:
    """Return samples rooted in the middle, and the iterations by the largest hashes.

    They are an estimate from below, and exact where few counters of an undirected graph change
    after them. The largest hashes show late supersteps alone: not those in which more than 2% of
    the counters change.
    """
    trees = rooted.middle_trees(graph)
    if algorithm.threshold(graph.vertices) > 0.02:
        return rooted.by_trees(graph, trees)
    if graph.directed:  # what reaches a root reaches all that this reaches
        reaching = [tree.reached.astype(np.int64) - 1 for tree in trees[1::2]]
        marks = np.bitwise_or.reduce([largest_hashes(a, algorithm.registers) for a in reaching])
        recipe = rooted.by_trees(graph, trees, np.flatnonzero(marks.any(axis=1)))
        return replace(recipe, fewest=supersteps_by_arrivals(algorithm, graph, marks)[0])
    labels = _components(graph, trees[:2])
    marks = largest_hashes(labels, algorithm.registers)
    found, exact = supersteps_by_arrivals(algorithm, graph, marks, labels)
    return replace(rooted.by_trees(graph, trees), fewest=found, exact=exact)


def _components(graph: Graph, trees: list[rooted.HopTree]) -> IntArray:
    """Return the component of each vertex of an undirected graph; -1 where it has no edges.

    Trees of hubs show those of most vertices.
    """
    labels = np.full(graph.vertices, -1)
    for number, tree in enumerate(trees):
        labels[tree.reached & (labels < 0)] = number
    others = np.flatnonzero((labels < 0) & (graph.out_degrees > 0))
    if len(others):  # small ones
        parts = csgraph.connected_components(graph.subgraph(others).to_scipy())[1]
        labels[others] = len(trees) + parts
    return labels


def paths_recipe(algorithm: Any, graph: Graph) -> rooted.Recipe:
    """Return samples rooted in the landmarks, with the vertices that are farthest from each.

    The iterations are exact, or of many landmarks an estimate from below: the first ones and the
    middle of the graph have trees then.
    """
    landmarks = algorithm.vertices_in(graph.out_degrees)
    trees = [rooted.hop_tree(graph, int(root)) for root in np.unique(landmarks[:_MOST_ROOTS])]
    tails = [rooted.deepest(graph, tree) for tree in trees[1:]]
    found, few = _supersteps_along(trees), len(landmarks) <= _MOST_ROOTS
    trees += [] if few else rooted.middle_trees(graph)
    return replace(rooted.by_trees(graph, trees, *tails, landmarks), fewest=found, exact=few)


def lists_recipe(algorithm: Any, graph: Graph) -> rooted.Recipe:
    """Return samples rooted in the highest ranks, with ranks of the sampled vertices.

    Ranks of the whole graph are unknown before PageRank has run on it. Two of its iterations
    approximate the highest ones: one pass over the graph, and the inbound edges of the sampled
    vertices.
    """
    prior, damping = algorithm.prior, algorithm.prior.damping
    first = (1.0 - damping + damping * inbound_shares(graph)[:, 0]) / graph.vertices
    top = largest(first, max(10 * algorithm.k, 50))  # many more candidates than k
    second = next_ranks(graph, prior, first, top)
    best = top[np.argsort(-second, kind="stable")]
    trees = [rooted.hop_tree(graph, int(root)) for root in best[: min(algorithm.k, _MOST_ROOTS)]]
    middle = rooted.middle_trees(graph)
    acyclic = graph.directed and np.count_nonzero(middle[0].reached & middle[1].reached) == 1
    return replace(
        rooted.by_trees(graph, trees + middle, top),
        inputs=lambda sample: next_ranks(graph, prior, first, sample.vertices),
        std=_ACYCLIC_STD if acyclic else 0.0,
    )


def next_ranks(
    graph: Graph, algorithm: PageRank, ranks: FloatArray, vertices: IndexArray
) -> FloatArray:
    """Return the rank of some vertices after one more iteration; it reads their inbound edges."""
    offers = algorithm.damping * ranks / np.maximum(graph.out_degrees, 1)
    starts, sources = inbound_rows(graph, vertices)
    receivers = np.repeat(np.arange(len(vertices)), np.diff(starts))
    received: Any = np.bincount(receivers, offers[sources], len(vertices))
    return np.asarray((1.0 - algorithm.damping) / graph.vertices + received)


def clusters_recipe(algorithm: Any, graph: Graph) -> rooted.Recipe:
    """Return samples of the surroundings of small vertices, where semi-clusters start.

    The score of two joined vertices is positive only if they have few other edges (equation 2), so
    the best semi-clusters, which spread over the whole graph, start at the edges between the
    smallest vertices. Those are in every sample.
    """
    factor = float(algorithm.parameters["boundary_factor"])
    small = int(3.0 / factor)
    seeds = _smallest_pairs(graph, most_edges=2.0 + 1.0 / factor)
    around = rooted.small_neighbours(graph, seeds, 2 * small)
    return rooted.by_trees(graph, rooted.middle_trees(graph), seeds, around, near=small)


def _smallest_pairs(graph: Graph, most_edges: float, share: float = 0.005) -> IndexArray:
    """Return the vertices with an edge whose ends have few edges together.

    All with less than `most_edges`, if those are few; otherwise a share of all vertices.
    """
    degrees, most = graph.out_degrees, 2 * graph.edges  # more than any neighbour has
    low = np.flatnonzero(degrees <= max(degrees[degrees > 0].min(initial=most), most_edges))
    lengths, places = edges_of(graph.indptr, low)
    owners, near = np.repeat(np.arange(len(low)), lengths), graph.indices[places]
    smallest, others = np.full(len(low), most), near != low[owners]
    np.minimum.at(smallest, owners[others], degrees[near[others]])
    together = degrees[low] + smallest
    order = low[np.argsort(together, kind="stable")]
    able = int(np.count_nonzero(together < most_edges))
    if able > 10.0 * share * graph.vertices:
        able = int(share * graph.vertices)
    return order[: max(able, 1)]


def labels_recipe(
    algorithm: Any, graph: Graph, *, near: int = 30, level_std: float = 0.45
) -> rooted.Recipe:
    """Return samples whose vertices have all their edges, and the labels after one superstep.

    A label is the majority of the neighbours, so an edge to a vertex outside the sample leads to a
    substitute of about the same degree and with the same label after the first superstep. Those
    labels are known exactly before any run: all ids differ, so each vertex takes its smallest
    neighbour (on weighted graphs, the heaviest). They separate early communities, and the leaves of
    one hub from those of another, where labels alternate forever.

    Small vertices echo: a leaf, or a pair, returns the label that it received. A substitute cannot
    do that, so small neighbours of small vertices, with at most `near` edges, are included in the
    sample with weight 0: with 10, echoes were missing on p2p-Gnutella31.

    `level_std` is that of the logarithm of the share that changes in the sample over that in the
    graph, calibrated on soc-Epinions1, email-Enron, musae_git, p2p-Gnutella31, uk-2007-05@100000
    and rmat:scale=16 with eight values of tau each.
    """
    labels = _first_labels(graph)
    order = np.lexsort((graph.out_degrees, labels, graph.out_degrees > 0))
    sampler = rooted.RepresentedSampler(graph, order, near)
    return rooted.Recipe(sampler, lambda sample: labels[sample.vertices], level_std=level_std)


def _first_labels(graph: Graph) -> IndexArray:
    """Return the labels after the first superstep: the smallest, or heaviest, neighbours."""
    labels = np.arange(graph.vertices, dtype=graph.indices.dtype)
    if graph.weights is None and graph.ascending:
        some = graph.out_degrees > 0
        labels[some] = graph.indices[graph.indptr[:-1][some]]
        return labels
    weights = np.empty(0, np.float32) if graph.weights is None else graph.weights
    heard = np.zeros(graph.vertices, np.int32)
    rows = (graph.indptr, graph.indices, weights)
    vote(0, graph.vertices, rows, (labels.copy(), labels, heard))
    return labels


def cores_recipe(algorithm: Any, graph: Graph) -> rooted.Recipe:
    """Return samples whose vertices have all their edges, and the exact iterations by peeling.

    An estimate depends on the estimates of enough neighbours, so an edge to a vertex outside the
    sample leads to a substitute with the same estimate after the first superstep and about the same
    degree. A sample cannot show how a run ends: estimates of a few vertices keep decreasing along
    some chain, long after all others have settled.
    """
    kernel = KCoreKernel(algorithm, graph)
    kernel.step()
    order = np.lexsort((graph.out_degrees, kernel.values, graph.out_degrees > 0))
    found = supersteps_by_peeling(graph)
    return rooted.Recipe(rooted.RepresentedSampler(graph, order), fewest=found, exact=True)


def triangles_recipe(algorithm: Any, graph: Graph) -> rooted.Recipe:
    """Return samples whose vertices have all their edges.

    The iterations are fixed. Messages and look-ups depend on the degrees of vertices and of their
    neighbours, so an edge to a vertex outside the sample leads to a substitute of about the same
    degree and with about as many neighbours above it. Which triangles exist does not matter.
    """
    kernel = TriangleCountKernel(algorithm, graph)
    kernel.step()
    order = np.lexsort((kernel.counts, graph.out_degrees))
    return rooted.Recipe(rooted.RepresentedSampler(graph, order))
