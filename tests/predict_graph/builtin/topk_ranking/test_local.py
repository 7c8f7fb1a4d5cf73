import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import PageRank, TopKRanking
from predict_graph.engines.local import LocalEngine, spreading
from predict_graph.graph import check_graph
from tests.predict_graph.builtin.small import DIRECTED, edges


class Program:
    """PREDIcT, section 4.3, vertex by vertex: lists of (-rank, vertex), best first."""

    def __init__(self, ranks, k):
        self.k = k
        self.lists = [[(-float(rank), v)] for v, rank in enumerate(ranks)]
        self.changed = set(range(len(ranks)))
        self.updated = set()

    def message(self, v):
        return self.lists[v] if v in self.changed else None

    def size(self, message):
        return 8 + 16 * len(message)

    def receive(self, v, messages):
        known = set(self.lists[v]).union(*(heard for _, heard in messages))
        best = sorted(known)[: self.k]
        if best != self.lists[v]:
            self.lists[v] = best
            self.updated.add(v)

    def aggregate(self):
        self.changed, self.updated = self.updated, set()
        return len(self.changed) / len(self.lists)

    def vertices(self):
        return [[v for _, v in best] + [-1] * (self.k - len(best)) for best in self.lists]


def check(held_against, graph, **parameters):
    algorithm = TopKRanking(**parameters)
    profile, program = held_against(
        algorithm, graph, lambda profile: Program(profile.prior.values, algorithm.k)
    )
    assert profile.values.tolist() == program.vertices()
    assert profile.result == {"different_lists": len({tuple(row) for row in program.vertices()})}
    return profile


SMALL = DIRECTED | {
    "small world": check_graph("watts-strogatz:n=50,k=4,p=0.1,seed=1"),
}


@pytest.fixture(params=[0, 16, 10**9], ids=["pushed", "as is", "pulled"])
def way(request, monkeypatch):
    """Let every superstep go the same way, or the kernel choose."""
    monkeypatch.setattr(spreading, "_FEW", request.param)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("name", SMALL)
def test_supersteps_are_those_of_a_bulk_synchronous_system(name, k, held_against):
    check(held_against, SMALL[name], k=k)


@pytest.mark.usefixtures("way")
@given(data=st.data(), n=st.integers(1, 30), k=st.integers(1, 7), directed=st.booleans())
def test_random_graphs_too(data, n, k, directed, held_against):
    vertex = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=80))
    check(
        held_against,
        edges(*pairs, n=n, directed=directed),
        k=k,
        tau=data.draw(st.sampled_from([1e-9, 0.001, 0.3])),
        max_iterations=data.draw(st.sampled_from([1, 2, 500])),
    )


@given(data=st.data(), n=st.integers(1, 25), k=st.integers(1, 6))
def test_at_the_fixed_point_lists_are_the_best_of_all_ancestors(data, n, k):
    vertex = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=60))
    profile = LocalEngine().run(TopKRanking(k=k, tau=1e-9), edges(*pairs, n=n))
    ranks = profile.prior.values
    known = nx.DiGraph()
    known.add_nodes_from(range(n))
    known.add_edges_from(pairs)
    for v in range(n):
        reaching = sorted(nx.ancestors(known, v) | {v}, key=lambda u: (-ranks[u], u))[:k]
        assert profile.values[v].tolist() == reaching + [-1] * (k - len(reaching))


def test_pagerank_runs_first_and_its_time_counts():
    graph = check_graph("rmat:scale=8,edge_factor=8,seed=5")
    algorithm = TopKRanking(k=3, epsilon=0.01, damping=0.7)
    profile = LocalEngine(workers=2).run(algorithm, graph)
    alone = LocalEngine(workers=2).run(PageRank(epsilon=0.01, damping=0.7), graph)
    prior = profile.prior
    assert prior.algorithm == "pagerank"
    assert prior.parameters == alone.parameters
    assert prior.converged
    assert prior.values.tobytes() == alone.values.tobytes()
    assert prior.features_total() == alone.features_total()
    own = profile.iteration_seconds.sum()
    assert own > 0
    assert profile.phases["superstep"] == pytest.approx(own + prior.phases["superstep"])
    assert profile.phases["setup"] > prior.phases["setup"] > 0
    assert profile.phases["read"] == graph.read_seconds
    assert profile.phases["write"] == 0.0
    assert set(profile.table["iteration"]) == set(range(1, profile.iterations + 1))
    shown = profile.to_dict()
    assert shown["prior"]["algorithm"]["name"] == "pagerank"
    assert shown["prior"]["iterations"] == alone.iterations
    assert shown["prior"]["prior"] is None


def test_threshold_limit_and_progress_are_those_of_the_ranking_alone():
    graph = check_graph("rmat:scale=8,edge_factor=8,seed=5")
    heard = []
    profile = LocalEngine().run(
        TopKRanking(),
        graph,
        threshold=0.0,
        max_iterations=2,
        progress=lambda iteration, _: heard.append(iteration),
    )
    assert (profile.iterations, profile.converged) == (2, False)
    assert profile.prior.converged
    assert heard == [1, 2]
