"""Label propagation: kernel and Spark program beside a slow program, samples beside whole runs."""

from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import LabelPropagation, check_algorithm
from predict_graph.builtin import sampling
from predict_graph.builtin.label_propagation import local
from predict_graph.engines.local import LocalEngine
from predict_graph.engines.local.blocks import row_blocks
from predict_graph.engines.local.kernel import Weighting
from predict_graph.errors import RequestError
from predict_graph.graph import check_graph
from predict_graph.graph.build import from_edges
from predict_graph.prediction import predict
from tests.predict_graph.builtin.small import UNDIRECTED, edges

undirected = partial(edges, directed=False)


def slow(graph, tau, limit):
    """Return labels and the share of labels that changed after each superstep, vertex by vertex."""
    labels, shares = list(range(graph.vertices)), []
    while len(shares) < limit and (not shares or shares[-1] >= tau):
        before = list(labels)
        for v in range(graph.vertices):
            votes = Counter()
            row = slice(graph.indptr[v], graph.indptr[v + 1])
            weights = np.ones(graph.edges) if graph.weights is None else graph.weights
            for w, weight in zip(graph.indices[row].tolist(), weights[row].tolist(), strict=True):
                votes[before[w]] += weight
            if votes:
                most = max(votes.values())
                labels[v] = min(label for label, count in votes.items() if count == most)
        changed = sum(old != new for old, new in zip(before, labels, strict=True))
        shares.append(changed / graph.vertices)
    return labels, shares


@pytest.fixture
def small_blocks(monkeypatch):
    """Cut the smallest graphs into blocks, so that threads share them."""
    monkeypatch.setattr(local, "row_blocks", partial(row_blocks, block_work=8))


def check(graph, **parameters):
    algorithm = LabelPropagation(**parameters)
    labels, shares = slow(graph, algorithm.threshold(graph.vertices), algorithm.max_iterations)
    for threads in (1, 2, 3):
        profile = LocalEngine(workers=3, threads=threads).run(algorithm, graph)
        assert profile.values.tolist() == labels
        assert profile.convergence.tolist() == shares
        assert profile.converged == (shares[-1] < algorithm.threshold(graph.vertices))
        sizes = Counter(labels).values()
        assert profile.result == {"communities": len(sizes), "largest": max(sizes)}
        steps = profile.per_iteration()
        sent = steps["local_messages"] + steps["remote_messages"]
        volume = steps["local_message_bytes"] + steps["remote_message_bytes"]
        assert sent.tolist() == [graph.edges] * len(shares)
        assert (volume == sent * (16 if graph.weights is None else 24)).all()
        assert steps["active_vertices"].tolist() == [graph.vertices] * len(shares)
    return profile


SMALL = UNDIRECTED | {
    "a pair with a loop": undirected((0, 1), (1, 1)),
    "even ring": check_graph("cycle:n=8", directed=False),
    "two cliques and a bridge": undirected(
        *((a, b) for a in range(5) for b in range(a)),
        *((a, b) for a in range(5, 10) for b in range(5, a)),
        (4, 5),
    ),
    "weights against numbers": undirected(
        (0, 1), (0, 2), (0, 3), (1, 2), (3, 4), weights=[1, 1, 2.5, 1, 1]
    ),
    "weights that cancel out": undirected((0, 1), (0, 2), (0, 3), weights=[-1, -2, -1]),
    "communities": check_graph("powerlaw-cluster:n=150,m=3,p=0.6,seed=1", directed=False),
}


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("name", SMALL)
def test_the_kernel_does_what_a_slow_program_does(name):
    check(SMALL[name], tau=0.01)


@pytest.mark.usefixtures("small_blocks")
@given(data=st.data(), n=st.integers(1, 30), weighted=st.booleans())
def test_on_random_graphs_too(data, n, weighted):
    vertex = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(vertex, vertex), max_size=80))
    few = st.sampled_from([0.5, 1.0, 1.5])  # so that ties are common
    weights = [data.draw(few) for _ in pairs] if weighted else None
    check(
        undirected(*pairs, n=n, weights=weights),
        tau=data.draw(st.sampled_from([1e-9, 0.05, 0.3])),
        max_iterations=data.draw(st.sampled_from([1, 2, 12])),
    )


@pytest.mark.parametrize("name", ["a pair, and one alone", "star", "even ring"])
def test_bipartite_graphs_swap_labels_until_the_limit(name):
    profile = LocalEngine().run(LabelPropagation(max_iterations=17), SMALL[name])
    assert profile.iterations == 17
    assert not profile.converged
    assert profile.convergence[-1] > 0.5


def test_a_kernel_tells_that_it_goes_to_and_fro():
    kernel = local.LabelPropagationKernel(LabelPropagation(), SMALL["path"])
    seen = [kernel.values.copy()]
    for _ in range(20):
        kernel.step()
        seen.append(kernel.values.copy())
        assert kernel.cycling == (len(seen) > 2 and np.array_equal(seen[-1], seen[-3]))
    assert kernel.cycling
    assert not np.array_equal(seen[-1], seen[-2])


def test_parameters():
    algorithm = check_algorithm("label-propagation")
    assert algorithm.to_dict() == {"tau": 0.05, "max_iterations": 50}
    with pytest.raises(RequestError, match=r"tau is 1\.5; accepted: a number greater than 0"):
        LabelPropagation(tau=1.5)


# Samples


@pytest.fixture(scope="module")
def shared():
    return check_graph("powerlaw-cluster:n=12000,m=4,p=0.5,seed=3", directed=False)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_labels_of_the_first_superstep_are_known_before_it(shared, weighted):
    graph = shared
    if weighted:
        rng = np.random.default_rng(2)
        rows = np.repeat(np.arange(graph.vertices), graph.out_degrees)
        graph = from_edges(
            rows, graph.indices, directed=False, weights=rng.integers(1, 4, graph.edges)
        )
    once = LocalEngine().run(LabelPropagation(), graph, max_iterations=1).values
    recipe = sampling.labels_recipe(LabelPropagation(), graph)
    sample = recipe.sampler.draw(500, np.random.default_rng(0))
    assert np.array_equal(recipe.inputs(sample), once[sample.vertices])


def test_a_sample_of_all_vertices_is_the_graph(shared):
    recipe = sampling.labels_recipe(LabelPropagation(), shared)
    sample = recipe.sampler.draw(shared.vertices, np.random.default_rng(0))
    assert np.array_equal(sample.graph.indices, shared.indices)
    kernel = local.LabelPropagationKernel(
        LabelPropagation(), sample.graph, None, recipe.inputs(sample)
    )
    nothing = np.zeros(0)
    kernel.stand_for(Weighting(sample.vertices, sample.weights, sample.degrees, nothing))
    truth = LocalEngine().run(LabelPropagation(tau=1e-9), shared, max_iterations=8)
    assert [kernel.step().convergence for _ in range(8)] == truth.convergence.tolist()
    assert np.array_equal(kernel.values, truth.values)


def test_a_run_that_converges_is_predicted_before_it(shared):
    found = predict("label-propagation", shared, parameters={"tau": 0.2}, method="rooted", seed=1)
    truth = LocalEngine().run(LabelPropagation(tau=0.2), shared)
    assert truth.converged
    assert found.iterations.low <= truth.iterations <= found.iterations.high
    assert abs(found.iterations.predicted - truth.iterations) <= 2
    sent = truth.features_total()["remote_message_bytes"] / truth.iterations
    predicted = found.features_total()["remote_message_bytes"] / found.iterations.predicted
    assert predicted == pytest.approx(sent, rel=0.01)


def test_a_run_that_oscillates_is_predicted_to_end_at_its_limit():
    # Hubs with leaves: two fifths of the vertices hear from one other vertex alone.
    stars = [(10 * hub, 10 * hub + leaf) for hub in range(1000) for leaf in range(1, 5)]
    rng = np.random.default_rng(4)
    others = rng.integers(0, 10_000, (15_000, 2))
    graph = undirected(*stars, *others[(others % 10 > 4).all(axis=1)].tolist(), n=10_000)
    found = predict(
        "label-propagation", graph, parameters={"max_iterations": 30}, method="rooted", seed=1
    )
    truth = LocalEngine().run(LabelPropagation(max_iterations=30), graph)
    assert not truth.converged
    assert found.iterations.predicted == found.iterations.low == 30
    assert any("oscillates" in warning for warning in found.warnings)
    assert any("stop at its limit of 30" in warning for warning in found.warnings)
