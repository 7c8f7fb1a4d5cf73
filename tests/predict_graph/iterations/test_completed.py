"""Completed samples, where their curves cross the threshold, and intervals of iterations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import PageRank, check_algorithm
from predict_graph.builtin.sampling import pagerank_curve
from predict_graph.engines import COUNTERS, SampleSummary, per_iteration
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.iterations import estimate
from predict_graph.iterations.completion import completed
from predict_graph.iterations.completion.estimator import choose_hubs
from predict_graph.iterations.completion.profiles import vertex_profiles
from predict_graph.iterations.method import LEAN
from predict_graph.iterations.whole_run import continued
from predict_graph.prediction.request import check_request
from predict_graph.prediction.sources import estimates_of
from predict_graph.table import Table
from tests.graphs import graphs


def completer(graph, hubs=()):
    return completed.Completer(graph, vertex_profiles(graph), np.array(hubs, np.int64))


@given(graph=graphs(), data=st.data(), seed=st.integers(0, 2**32))
def test_rank_is_conserved(graph, data, seed):
    hubs = data.draw(st.lists(st.integers(0, graph.vertices - 1), unique=True, max_size=4))
    size = data.draw(st.integers(1, graph.vertices))
    sample = next(completer(graph, hubs).draw_all(size, 1, np.random.default_rng(seed)))
    assert sample.vertices[: len(hubs)].tolist() == hubs
    assert (sample.weights[: len(hubs)] == 1.0).all()
    assert sample.weights.sum() == pytest.approx(graph.vertices)
    assert (sample.operator.data >= 0).all()
    # A unit of rank at each of the `weight` vertices: what leaves arrives.
    rank = np.random.default_rng(seed).random(len(sample.weights))
    kept = np.where(sample.dangling, 0.0, sample.weights)
    assert sample.weights @ (sample.operator @ rank) == pytest.approx(kept @ rank)


@pytest.mark.parametrize("dangling", ["uniform", "drop"])
def test_the_curve_of_the_whole_graph_is_that_of_the_engine(dangling):
    graph = check_graph("rmat:scale=9,edge_factor=4,seed=3")
    job = PageRank(epsilon=1e-3, dangling=dangling)
    sample = next(completer(graph).draw_all(graph.vertices, 1, np.random.default_rng(1)))
    curve = pagerank_curve(job, sample, job.threshold(graph.vertices))
    np.testing.assert_allclose(curve, LocalEngine(threads=1).run(job, graph).convergence, rtol=1e-3)


@pytest.mark.parametrize("ratio", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("budget", [0, 50, 10**9])
def test_hubs_obey_their_limits(ratio, budget):
    graph = check_graph("barabasi-albert:n=3000,m=4,seed=2")
    hubs = choose_hubs(graph, ratio, budget)
    assert len(np.unique(hubs)) == len(hubs) <= 0.03 * graph.vertices
    assert graph.subgraph(hubs).edges <= budget if len(hubs) else True
    degrees = graph.out_degrees
    assert (degrees[hubs] >= 10 / ratio).all()
    assert (np.diff(degrees[hubs]) <= 0).all()
    assert len(choose_hubs(check_graph("cycle:n=1000"), ratio, budget)) == 0
    if budget == 10**9 and ratio < 1.0:
        others = np.delete(degrees, hubs)
        assert others.max() < 10 / ratio or len(hubs) == int(0.03 * graph.vertices)


def estimate_by_samples(graph, seed=3):
    options = {"budget": "1m", "max_overhead": LEAN, "method": "completion", "seed": seed}
    (found,) = estimates_of(graph, check_request("pagerank", **options).chain)
    return found


def test_small_samples_need_one_pass_and_no_reverse_and_do_not_hang_on_it(monkeypatch):
    passes, found_in = [], completed.inbound_rows
    monkeypatch.setattr(
        completed, "inbound_rows", lambda graph, some: passes.append(some) or found_in(graph, some)
    )
    graph = check_graph("rmat:scale=12,edge_factor=8,seed=1")
    without = estimate_by_samples(graph)
    assert "reverse" not in vars(graph)
    assert len(passes) == 1
    assert without.low <= estimate_by_samples(graph, seed=5).iterations <= without.high
    _ = graph.reverse
    assert estimate_by_samples(graph.fresh()).curve.tolist() == without.curve.tolist()
    assert estimate_by_samples(graph).curve.tolist() == without.curve.tolist()


# Joining stubs.


CLASS = st.integers(0, 6)
PROFILES = st.builds(lambda a, b, c: a << 14 | b << 7 | c, CLASS, CLASS, st.integers(50, 64))


@given(stubs=st.lists(st.tuples(PROFILES, PROFILES), max_size=30), seed=st.integers(0, 2**32))
def test_stubs_that_have_a_perfect_partner_all_find_one(stubs, seed):
    # Every out-stub (owner, wanted) has an in-stub whose owner is the wanted one.
    pairs = np.array(stubs, dtype=np.int32).reshape(-1, 2)
    sources, targets = completed.match_one_way(pairs.T, pairs.T[::-1], np.random.default_rng(seed))
    assert len(sources) == len(pairs)
    np.testing.assert_array_equal(pairs[sources], pairs[targets])
    both = np.concatenate((pairs, pairs[:, ::-1]))
    first, second = completed.match_mutual(*both.T, np.random.default_rng(seed))
    assert len(first) == len(pairs)
    np.testing.assert_array_equal(both[first], both[second][:, ::-1])


CURVES = st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=30)


@given(curve=CURVES, threshold=st.floats(1e-12, 1.0))
def test_the_crossing_is_between_the_two_neighbours(curve, threshold):
    below = next((number for number, value in enumerate(curve, 1) if value < threshold), math.inf)
    assert max(below - 1, 1) <= estimate.crossing(curve, threshold) <= below


@given(
    centre=st.floats(0.5, 1e6) | st.just(math.inf),
    std=st.floats(0.0, 3.0),
    limit=st.integers(1, 10_000),
)
def test_the_interval_holds_the_iterations(centre, std, limit):
    iterations, low, high = estimate.iteration_interval(centre, std, limit)
    assert 1 <= low <= iterations <= high <= limit
    assert std > 0 or low == iterations == high


MESH = check_graph("grid:rows=60,columns=60")
CASES = [("connected-components", 119), ("neighborhood", 118), ("shortest-paths", 118)]


def started(name, done, std=3.0, samples=()):
    """A run on a mesh that was stopped, and its estimate beside other evidence.

    That has counters which no run of the mesh has.
    """
    job = check_algorithm(name)
    profile = LocalEngine().run(job, MESH, max_iterations=done)
    whole, low, high = estimate.iteration_interval(119.0, std, job.max_iterations)
    counters = Table(dict.fromkeys((*COUNTERS, "total_vertices"), np.full(200, 7.0)))
    other = estimate.IterationEstimate(
        "other", 119.0, whole, low, high, np.ones(whole), True, [*samples], counters=counters
    )
    return profile, continued(other, job, profile, MESH)


@pytest.mark.parametrize("done", [3, 10, 40])
@pytest.mark.parametrize(("name", "truth"), CASES)
def test_a_curve_that_hardly_falls_may_fall_at_any_time(name, truth, done):
    _, found = started(name, done)
    assert done < found.low <= truth <= found.high


def test_a_curve_that_hardly_falls_is_not_taken_as_sure():
    """The limit of iterations cuts off its interval; other evidence has the weight."""
    _, found = started("connected-components", 10, std=0.1)
    assert found.crossing < 150.0
    assert found.low < 119 < found.high < 500


def test_counters_of_what_was_counted_are_exact():
    sample = SampleSummary("other", 0.1, 9, 9, 9, 0.1, "iterations")
    profile, found = started("connected-components", 10, samples=[sample])
    _, alone = started("connected-components", 10)
    exact = per_iteration(profile.rows)
    for name in ("local_messages", "remote_messages"):
        for each in (found, alone):
            assert each.counters[name][:10] == pytest.approx(exact[name])
        assert (found.counters[name][10:] == 7.0).all()
        assert np.all(alone.counters[name] <= exact[name].max() * (1 + 1e-12))
