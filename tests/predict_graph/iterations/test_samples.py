"""Samples are drawn, induced, cut at a budget of edges, and run; overhead is budgeted in edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predict_graph.algorithms import PageRank
from predict_graph.engines.local import LocalEngine
from predict_graph.graph import check_graph
from predict_graph.iterations import (
    SAMPLERS,
    EdgeBudget,
    draw_sample,
    run_sample,
)
from predict_graph.transforms import scaled_threshold


@pytest.fixture(scope="module")
def graph():
    return check_graph("barabasi-albert:n=800,m=4,seed=1")


def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("name", SAMPLERS.names())
def test_the_subgraph_is_the_induced_one(graph, name):
    sample = draw_sample(graph, name, 0.25, rng())
    assert sample.graph.vertices == 200
    assert sample.ratio == 0.25
    whole = graph.to_scipy()
    expected = whole[sample.vertices][:, sample.vertices]
    assert (sample.graph.to_scipy() != expected).nnz == 0
    assert sample.graph.directed == graph.directed


@pytest.mark.parametrize("name", SAMPLERS.names())
@pytest.mark.parametrize("cap", [1, 40, 400])
def test_a_cut_sample_keeps_to_its_edges_and_says_so(graph, name, cap):
    sample = draw_sample(graph, name, 0.5, rng(), max_edges=cap)
    assert 1 <= sample.graph.vertices < 400
    assert sample.graph.edges <= cap
    assert sample.ratio == sample.graph.vertices / graph.vertices
    assert f"ended at {sample.graph.vertices} of 400 vertices" in sample.note


def test_a_cut_sample_is_as_long_as_its_edges_allow(graph):
    whole = draw_sample(graph, "rj", 0.5, rng())
    near = draw_sample(graph, "rj", 0.5, rng(), max_edges=whole.graph.edges)
    np.testing.assert_array_equal(whole.vertices, near.vertices)
    assert near.note == ""


def test_the_run_of_a_sample_is_the_run_of_its_graph(graph):
    job, engine = PageRank(epsilon=0.01), LocalEngine(threads=1)
    threshold = job.threshold(graph.vertices)
    sample = draw_sample(graph, "brj", 0.25, rng())
    run = run_sample(sample, job, engine, scaled_threshold, threshold, purpose="iterations")
    assert run.threshold == pytest.approx(job.threshold(sample.graph.vertices))
    assert run.summary.iterations == engine.run(job, sample.graph).iterations
    assert (run.summary.vertices, run.summary.edges) == (200, sample.graph.edges)
    assert run.summary.seconds >= sample.seconds


@given(edges=st.integers(1, 10**12), overhead=st.floats(1e-9, 5.0))
def test_the_shares_stay_within_the_total(edges, overhead):
    budget = EdgeBudget(edges, overhead)
    shares = (budget.for_completion, budget.for_costs, budget.for_counters)
    assert min(shares) >= 0
    assert sum(shares) <= budget.total
    assert budget.total <= max(overhead * edges, 1_200_000)


def test_a_lower_cap_is_obeyed_on_small_graphs_too():
    assert EdgeBudget(100_000, 0.1).total == 10_000
    assert EdgeBudget(100_000).total > 100_000
