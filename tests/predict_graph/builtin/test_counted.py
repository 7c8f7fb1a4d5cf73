"""Every replica of an algorithm on a cluster's graph counts what the local kernel counts."""

import numpy as np
import pytest

from predict_graph.algorithms import ALGORITHMS, check_algorithm
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.spark.blocks.on_executors import Block
from predict_graph.engines.spark.blocks.replica import count_run, replica_of
from predict_graph.graph import check_graph
from predict_graph.graph.build import from_edges
from predict_graph.graph.on_cluster import ClusterGraph

CASES = [
    *((name, {}) for name in ALGORITHMS.names() if ALGORITHMS.get(name).counted_by),
    ("k-core", {"k": 3}),
    ("pagerank", {"dangling": "drop"}),
    ("personalised-pagerank", {"source": 5, "dangling": "drop"}),
    ("shortest-paths", {"landmarks": "3,17"}),
    ("topk-ranking", {"k": 2}),
    ("neighborhood", {"registers": 16}),
]


class Packed:
    """Blocks of a graph in this process."""

    def __init__(self, graph, blocks=3):
        reverse = graph.reverse
        reached = np.flatnonzero(np.diff(reverse.indptr))
        self.blocks = []
        for rows in np.array_split(reached, blocks):
            places = [np.arange(reverse.indptr[v], reverse.indptr[v + 1]) for v in rows]
            at = np.concatenate(places)
            starts = np.concatenate(([0], np.cumsum([len(each) for each in places])))
            weights = np.zeros(0, np.float32) if graph.weights is None else reverse.weights[at]
            self.blocks.append(Block(rows, starts, reverse.indices[at], weights))

    def passed(self, function, shared, kinds, *, answer_bytes):
        found = [function(block, shared) for block in self.blocks]
        assert all(values.dtype == np.dtype(kinds[1]) for _, values in found)
        return [(places.astype(kinds[0]), values.ravel()) for places, values in found]


def loopy(directed, weighted):
    """Return a graph with loops, vertices without edges, and two directions."""
    graph = check_graph("rmat:scale=8,edge_factor=6,seed=5", directed=directed)
    rows = np.repeat(np.arange(graph.vertices), graph.out_degrees)
    ends = np.append(rows, [3, 200]), np.append(graph.indices, [3, 200])
    weights = (1 + (ends[0] + ends[1]) % 3).astype(np.float32) if weighted else None
    return from_edges(*ends, vertices=260, weights=weights, directed=directed)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "given"), CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_replica_counts_the_supersteps_of_the_local_kernel(name, given, weighted):
    algorithm = check_algorithm(name, given)
    graph = loopy(not algorithm.undirected, weighted and not algorithm.prior)
    algorithm = algorithm.on(graph)
    truth = LocalEngine(workers=1).run(algorithm, graph)
    known = ClusterGraph(
        *("rmat", "", graph.vertices, graph.edges, graph.directed, weighted, 0.0),
        *(graph.out_degrees, graph.in_degrees, 0.0),
    )
    prior = None
    if algorithm.prior is not None:
        prior = LocalEngine(workers=1).run(algorithm.prior, graph).values
    replica = replica_of(algorithm)(algorithm, known, prior)
    found = count_run(replica, Packed(graph), lambda curve: True, lambda number: None)
    assert found.ended
    assert found.converged == truth.converged
    assert found.curve == pytest.approx(truth.convergence, rel=1e-9)
    rows = truth.per_iteration()
    assert found.counters["active_vertices"].tolist() == rows["active_vertices"].tolist()
    for counter in ("messages", "message_bytes"):
        sent = rows[f"local_{counter}"] + rows[f"remote_{counter}"]
        assert found.counters[counter].tolist() == sent.tolist(), counter
    if name in ("k-core", "connected-components", "label-propagation", "shortest-paths"):
        assert np.array_equal(found.values, truth.values)
    if "pagerank" in name:
        assert found.values == pytest.approx(truth.values, rel=1e-9)
