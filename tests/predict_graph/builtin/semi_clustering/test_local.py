import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import SemiClustering
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from tests.predict_graph.builtin.small import BITS, UNDIRECTED, edges, splitmix64

undirected = partial(edges, directed=False)


class Program:
    """PREDIcT, section 4.2, vertex by vertex: semi-clusters are sets, scored from nothing."""

    def __init__(self, graph, parameters):
        n = graph.vertices
        weights = np.ones(graph.edges) if graph.weights is None else graph.weights
        rows = np.repeat(np.arange(n), graph.out_degrees).tolist()
        self.weights = [{} for _ in range(n)]
        for v, w, weight in zip(rows, graph.indices.tolist(), weights.tolist(), strict=True):
            if v != w:
                self.weights[v][w] = weight
        self.parameters = parameters
        self.sent = [[frozenset({v})] for v in range(n)]
        self.lists = [[frozenset({v})] for v in range(n)]
        self.following = list(self.sent)
        self.updated = 0

    def score(self, cluster):
        """Equation 2; 0 for a single vertex."""
        if len(cluster) == 1:
            return 0.0
        inner = boundary = 0.0
        for v in cluster:
            for w, weight in self.weights[v].items():
                if w not in cluster:
                    boundary += weight
                elif v < w:
                    inner += weight
        pairs = len(cluster) * (len(cluster) - 1) / 2
        return (inner - self.parameters["boundary_factor"] * boundary) / pairs

    def best(self, clusters, places):
        def order(cluster):
            return -self.score(cluster), sum(map(splitmix64, cluster)) & BITS

        return sorted(clusters, key=order)[:places]

    def message(self, v):
        return self.sent[v]

    def size(self, message):
        return 8 + sum(24 + 8 * len(cluster) for cluster in message)

    def receive(self, v, messages):
        heard = {cluster for u, message in messages if u != v for cluster in message}
        formed = {
            cluster | {v}
            for cluster in heard
            if v not in cluster and len(cluster) < self.parameters["v_max"]
        }
        if heard:
            self.following[v] = self.best(heard | formed, self.parameters["s_max"])
        own = {cluster for cluster in heard | formed if v in cluster}
        places = self.best(own | set(self.lists[v]), self.parameters["c_max"])
        self.updated += len(set(places) - set(self.lists[v]))
        self.lists[v] = places

    def aggregate(self):
        share = self.updated / sum(map(len, self.lists))
        self.sent, self.following, self.updated = self.following, list(self.following), 0
        return share


def check(held_against, graph, **parameters):
    algorithm = SemiClustering(**parameters)
    profile, program = held_against(
        algorithm, graph, lambda _: Program(graph, algorithm.parameters)
    )
    assert profile.values.shape == (graph.vertices, algorithm.parameters["v_max"])
    for v, members in enumerate(profile.values.tolist()):
        found = [member for member in members if member >= 0]
        assert members == found + [-1] * (len(members) - len(found))
        assert len(set(found)) == len(found)
        assert set(found) == program.lists[v][0]
    clusters = [cluster for places in program.lists for cluster in places]
    scores = [program.score(cluster) for cluster in clusters]
    assert profile.result["best_score"] == max(scores)
    # Among equals it may be any.
    assert profile.result["best_size"] in {
        len(cluster)
        for cluster, score in zip(clusters, scores, strict=True)
        if score == max(scores)
    }
    assert profile.result["mean_score"] == pytest.approx(math.fsum(scores) / len(scores))
    return profile


def clique(*members):
    return [(v, w) for v in members for w in members if v < w]


SMALL = UNDIRECTED | {
    "two cliques and a bridge": undirected(*clique(0, 1, 2, 3), *clique(4, 5, 6, 7), (3, 4)),
    "weights": undirected(
        (0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 4), weights=[4, 0.25, 2, 0.5, 8, 3]
    ),
    "small world": check_graph("watts-strogatz:n=24,k=4,p=0.2,seed=1"),
}
LIMITS = [(1, 1, 10), (1, 1, 2), (2, 3, 4), (4, 2, 3), (5, 5, 6)]


@pytest.mark.parametrize(("c_max", "s_max", "v_max"), LIMITS)
@pytest.mark.parametrize("name", SMALL)
def test_supersteps_are_those_of_a_bulk_synchronous_system(name, c_max, s_max, v_max, held_against):
    check(held_against, SMALL[name], c_max=c_max, s_max=s_max, v_max=v_max, max_iterations=20)


@given(data=st.data(), n=st.integers(1, 14))
def test_random_graphs_too(data, n, held_against):
    vertex = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=40))
    # Sums of quarters are exact, so that equal scores are equal whoever adds them up.
    quarters = st.lists(st.integers(0, 16), min_size=len(pairs), max_size=len(pairs))
    weights = data.draw(st.none() | quarters.map(lambda found: [each / 4 for each in found]))
    check(
        held_against,
        undirected(*pairs, n=n, weights=weights),
        c_max=data.draw(st.integers(1, 4)),
        s_max=data.draw(st.integers(1, 4)),
        v_max=data.draw(st.integers(2, 6)),
        boundary_factor=data.draw(st.sampled_from([0.05, 0.1, 0.5, 0.9])),
        tau=data.draw(st.sampled_from([1e-9, 0.001, 0.2])),
        max_iterations=data.draw(st.sampled_from([1, 2, 12])),
    )


def test_every_vertex_sends_in_every_superstep_and_messages_grow_with_semi_clusters():
    graph = undirected(*clique(0, 1, 2, 3))
    profile = LocalEngine(workers=1).run(SemiClustering(v_max=3), graph, threshold=0.0)
    table = profile.table
    assert (table["active_vertices"] == 4).all()
    assert (table["local_messages"] == graph.edges).all()
    sizes = table["average_message_bytes"].tolist()
    # A receiver and a semi-cluster of one, of two and in the end of three members.
    assert sizes[:2] == [8 + 24 + 8, 8 + 24 + 16]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 8 + 24 + 24
