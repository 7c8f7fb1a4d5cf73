"""Personalised PageRank: kernel, replica and Spark program beside networkx; samples beside runs."""

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import PersonalisedPageRank
from predict_graph.engines.local import LocalEngine
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from predict_graph.prediction import predict
from tests.predict_graph.builtin.small import edges, networkx_graph


def slow(graph, source, *, damping=0.85, drop=False, threshold, limit):
    """Return ranks and mean changes, vertex by vertex."""
    rank = [0.0] * graph.vertices
    rank[source] = 1.0
    changes = []
    while len(changes) < limit and (not changes or changes[-1] >= threshold):
        before, rank = rank, [0.0] * graph.vertices
        rank[source] = 1.0 - damping
        for v in range(graph.vertices):
            targets = graph.neighbors(v).tolist()
            for w in targets:
                rank[w] += damping * before[v] / len(targets)
            if not targets and not drop:
                rank[source] += damping * before[v]
        pairs = zip(before, rank, strict=True)
        changes.append(sum(abs(old - new) for old, new in pairs) / len(rank))
    return rank, changes


def check(graph, source, *, dangling="source", damping=0.85, **parameters):
    algorithm = PersonalisedPageRank(
        source=source, dangling=dangling, damping=damping, **parameters
    )
    ranks, changes = slow(
        graph,
        source,
        damping=damping,
        drop=dangling == "drop",
        threshold=algorithm.threshold(graph.vertices),
        limit=algorithm.max_iterations,
    )
    profile, *others = (
        LocalEngine(workers=3, threads=each).run(algorithm, graph) for each in (1, 2, 3)
    )
    assert profile.iterations == len(changes)
    assert profile.convergence == pytest.approx(changes, rel=1e-9, abs=1e-15)
    assert profile.values == pytest.approx(ranks, rel=1e-9, abs=1e-15)
    for other in others:
        assert other.values.tobytes() == profile.values.tobytes()
        assert other.convergence.tobytes() == profile.convergence.tobytes()
    steps = profile.per_iteration()
    sent = steps["local_messages"] + steps["remote_messages"]
    assert sent.tolist() == [graph.edges] * len(changes)
    return profile


SMALL = {
    "one vertex": (edges(n=1), 0),
    "loop": (edges((0, 0)), 0),
    "no edges": (edges(n=5), 3),
    "source that dangles": (edges((0, 1), (1, 2), (2, 3)), 3),
    "path": (check_graph("path:n=12", directed=True), 0),
    "cycle": (check_graph("cycle:n=9", directed=True), 4),
    "star": (check_graph("star:n=9", directed=False), 2),
    "scale-free": (check_graph("rmat:scale=7,edge_factor=4,seed=2"), 60),
}


@pytest.mark.parametrize("dangling", ["source", "drop"])
@pytest.mark.parametrize("name", SMALL)
def test_the_kernel_does_what_a_slow_program_does(name, dangling):
    graph, source = SMALL[name]
    check(graph, source, dangling=dangling, epsilon=0.01)


@given(data=st.data(), n=st.integers(1, 20), directed=st.booleans())
def test_ranks_are_those_of_networkx(data, n, directed):
    vertex = st.integers(0, n - 1)
    graph = edges(
        *data.draw(st.lists(st.tuples(vertex, vertex), max_size=60)), n=n, directed=directed
    )
    source, damping = data.draw(vertex), data.draw(st.sampled_from([0.5, 0.85]))
    check(graph, source, damping=damping, epsilon=0.05)
    algorithm = PersonalisedPageRank(source=source, damping=damping, tolerance=1e-14)
    ours = LocalEngine().run(algorithm, graph)
    theirs = nx.pagerank(
        networkx_graph(graph, nx.DiGraph),
        alpha=damping,
        personalization={source: 1.0},
        tol=1e-12,
        max_iter=1_000,
    )
    assert ours.values == pytest.approx([theirs[v] for v in range(n)], abs=1e-8)


def test_the_default_source_has_most_edges():
    graph = edges((3, 0), (3, 1), (2, 0), (2, 4))
    assert LocalEngine().run(PersonalisedPageRank(), graph).values[[2, 3]] == pytest.approx(
        LocalEngine().run(PersonalisedPageRank(source=2), graph).values[[2, 3]]
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"source": "1,2"}, "source is '1,2'; accepted: the id of one vertex"),
        ({"source": ""}, "source is ''; accepted: comma-separated ids of vertices"),
        ({"dangling": "uniform"}, "dangling is 'uniform'; accepted: source, drop"),
        ({"damping": 1.5}, "damping is 1.5; accepted: a number greater than 0 and less than 1"),
        ({"epsilon": 1, "tolerance": 1}, "epsilon and tolerance are both given"),
    ],
)
def test_wrong_parameters_are_refused(given, said):
    with pytest.raises(RequestError, match=said):
        PersonalisedPageRank(**given)


def test_a_source_that_is_not_in_the_graph_is_refused():
    with pytest.raises(RequestError, match="source has 12, which is not a vertex of"):
        predict("personalised-pagerank", "path:n=12", parameters={"source": 12}, history="none")


@pytest.mark.parametrize("source", [None, 17])
def test_samples_know_how_long_a_run_is(source):
    graph = check_graph("rmat:scale=14,edge_factor=6,seed=3")
    algorithm = PersonalisedPageRank(source=source)
    truth = LocalEngine().run(algorithm, graph)
    found = predict(algorithm, graph, method="completion", history="none", seed=1)
    assert found.iterations.low <= truth.iterations <= found.iterations.high
    # Without what the source gets, the curve is that of a walk that has mixed already.
    assert found.iterations.high < 3 * found.iterations.low
